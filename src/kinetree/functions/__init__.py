"""Functions of a robot: where the model wing and the compiler wing meet."""
