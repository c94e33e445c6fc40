"""What type checkers know of compiled functions: they read the stub, which `tools/make_signatures.py` makes."""

RobotFunctions = MechanismFunctions = object
