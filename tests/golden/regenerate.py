"""Write the digests anew, and print which of them changed: ``python tests/golden/regenerate.py``.

With ``shown`` what people see is written anew.
"""

import sys
import tempfile
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]
    if "shown" in sys.argv:
        import test_shown

        with tempfile.TemporaryDirectory() as folder:
            test_shown.regenerate(Path(folder))
    else:
        from helpers.golden import regenerate

        regenerate()
