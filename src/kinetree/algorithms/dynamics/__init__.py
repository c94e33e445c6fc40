"""Forces and accelerations."""
