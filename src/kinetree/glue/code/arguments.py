"""Arguments to memory that a kernel reads: where they lie, or converted."""

from __future__ import annotations

from kinetree.glue import descriptor as d
from kinetree.glue import machine as m
from kinetree.glue.machine import int32, set_word, word

PLAIN = m.CONTIGUOUS | m.ALIGNED


@m.inlined
def plain(x: int, port: int) -> int:
    """Return the data of an array that is one state of a port in float64, 0 for any other."""
    nd = word(port + d.PORT_ND)
    if word(x + m.DESCR) != m.DESCR64 or int32(x + m.ND) != nd or int32(x + m.FLAGS) & PLAIN != PLAIN:
        return 0
    dims = word(x + m.DIMS)
    wanted = word(port + d.PORT_DIMS)
    for k in range(nd):
        if word(dims + 8 * k) != word(wanted + 8 * k):
            return 0
    return word(x + m.DATA)


@m.inlined
def is_narrow(x: int) -> int:
    """Return 1 for an array or a scalar of float32, 0 for anything else."""
    kind = word(x + m.TYPE)
    if kind == m.NDARRAY:
        return 1 if int32(word(x + m.DESCR) + m.TYPE_NUMBER) == m.SINGLE else 0
    return 1 if kind == m.SCALAR32 else 0


@m.inlined
def is_native(descr: int) -> int:
    """Return 1 if numbers of this dtype are in this processor's byte order, however it is spelled, 0 otherwise."""
    return 0 if m.bytes1(descr + m.BYTEORDER) == m.FOREIGN else 1


@m.inlined
def has_shape(dims: int, port: int) -> int:
    """Return 1 if these are the dimensions of a port, 0 otherwise."""
    wanted = word(port + d.PORT_DIMS)
    for k in range(word(port + d.PORT_ND)):
        if word(dims + 8 * k) != word(wanted + 8 * k):
            return 0
    return 1


@m.inlined
def is_row_major(dims: int, strides: int, nd: int, item: int) -> int:
    """Return 1 if entries of these dimensions are contiguous, 0 otherwise."""
    size = item
    for j in range(nd):
        k = 8 * (nd - 1 - j)
        if word(dims + k) != 1 and word(strides + k) != size:
            return 0
        size = size * word(dims + k)
    return 1


def argument(x: int, port: int, item: int, place: int, stride: int, lead: int) -> int:
    """Return the data of an argument for a port, for numbers of so many bytes; 0 where it is not taken.

    `place` is for what must be converted (0: nothing may); `stride` and `lead` get the bytes to the next state, and n.
    """
    kind = word(x + m.TYPE)
    if kind == m.NDARRAY:
        return array(x, port, item, place, stride, lead)
    if place == 0:
        return 0
    if kind == m.LIST or kind == m.TUPLE:
        nd = word(port + d.PORT_ND)
        if nd == 0 or sequence(x, place, nd, word(port + d.PORT_DIMS)) == 0:
            return 0
        return place
    if word(port + d.PORT_ND) != 0:
        return 0
    if kind == m.SCALAR32:
        if item == 4:
            return x + m.VALUE
        m.set_real(place, m.real32(x + m.VALUE))
        return place
    return place if number(x, place) else 0


def array(x: int, port: int, item: int, place: int, stride: int, lead: int) -> int:
    """Return the data of an array for a port (see `argument`)."""
    nd = word(port + d.PORT_ND)
    more = int32(x + m.ND) - nd
    dims = word(x + m.DIMS)
    strides = word(x + m.DIMS + 8)
    if more < 0 or more > 1 or has_shape(dims + 8 * more, port) == 0:
        return 0
    descr = word(x + m.DESCR)
    type_number = int32(descr + m.TYPE_NUMBER)
    flags = int32(x + m.FLAGS)
    data = word(x + m.DATA)
    as_it_is = 0
    if type_number == (m.SINGLE if item == 4 else m.DOUBLE) and is_native(descr) and flags & m.ALIGNED:
        as_it_is = is_row_major(dims + 8 * more, strides + 8 * more, nd, item)
    if more == 1:
        n = word(dims)
        known = word(lead)
        if n == 0 or (known != 0 and known != n) or as_it_is == 0:
            return 0
        set_word(lead, n)
        set_word(stride, word(strides))
        return data
    if as_it_is:
        return data
    if place == 0 or type_number < m.FIRST_NUMBER or type_number > m.DOUBLE:
        return 0
    if type_number < m.SINGLE and type_number & 1 and m.NUMBER_SIZES >> 2 * type_number & 3 == 3:
        type_number = m.LONG_LONG  # one name of several
    convert(data, place, nd, dims, strides, type_number, is_native(descr), item)
    return place


