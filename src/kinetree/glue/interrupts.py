"""Words by which compiled loops learn that they are to stop: threads by their identifiers, 0 for none.

A loop that may take long looks at them from time to time (`kinetree.backends.llvm.polls`).
"""

from __future__ import annotations

import ctypes
import threading

running = ctypes.c_uint64(0)
"""The thread whose call from Python runs native code with the GIL held: its loops handle signals themselves."""

stopped = ctypes.c_uint64(0)
"""The thread whose loops end at once: what they have computed is nothing."""


def is_stopped() -> bool:
    """Return whether the loops of this thread are being ended."""
    return stopped.value == threading.get_ident()
