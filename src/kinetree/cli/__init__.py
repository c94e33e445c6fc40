"""The command line: ``kinetree info``, ``inverse-dynamics``, ``simulate`` and so on, one module each in `commands`."""

from __future__ import annotations

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; see `kinetree.cli.program`."""
    from kinetree.cli.program import main

    return main(argv)
