"""What the call glue reads of a function: words in memory, addresses among them.

A function has a record, and points to records of its ports and of its variants. Offsets are in bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinetree.graph import Port

Array = np.ndarray[Any, Any]

MOST_PORTS = 64  # inputs or outputs; a function with more has no glue
MOST_CONVERTED = 16384  # bytes of arguments that may be converted on the stack

INPUTS, REQUIRED, OUTPUTS, OPTIONS = 0, 8, 16, 24  # how many
RESULT = 32  # the type of several results
PORTS = 40  # the address of the records of inputs, and after them of outputs
NAMES = 48  # the address of the addresses of the names: of inputs, of options, and "out"
CHOICES = 56  # the address of the records of options
VARIANTS, VARIANT = 64, 72  # how many, and the address of their records
PLAIN = 80  # the address of the variant without keywords, for float64; 0 if there is none
CONVERTED = 88  # bytes that the inputs need as float64, 0 for too many
DEFAULT_KEY = 96  # of the variant with default options, for float64; no variant's where an option has no default

PORT_ND, PORT_DIMS, PORT_SIZE, PORT_RECORD = 0, 8, 16, 24  # the axes, their lengths' address, how many entries
# A dict from values to codes; how many objects are known by their addresses, each followed by its code; the default's
CHOICE_KNOWN, CHOICE_SEEN, CHOICE_DEFAULT, CHOICE_RECORD = 0, 8, 16, 24
VARIANT_KEY, VARIANT_SINGLE, VARIANT_BATCH, VARIANT_SCRATCH, VARIANT_LIMITS, VARIANT_RECORD = 0, 8, 16, 24, 32, 40
KEEPS_GIL, MOST_STATES = 0, 8  # in the limits: states of a batch that is short; of one that the glue takes at all

# The key of a variant: 1 for float32, which optional inputs are given, and from OPTION_SHIFT on a code for each option
OPTIONAL_SHIFT, OPTION_SHIFT, OPTION_BITS = 1, 16, 12
MOST_OPTIONAL, MOST_OPTIONS, MOST_CODES = OPTION_SHIFT - OPTIONAL_SHIFT, 3, (1 << OPTION_BITS) - 1


class Choice(NamedTuple):
    """An option: the codes of the values that are known, and the default's, -1 where it must be given.

    `seen` is memory for how many objects are known by their addresses, and for each its address and code.
    """

    known: Mapping[object, int]
    seen: Array
    default: int


class Entry(NamedTuple):
    """A variant: the addresses of what runs one state (0: nothing), and many; the latter's scratch and limits."""

    key: int
    single: int
    batch: int
    scratch: int
    limits: int


def is_describable(inputs: Sequence[Port], optional: int, outputs: Sequence[Port], options: int) -> bool:
    """Return whether a function of so many optional inputs and options fits the records."""
    ports = max(len(inputs), len(outputs))
    return ports <= MOST_PORTS and optional <= MOST_OPTIONAL and options <= MOST_OPTIONS


def address(array: Array) -> int:
    """Return the address of an array's first entry; it imports nothing, as `numpy.ndarray.ctypes` does."""
    return int(array.__array_interface__["data"][0])


def key(narrow: bool, optional: Sequence[int], codes: Sequence[int]) -> int:
    """Return the key of a variant: whether it is float32, which optional inputs are given, the codes of its options.

    A code of -1, below all others, makes a key that no variant has.
    """
    given = sum(1 << k for k in optional)
    chosen = sum(code << (OPTION_SHIFT + OPTION_BITS * j) for j, code in enumerate(codes))
    return int(narrow) + (given << OPTIONAL_SHIFT) + chosen


def describe(
    inputs: Sequence[Port],
    required: int,
    outputs: Sequence[Port],
    names: Sequence[str],
    result: type | None,
    choices: Sequence[Choice],
    entries: Sequence[Entry],
) -> Array:
    """Return the record of a function, with all that it points to but objects and code: keep these alive.

    The names are interned: of inputs, of options, and "out". The required inputs are the first.
    """
    ports = (*inputs, *outputs)
    dims = [n for port in ports for n in port.shape]
    sizes = (13, 3 * len(ports), len(dims), len(names), 3 * len(choices), 5 * len(entries))
    words = np.zeros(sum(sizes), np.int64)
    starts = [address(words) + 8 * sum(sizes[:k]) for k in range(len(sizes))]
    _, ports_at, dims_at, names_at, choices_at, entries_at = starts
    plain_key = key(False, (), [choice.default for choice in choices])
    plain = [entries_at + VARIANT_RECORD * k for k, entry in enumerate(entries) if entry.key == plain_key]
    converted = 8 * sum(port.size for port in inputs)
    head = [
        *(len(inputs), required, len(outputs), len(choices), id(result), ports_at, names_at, choices_at),
        *(len(entries), entries_at, *(plain or [0])),
        *(converted if converted <= MOST_CONVERTED else 0, plain_key),
    ]
    port_words = []
    for k, port in enumerate(ports):
        port_words += [len(port.shape), dims_at + 8 * sum(len(p.shape) for p in ports[:k]), port.size]
    words[:] = [
        *(*head, *port_words, *dims, *map(id, names)),
        *(word for choice in choices for word in (id(choice.known), address(choice.seen), choice.default)),
        *(word for entry in entries for word in entry),
    ]
    return words
