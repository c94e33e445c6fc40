"""The command line: ``kinetree info``, ``kinetree inverse-dynamics`` and ``kinetree export``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from kinetree.cli.parser import parse_arguments
from kinetree.errors import KinetreeError

FAILED = 1
INTERRUPTED = 130
BROKEN_PIPE = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    The code is 0, or 1 for an error in what was given (one line on standard error), 130 if interrupted, 141 if the
    reader of the output went away. Wrong usage leaves by `SystemExit` with 2, as argparse does.
    """
    arguments = parse_arguments(argv)
    try:
        import_module(arguments.module).run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # Python would complain once more when it flushes standard output at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except KinetreeError as error:
        return _fail(str(error), FAILED)
    except MemoryError:
        return _fail("out of memory: the motion is too long to be held at once", FAILED)
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error), FAILED)
    return 0


def _fail(message: str, code: int) -> int:
    print(f"kinetree: {message}", file=sys.stderr)
    return code
