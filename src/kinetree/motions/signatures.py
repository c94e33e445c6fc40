"""What type checkers know of a trajectory's methods of rooms above: the stub that `tools/make_signatures.py` makes."""

PicturesAndFiles = object