def is_allowed(data: int, port: int, item: int, stride: int, n: int) -> int:
    """Return 1 if an argument, of one state or of n that lie so many bytes apart, holds no number that it may not."""
    if n == 0 or stride == 0:
        n = 1
    least = m.real(port + d.PORT_LEAST)
    most = m.real(port + d.PORT_MOST)
    for _ in range(n):
        for k in range(word(port + d.PORT_SIZE)):
            x = m.real32(data + 4 * k) if item == 4 else m.real(data + 8 * k)
            if (1 if x >= least and x <= most else 0) == 0:  # NaN too
                return 0
            if word(port + d.PORT_FLAGS) and x != 0.0 and x != 1.0:
                return 0
        data = data + stride
    return 1


def convert(data: int, place: int, nd: int, dims: int, strides: int, type_number: int, native: int, item: int) -> int:
    """Write the entries of an array as numbers of so many bytes, and return the address after them."""
    if nd == 0:
        return row(data, place, 1, 0, type_number, native, item)
    n = word(dims)
    step = word(strides)
    if nd == 1:
        return row(data, place, n, step, type_number, native, item)
    for k in range(n):
        place = convert(data + k * step, place, nd - 1, dims + 8, strides + 8, type_number, native, item)
    return place


def row(data: int, place: int, n: int, step: int, type_number: int, native: int, item: int) -> int:
    """Write n entries, so many bytes apart (see `convert`)."""
    if item == 4:
        for _ in range(n):
            m.set_real32(place, entry(data, m.SINGLE, native))
            data = data + step
            place = place + 4
        return place
    if type_number == m.DOUBLE and native:
        for k in range(n):
            set_word(place + 8 * k, word(data + k * step))
    elif type_number == m.LONG_LONG and native:
        for k in range(n):
            m.set_real(place + 8 * k, m.from_signed(word(data + k * step)))
    else:
        for k in range(n):
            m.set_real(place + 8 * k, entry(data + k * step, type_number, native))
    return place + 8 * n


@m.inlined
def entry(data: int, type_number: int, native: int) -> float:
    """Return the number of this type at this address."""
    log_size = m.NUMBER_SIZES >> 2 * type_number & 3
    if log_size == 3:
        raw = word(data)
    elif log_size == 2:
        raw = m.bytes4(data)
    elif log_size == 1:
        raw = m.bytes2(data)
    else:
        raw = m.bytes1(data)
    unused = 64 - (8 << log_size)
    if native == 0:
        raw = m.unsigned_shift(m.swapped(raw), unused)
    if type_number == m.DOUBLE:
        return m.as_real(raw)
    if type_number == m.SINGLE:
        return m.as_real32(raw)
    if type_number & 1:
        return m.from_signed(raw << unused >> unused)
    return m.from_unsigned(raw)


def sequence(x: int, place: int, nd: int, dims: int) -> int:
    """Write the numbers of a list or tuple of these dimensions, and return the address after them, 0 if it is none."""
    kind = word(x + m.TYPE)
    if kind == m.LIST:
        items = word(x + m.LIST_ITEMS)
    elif kind == m.TUPLE:
        items = x + m.ITEMS
    else:
        return 0
    n = word(dims)
    if word(x + m.LENGTH) != n:
        return 0
    for k in range(n):
        y = word(items + 8 * k)
        if nd > 1:
            place = sequence(y, place, nd - 1, dims + 8)
            if place == 0:
                return 0
        else:
            if number(y, place) == 0:
                return 0
            place = place + 8
    return place


@m.inlined
def number(x: int, place: int) -> int:
    """Write a float, a NumPy float64 or an int of 64 bits as a double, and return 1; 0 for all else."""
    kind = word(x + m.TYPE)
    if kind == m.FLOAT or kind == m.SCALAR64:
        set_word(place, word(x + m.VALUE))
        return 1
    if kind != m.INT:
        return 0
    value = m.PyLong_AsDouble(x)
    m.set_real(place, value)
    if value == -1.0 and m.PyErr_Occurred() != 0:
        m.PyErr_Clear()
        return 0
    return 1 if value > -9.2e18 and value < 9.2e18 else 0  # NumPy says what larger ones are
