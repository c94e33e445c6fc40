"""Where bodies and frames are, and how they move."""
