"""``python -m kinetree``."""

import sys

from kinetree.cli import main

if __name__ == "__main__":
    sys.exit(main())
