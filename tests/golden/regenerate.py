"""Write the digests anew, and print which of them changed: ``python tests/golden/regenerate.py``."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from helpers.golden import regenerate

    regenerate()
