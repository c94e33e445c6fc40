"""The seed of the random tests: another one for each commit, so that many runs try many cases."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def commit_seed() -> int:
    """Return the seed in ``KINETREE_TEST_SEED``, else one made of the commit that is tested; 0 where there is none."""
    if given := os.environ.get("KINETREE_TEST_SEED"):
        return int(given)
    here = Path(__file__).parent
    found = subprocess.run(["git", "rev-parse", "HEAD"], cwd=here, capture_output=True, text=True, check=False)
    return int(found.stdout[:8] or "0", 16)


SEED = commit_seed()
