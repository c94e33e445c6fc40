"""The symbols of mechanics with their shapes, units and frames, and the documentation that is made of them."""
