"""MJCF, as MuJoCo's own compiler understands it."""
