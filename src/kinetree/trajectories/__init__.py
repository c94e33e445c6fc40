"""Recorded and made motions of a robot: reading, differentiating, making and writing them."""
