"""Serial chains from tables: Denavit–Hartenberg parameters and screw axes."""
