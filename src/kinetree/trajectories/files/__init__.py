"""Reading and writing files of trajectories."""
