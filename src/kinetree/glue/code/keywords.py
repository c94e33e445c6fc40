"""Which argument is which, and which variant a call means."""

from __future__ import annotations

from kinetree.glue import descriptor as d
from kinetree.glue import machine as m
from kinetree.glue.machine import set_word, word

UNKNOWN = -1  # no variant has this key


def assign(function: int, args: int, nargs: int, kwnames: int, slots: int) -> int:
    """Write the arguments into one slot for each name (0 where none is given); return 1, 0 for a wrong call."""
    inputs = word(function + d.INPUTS)
    names = word(function + d.NAMES)
    total = inputs + word(function + d.OPTIONS) + 1
    if nargs > word(function + d.POSITIONAL):
        return 0
    for k in range(total):
        set_word(slots + 8 * k, 0)
    positions = word(function + d.POSITIONS)
    for k in range(nargs):
        set_word(slots + 8 * word(positions + 8 * k), word(args + 8 * k))
    if kwnames != 0:
        for k in range(word(kwnames + m.LENGTH)):
            j = find(word(kwnames + m.ITEMS + 8 * k), names, total)
            if j < 0 or word(slots + 8 * j) != 0:
                return 0
            set_word(slots + 8 * j, word(args + 8 * (nargs + k)))
    return 1


def find(name: int, names: int, total: int) -> int:
    """Return which of these names this one is, -1 for none."""
    for k in range(total):
        if word(names + 8 * k) == name:
            return k
    for k in range(total):
        if m.PyUnicode_Compare(name, word(names + 8 * k)) == 0:
            return k
    return -1


@m.inlined
def in_order(function: int, nargs: int, kwnames: int) -> int:
    """Return how many inputs come in their order, before all else: by position, then by names known by address."""
    given = nargs
    end = nargs + word(kwnames + m.LENGTH)
    if end > word(function + d.ALWAYS):
        end = word(function + d.ALWAYS)
    names = word(function + d.NAMES)
    expected = kwnames + m.ITEMS - 8 * nargs
    while given < end and word(expected + 8 * given) == word(names + 8 * given):
        given = given + 1
    return given


@m.inlined
def quick_key(function: int, kwnames: int, first: int, values: int, given_out: int) -> int:
    """Return the key of the variant that the keywords from this one on mean, else UNKNOWN.

    Names and values are known by their addresses. What is given as out is written to `given_out`; there may be nothing
    but options beside it.
    """
    options = word(function + d.OPTIONS)
    names = word(function + d.NAMES) + 8 * word(function + d.INPUTS)
    key = word(function + d.DEFAULT_KEY)
    i = first
    while i < word(kwnames + m.LENGTH):
        name = word(kwnames + m.ITEMS + 8 * i)
        value = word(values + 8 * i)
        i = i + 1
        if name == word(names + 8 * options):
            set_word(given_out, 0 if value == m.NONE else value)
        else:
            k = 0
            while k < options and word(names + 8 * k) != name:
                k = k + 1
            if k == options:
                return UNKNOWN
            choice = word(function + d.CHOICES) + k * d.CHOICE_RECORD
            code = seen(word(choice + d.CHOICE_SEEN), value)
            if code < 0:
                return UNKNOWN
            key = key + (code - word(choice + d.CHOICE_DEFAULT) << d.OPTION_SHIFT + d.OPTION_BITS * k)
    return key


def options_key(function: int, slots: int) -> int:
    """Return the part of the variant's key that the options make, -1 where a value is not known."""
    key = 0
    values = slots + 8 * word(function + d.INPUTS)
    choices = word(function + d.CHOICES)
    for k in range(word(function + d.OPTIONS)):
        value = word(values + 8 * k)
        choice = choices + k * d.CHOICE_RECORD
        code = word(choice + d.CHOICE_DEFAULT)
        if value != 0:
            code = code_of(word(choice + d.CHOICE_KNOWN), word(choice + d.CHOICE_SEEN), value)
        if code < 0:
            return -1
        key = key | code << d.OPTION_SHIFT + d.OPTION_BITS * k
    return key


@m.inlined
def seen(table: int, value: int) -> int:
    """Return the code of an object in a table of objects and their codes, -1 if it is not there."""
    for k in range(word(table)):
        if word(table + 16 * k + 8) == value:
            return word(table + 16 * k + 16)
    return -1


def code_of(known: int, objects: int, value: int) -> int:
    """Return the code of an option's value, -1 if it is not known: by value of strings, integers, None and names."""
    kind = word(value + m.TYPE)
    hit = 0
    simple = 1 if kind == m.STR or kind == m.INT or value == m.NONE else 0
    if simple or (kind == m.TUPLE and are_strings(value + m.ITEMS, word(value + m.LENGTH))):
        hit = m.PyDict_GetItemWithError(known, value)
    elif kind == m.LIST and are_strings(word(value + m.LIST_ITEMS), word(value + m.LENGTH)):
        values = m.PyList_AsTuple(value)
        if values != 0:
            hit = m.PyDict_GetItemWithError(known, values)
            m.Py_DecRef(values)
    else:
        return seen(objects, value)
    if hit == 0:
        if m.PyErr_Occurred() != 0:
            m.PyErr_Clear()
        return -1
    return m.PyLong_AsLongLong(hit)


def are_strings(items: int, n: int) -> int:
    """Return 1 if all of these objects are strings, 0 otherwise."""
    for k in range(n):
        if word(word(items + 8 * k) + m.TYPE) != m.STR:
            return 0
    return 1


@m.inlined
def find_variant(function: int, key: int) -> int:
    """Return the record of the variant with this key, 0 if there is none."""
    record = word(function + d.VARIANT)
    for _ in range(word(function + d.VARIANTS)):
        if word(record + d.VARIANT_KEY) == key:
            return record
        record = record + d.VARIANT_RECORD
    return 0
