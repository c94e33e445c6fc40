"""Memory for the results of a call, and the objects that are returned; `n` is the number of states, 0 for one alone."""

from __future__ import annotations

from kinetree.glue import descriptor as d
from kinetree.glue import machine as m
from kinetree.glue.code.arguments import PLAIN, has_shape, is_native
from kinetree.glue.machine import int32, set_word, stack, word


@m.inlined
def make(variant: int, results: int, outs: int, numbers: int, descr: int, n: int) -> int:
    """Make an array for each result, a place among `numbers` for one without axes; return 1, 0 without memory."""
    outputs = word(variant + d.OUTPUTS)
    port = word(variant + d.OUTPUT_PORTS)
    for k in range(outputs):
        nd = word(port + d.PORT_ND)
        if nd == 0 and n == 0:
            set_word(results + 8 * k, 0)
            set_word(outs + 8 * k, numbers + 8 * k)
        else:
            made = new_array(nd, word(port + d.PORT_DIMS), descr, n)
            if made == 0:
                drop(results, k)
                return 0
            set_word(results + 8 * k, made)
            set_word(outs + 8 * k, word(made + m.DATA))
        port = port + d.PORT_RECORD
    return 1


@m.inlined
def new_array(nd: int, dims: int, descr: int, n: int) -> int:
    """Return a new array, 0 without memory."""
    if n == 0:
        return m.PyArray_NewFromDescr(m.NDARRAY, m.Py_NewRef(descr), nd, dims, 0, 0, 0, 0)
    return new_batch(nd, dims, descr, n)


def new_batch(nd: int, dims: int, descr: int, n: int) -> int:
    """Return a new array of n states, 0 without memory."""
    all_dims = stack(8 * nd + 8)
    set_word(all_dims, n)
    for k in range(nd):
        set_word(all_dims + 8 * k + 8, word(dims + 8 * k))
    return m.PyArray_NewFromDescr(m.NDARRAY, m.Py_NewRef(descr), nd + 1, all_dims, 0, 0, 0, 0)


@m.inlined
def take(variant: int, out: int, results: int, outs: int, type_number: int, n: int) -> int:
    """Take the arrays given as out; return 1, 0 where one is not a plain one of the right shape and dtype."""
    outputs = word(variant + d.OUTPUTS)
    port = word(variant + d.OUTPUT_PORTS)
    if outputs != 1 and (word(out + m.TYPE) != m.TUPLE or word(out + m.LENGTH) != outputs):
        return 0
    for k in range(outputs):
        x = out if outputs == 1 else word(out + m.ITEMS + 8 * k)
        if is_plain_output(x, port, type_number, n) == 0:
            return 0
        set_word(results + 8 * k, x)
        set_word(outs + 8 * k, word(x + m.DATA))
        port = port + d.PORT_RECORD
    return 1


@m.inlined
def is_plain_output(x: int, port: int, type_number: int, n: int) -> int:
    """Return 1 if a kernel can write the result of a port to this object, 0 otherwise."""
    if word(x + m.TYPE) != m.NDARRAY:
        return 0
    descr = word(x + m.DESCR)
    if int32(descr + m.TYPE_NUMBER) != type_number or is_native(descr) == 0:
        return 0
    flags = PLAIN | m.WRITEABLE
    more = 0 if n == 0 else 1
    dims = word(x + m.DIMS)
    if int32(x + m.FLAGS) & flags != flags or int32(x + m.ND) != word(port + d.PORT_ND) + more:
        return 0
    if n != 0 and word(dims) != n:
        return 0
    return has_shape(dims + 8 * more, port)


@m.inlined
def are_apart(variant: int, ports: int, given: int, ins: int, strides: int, outs: int, item: int, n: int) -> int:
    """Return 1 if the outputs overlap neither an input, whose states must be in order, nor one another, 0 otherwise."""
    outputs = word(variant + d.OUTPUTS)
    port = word(variant + d.OUTPUT_PORTS)
    states = 1 if n == 0 else n
    for k in range(outputs):
        start = word(outs + 8 * k)
        end = start + states * item * word(port + k * d.PORT_RECORD + d.PORT_SIZE)
        for j in range(given):
            stride = word(strides + 8 * j)
            first = word(ins + 8 * j)
            last = first + (states - 1) * stride + item * word(word(ports + 8 * j) + d.PORT_SIZE)
            if stride < 0 or (first < end and start < last):
                return 0
        for j in range(k):
            first = word(outs + 8 * j)
            last = first + states * item * word(port + j * d.PORT_RECORD + d.PORT_SIZE)
            if first < end and start < last:
                return 0
    return 1


@m.inlined
def keep(variant: int, results: int) -> None:
    """Take a reference to each of the results."""
    for k in range(word(variant + d.OUTPUTS)):
        m.Py_NewRef(word(results + 8 * k))


@m.inlined
def finish(variant: int, results: int, outs: int, descr: int) -> int:
    """Return the result or the tuple of results, 0 without memory; references to `results` are passed on."""
    outputs = word(variant + d.OUTPUTS)
    for k in range(outputs):
        if word(results + 8 * k) == 0:
            made = m.PyArray_Scalar(word(outs + 8 * k), descr, 0)
            if made == 0:
                drop(results, outputs)
                return 0
            set_word(results + 8 * k, made)
    if outputs == 1:
        return word(results)
    values = m.PyType_GenericAlloc(word(variant + d.RESULT), outputs)
    if values == 0:
        drop(results, outputs)
        return 0
    if m.HASH != 0:
        set_word(values + m.HASH, -1)
    for k in range(outputs):
        set_word(values + m.ITEMS + 8 * k, word(results + 8 * k))
    return values


def drop(results: int, n: int) -> None:
    """Give up the references to the first n results."""
    for k in range(n):
        m.Py_DecRef(word(results + 8 * k))
