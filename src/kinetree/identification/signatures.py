"""What type checkers know of a fit's methods of modules above: the stub that `tools/make_signatures.py` makes."""

ReportAndValidation = object
