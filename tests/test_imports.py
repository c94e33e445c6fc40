"""Modules are imported without the lock of imports at first use: two threads would wait for each other."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import importlib, pkgutil, threading
import kinetree
from kinetree import locks

taken = []

class Spy:
    lock = threading.RLock()

    def __enter__(self):
        taken.append(name)
        return self.lock.__enter__()

    def __exit__(self, *error):
        self.lock.__exit__(*error)

locks.importing = Spy()
names = [module.name for module in pkgutil.walk_packages(kinetree.__path__, "kinetree.")]
for name in names:
    if not name.endswith("__main__"):
        importlib.import_module(name)
print(len(names) > 100, taken)
"""


def test_no_module_body_takes_the_lock_of_imports_at_first_use() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout == "True []\n"
