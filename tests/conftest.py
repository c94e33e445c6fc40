"""Settings for all tests."""

from __future__ import annotations

import os
import tempfile

from hypothesis import HealthCheck, settings

# No test may depend on what an earlier run left on disk. Set before kinetree is imported; workers inherit it.
os.environ.setdefault("KINETREE_CACHE_DIR", tempfile.mkdtemp(prefix="kinetree-tests-"))

# A shared runner can be slow at any moment: time is no reason to fail a property.
settings.register_profile(
    "kinetree", deadline=None, max_examples=50, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("kinetree")
