"""MJCF, MuJoCo's format."""
