"""Physically consistent bodies: inertial parameters that some distribution of mass has."""
