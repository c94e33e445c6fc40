"""The exit codes and messages that all commands share."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence

from kinetree.cli.interrupts import INTERRUPTED, pressed, tidily
from kinetree.cli.parser import parse_arguments
from kinetree.errors import KinetreeError

FAILED = 1
BROKEN_PIPE = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    The code is 0, or 1 for an error in what was given (one line on standard error), 130 if interrupted, 141 if the
    reader of the output went away. Wrong usage leaves by `SystemExit` with 2, as argparse does.
    """
    run, arguments = parse_arguments(sys.argv[1:] if argv is None else argv)
    try:
        with warnings.catch_warnings(), tidily():
            warnings.showwarning = lambda message, *_: print(f"kinetree: warning: {message}", file=sys.stderr)
            run(arguments)
        sys.stdout.flush()
    except BaseException as error:
        if pressed():
            return _fail("interrupted", INTERRUPTED)
        return _failed(error)
    return 0


def _failed(error: BaseException) -> int:
    """Return the exit code for what has gone wrong, with a line about it; raise what nobody expects."""
    match error:
        case KeyboardInterrupt():
            return _fail("interrupted", INTERRUPTED)
        case BrokenPipeError():
            # Python would complain once more when it flushes standard output at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return BROKEN_PIPE
        case KinetreeError():
            return _fail(str(error), FAILED)
        case MemoryError():
            return _fail("out of memory: the motion is too long to be held at once", FAILED)
        case OSError():
            return _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error), FAILED)
    raise error


def _fail(message: str, code: int) -> int:
    print(f"kinetree: {message}", file=sys.stderr)
    return code
