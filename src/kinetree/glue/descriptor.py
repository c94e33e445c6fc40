"""What the call glue reads of a function: words in memory, addresses among them.

A function has a record, and points to records of its ports and of its variants. Offsets are in bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinetree.graph import Port
from kinetree.validation import Range

Array = np.ndarray[Any, Any]

MOST_PORTS = 64  # inputs or outputs; a function with more has no glue
MOST_CONVERTED = 16384  # bytes of arguments that may be converted on the stack

INPUTS, OPTIONS, ALWAYS = 0, 8, 16  # how many; of inputs, those that a kernel always has: the first ones
LEAST, MOST = 24, 32  # how many arguments there are in calls of inputs in their order, with no other but by keyword
POSITIONAL, POSITIONS = 40, 48  # how many arguments may be given by position, and the address of their places in NAMES
NAMES = 56  # the address of the addresses of the names: of inputs, of options, and "out"
PORTS = 64  # the address of the records of inputs
CHOICES = 72  # the address of the records of options
VARIANTS, VARIANT = 80, 88  # how many, and the address of their records
PLAIN = 96  # the address of the variant without keywords, for float64; 0 if there is none
CONVERTED = 104  # bytes that the inputs need as float64, 0 for too many
DEFAULT_KEY = 112  # of the variant with default options, for float64; no variant's where an option has no default
CHECKED = 120  # whether there are numbers that inputs which a kernel always has may not hold

# The axes, their lengths' address, how many entries; the address of the default in float64 and in float32, 0 for none;
# whether it is of flags; whether there are numbers that it may not hold, and the least and the largest that it may
PORT_ND, PORT_DIMS, PORT_SIZE, PORT_WIDE, PORT_NARROW, PORT_FLAGS = 0, 8, 16, 24, 32, 40
PORT_CHECKED, PORT_LEAST, PORT_MOST, PORT_RECORD = 48, 56, 64, 72
# A dict from values to codes; how many objects are known by their addresses, each followed by its code; the default's
CHOICE_KNOWN, CHOICE_SEEN, CHOICE_DEFAULT, CHOICE_RECORD = 0, 8, 16, 24
VARIANT_KEY, VARIANT_SINGLE, VARIANT_BATCH, VARIANT_SCRATCH, VARIANT_LIMITS = 0, 8, 16, 24, 32
OUTPUTS, RESULT, OUTPUT_PORTS, VARIANT_RECORD = 40, 48, 56, 64  # how many, the type of several, the records' address
KEEPS_GIL, MOST_STATES = 0, 8  # in the limits: states of a batch that is short; of one that the glue takes at all

# The key of a variant: 1 for float32, which optional inputs are given, and from OPTION_SHIFT on a code for each option
OPTIONAL_SHIFT, OPTION_SHIFT, OPTION_BITS = 1, 16, 11
MOST_OPTIONAL, MOST_OPTIONS, MOST_CODES = OPTION_SHIFT - OPTIONAL_SHIFT, 4, (1 << OPTION_BITS) - 1


class Choice(NamedTuple):
    """An option: the codes of the values that are known, and the default's, -1 where it must be given.

    `seen` is memory for how many objects are known by their addresses, and for each its address and code.
    """

    known: Mapping[object, int]
    seen: Array
    default: int


class Entry(NamedTuple):
    """A variant: the addresses of what runs one state (0: nothing), and many; the latter's scratch and limits.

    `outputs` and `result` are its results, and the type of several.
    """

    key: int
    single: int
    batch: int
    scratch: int
    limits: int
    outputs: Sequence[Port]
    result: type | None


class Inputs(NamedTuple):
    """The inputs of a function: first those that a call must give, then those with a default, then optional ones.

    `defaults` are arrays of float64 and of float32; `positions` the places, among the names of inputs and options, of
    what may be given by position. `ranges` are the numbers that some may hold; those of flags do not decide between
    float32 and float64.
    """

    ports: Sequence[Port]
    required: int
    defaults: Sequence[tuple[Array, Array]]
    positions: Sequence[int]
    ranges: Mapping[str, Range] = {}

    @property
    def always(self) -> int:
        """How many a kernel always has."""
        return self.required + len(self.defaults)

    @property
    def in_order(self) -> int:
        """How many of these may be given in their order, before anything else: whatever numbers they are."""
        matching = [
            k == position and not self.words(self.ports[k].name)[0]
            for k, position in enumerate(self.positions[: self.always])
        ]
        return [*matching, False].index(False)

    @property
    def checked(self) -> bool:
        """Whether there are numbers that the first ones may not hold."""
        return any(port.name in self.ranges for port in self.ports[: self.always])

    def words(self, name: str) -> tuple[int, int, int, int]:
        """Return whether an input is of flags, whether it is checked, and what it may hold, as the bits of floats."""
        if name not in self.ranges:
            return 0, 0, 0, 0
        least, most, _, flags = self.ranges[name]
        low, high = np.array([least, most]).view(np.int64).tolist()
        return int(flags), 1, low, high


def is_describable(inputs: Sequence[Port], optional: int, options: int) -> bool:
    """Return whether a function of so many optional inputs and options fits the records."""
    return len(inputs) <= MOST_PORTS and optional <= MOST_OPTIONAL and options <= MOST_OPTIONS


def address(array: Array) -> int:
    """Return the address of an array's first entry; it imports nothing, as `numpy.ndarray.ctypes` does."""
    return int(array.__array_interface__["data"][0])


