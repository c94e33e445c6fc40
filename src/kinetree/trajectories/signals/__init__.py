"""Signals in time: derivatives, and motions to try a robot with."""
