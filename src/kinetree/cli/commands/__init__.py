"""What commands do: one module each, which is imported if it is run. Its function `run` prints what comes out."""
