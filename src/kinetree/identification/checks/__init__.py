"""Plausibility checks: what is wrong with a log, or missing from its model, before and after the estimate."""
