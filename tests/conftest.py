"""Settings for all tests, and what several folders use."""

from __future__ import annotations

import gc
import os
import signal
import tempfile

import pytest
from hypothesis import HealthCheck, settings

from helpers.sampling import ALL, SEED

# No test may depend on what an earlier run left on disk. Set before kinetree is imported; workers inherit it.
os.environ.setdefault("KINETREE_CACHE_DIR", tempfile.mkdtemp(prefix="kinetree-tests-"))

collect_ignore = ["typing"]  # scripts for type checkers, see test_typing.py

# What runs in the background of a shell ignores Ctrl-C, and so would the programs that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A shared runner can be slow at any moment: time is no reason to fail a property.
settings.register_profile(
    "kinetree", deadline=None, max_examples=50, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("kinetree")


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Print the seed of the samples: pytest's own header is not shown with -q."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and not hasattr(session.config, "workerinput"):
        reporter.write_line(f"samples: KINETREE_TEST_SEED={SEED}{', all cases (KINETREE_TEST_ALL)' if ALL else ''}")


def pytest_collection_finish() -> None:
    """Leave all that was imported and collected out of the garbage collector's rounds: it stays to the end."""
    gc.collect()
    gc.freeze()