def key(narrow: bool, optional: Sequence[int], codes: Sequence[int]) -> int:
    """Return the key of a variant; a code of -1, below all others, makes a key that no variant has."""
    given = sum(1 << k for k in optional)
    chosen = sum(code << (OPTION_SHIFT + OPTION_BITS * j) for j, code in enumerate(codes))
    return int(narrow) + (given << OPTIONAL_SHIFT) + chosen


def describe(inputs: Inputs, names: Sequence[str], choices: Sequence[Choice], entries: Sequence[Entry]) -> Array:
    """Return the record of a function, with all that it points to but objects and code: keep these alive.

    The names are interned: of inputs, of options, and "out".
    """
    ports = [*inputs.ports, *(port for entry in entries for port in entry.outputs)]
    dims = [n for port in ports for n in port.shape]
    sizes = (
        16,
        PORT_RECORD // 8 * len(ports),
        len(dims),
        len(names),
        len(inputs.positions),
        3 * len(choices),
        8 * len(entries),
    )
    words = np.zeros(sum(sizes), np.int64)
    starts = [address(words) + 8 * sum(sizes[:k]) for k in range(len(sizes))]
    _, ports_at, dims_at, names_at, positions_at, choices_at, entries_at = starts
    plain_key = key(False, (), [choice.default for choice in choices])
    plain = [entries_at + VARIANT_RECORD * k for k, entry in enumerate(entries) if entry.key == plain_key]
    converted = 8 * sum(port.size for port in inputs.ports)
    least = inputs.required if inputs.in_order >= inputs.required else MOST_PORTS + 1
    head = [
        *(len(inputs.ports), len(choices), inputs.always, least, inputs.in_order),
        *(len(inputs.positions), positions_at, names_at, ports_at, choices_at),
        *(len(entries), entries_at, *(plain or [0])),
        *(converted if converted <= MOST_CONVERTED else 0, plain_key),
        int(inputs.checked),
    ]
    places = [(0, 0)] * inputs.required + [(address(wide), address(narrow)) for wide, narrow in inputs.defaults]
    places += [(0, 0)] * (len(ports) - len(places))
    port_words, entry_words = [], []
    checks = [inputs.words(port.name) for port in inputs.ports]
    checks += [(0, 0, 0, 0)] * (len(ports) - len(checks))
    for port, default, own in zip(ports, places, checks, strict=True):
        port_words += [len(port.shape), dims_at, port.size, *default, *own]
        dims_at += 8 * len(port.shape)
    outputs_at = ports_at + PORT_RECORD * len(inputs.ports)
    for entry in entries:
        entry_words += [*entry[:5], len(entry.outputs), id(entry.result), outputs_at]
        outputs_at += PORT_RECORD * len(entry.outputs)
    words[:] = [
        *(*head, *port_words, *dims, *map(id, names), *inputs.positions),
        *(word for choice in choices for word in (id(choice.known), address(choice.seen), choice.default)),
        *entry_words,
    ]
    return words
