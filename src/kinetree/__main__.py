"""The program ``kinetree``, and ``python -m kinetree``."""

import os
import sys

from kinetree.cli.interrupts import INTERRUPTED, quietly


def run() -> None:
    """Run the command line, and end with its exit code."""
    quietly()
    from kinetree.cli.program import main

    code = main()
    if code == INTERRUPTED:  # Python would end by the signal where it has seen the interrupt pass through an `exec`
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    run()
