"""The stubs of kinetree, made before it is packed or installed: the build calls this (see pyproject.toml)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class SignaturesHook(BuildHookInterface[Any]):
    """Runs `tools/make_signatures.py`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the stubs, which wheels have although git ignores them."""
        subprocess.run([sys.executable, str(Path(self.root) / "tools" / "make_signatures.py")], check=True)
