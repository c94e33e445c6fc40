"""Energy, momentum and the centre of mass."""
