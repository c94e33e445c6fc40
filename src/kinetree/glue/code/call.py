"""The call itself: ``kt_call``, a C function of the type ``METH_FASTCALL | METH_KEYWORDS``.

Its ``self`` is a tuple: an array with the function's record (`descriptor`), and the general path, a Python callable for
what is not taken here, for calls while a trace substitutes numbers (`tracing.context`), and for all error messages.
"""

from __future__ import annotations

from kinetree.glue import descriptor as d
from kinetree.glue import machine as m
from kinetree.glue.code.arguments import argument, is_allowed, is_narrow, plain
from kinetree.glue.code.keywords import assign, find_variant, in_order, options_key, quick_key
from kinetree.glue.code.results import are_apart, drop, finish, keep, make, new_array, take
from kinetree.glue.machine import int32, set_word, stack, word

NOT_TAKEN = 1  # no object has this address


def kt_call(self: int, args: int, nargs: int, kwnames: int) -> int:
    """Return the result of a call, 0 if it raises."""
    function = word(word(self + m.ITEMS) + m.DATA)
    if int32(m.SUBSTITUTING) == 0:
        result = NOT_TAKEN
        given = nargs if kwnames == 0 else in_order(function, nargs, kwnames)
        if given >= word(function + d.LEAST) and nargs <= word(function + d.MOST):
            result = call_plain(function, args, nargs, given, kwnames)
        if result == NOT_TAKEN:
            result = call_any(function, args, nargs, kwnames)
        if result != NOT_TAKEN:
            return result
    return m.PyObject_Vectorcall(word(self + m.ITEMS + 8), args, nargs, kwnames)


@m.inlined
def call_plain(function: int, args: int, nargs: int, given: int, kwnames: int) -> int:
    """Return the result for plain arrays and floats in order, the last by name, then known options and out."""
    ins = stack(8 * d.MOST_PORTS)
    outs = stack(8 * d.MOST_PORTS)
    results = stack(8 * d.MOST_PORTS)
    numbers = stack(8 * d.MOST_PORTS)
    strides = stack(8 * d.MOST_PORTS)
    given_out = stack(8)
    ports = word(function + d.PORTS)
    port = ports
    for k in range(given):
        x = word(args + 8 * k)
        kind = word(x + m.TYPE)
        data = 0
        if kind == m.NDARRAY:
            data = plain(x, port)
        elif (kind == m.FLOAT or kind == m.SCALAR64) and word(port + d.PORT_ND) == 0:
            data = x + m.VALUE
        if data == 0:
            return NOT_TAKEN
        set_word(ins + 8 * k, data)
        port = port + d.PORT_RECORD
    if word(function + d.CHECKED):
        for k in range(given):
            port = ports + k * d.PORT_RECORD
            if word(port + d.PORT_CHECKED) and is_allowed(word(ins + 8 * k), port, 8, 0, 0) == 0:
                return NOT_TAKEN
        port = ports + given * d.PORT_RECORD
    k = given
    while k < word(function + d.ALWAYS):
        set_word(ins + 8 * k, word(port + d.PORT_WIDE))
        port = port + d.PORT_RECORD
        k = k + 1
    variant = word(function + d.PLAIN)
    out = 0
    if kwnames != 0:
        set_word(given_out, 0)
        variant = find_variant(function, quick_key(function, kwnames, given - nargs, args + 8 * nargs, given_out))
        out = word(given_out)
    if variant == 0 or word(variant + d.VARIANT_SINGLE) == 0:
        return NOT_TAKEN
    single = word(variant + d.VARIANT_SINGLE)
    port = word(variant + d.OUTPUT_PORTS)
    if out != 0:
        if take(variant, out, results, outs, m.DOUBLE, 0) == 0:
            return NOT_TAKEN
        for k in range(given):
            set_word(numbers + 8 * k, ports + k * d.PORT_RECORD)
            set_word(strides + 8 * k, 0)
        if are_apart(variant, numbers, given, ins, strides, outs, 8, 0) == 0:
            return NOT_TAKEN
        keep(variant, results)
    elif word(variant + d.OUTPUTS) == 1 and word(port + d.PORT_ND) != 0:  # most functions: nothing to loop over
        made = new_array(word(port + d.PORT_ND), word(port + d.PORT_DIMS), m.DESCR64, 0)
        if made == 0:
            return 0
        set_word(outs, word(made + m.DATA))
        status = m.call_single(single, ins, outs)
        if status != 0:
            m.Py_DecRef(made)
            return failed(status)
        return made
    elif make(variant, results, outs, numbers, m.DESCR64, 0) == 0:
        return 0
    status = m.call_single(single, ins, outs)
    if status != 0:
        drop(results, word(variant + d.OUTPUTS))
        return failed(status)
    return finish(variant, results, outs, m.DESCR64)


def failed(status: int) -> int:
    """Return 0 with an exception set: 1 says that a signal's handler raised one."""
    return 0 if status == 1 else m.PyErr_NoMemory()


def call_any(function: int, args: int, nargs: int, kwnames: int) -> int:
    """Return the result of a call in any form that the glue takes."""
    slots = stack(8 * (d.MOST_PORTS + d.MOST_OPTIONS + 1))
    ports = stack(8 * d.MOST_PORTS)
    ins = stack(8 * d.MOST_PORTS)
    if assign(function, args, nargs, kwnames, slots) == 0:
        return NOT_TAKEN
    key = options_key(function, slots)
    if key < 0:
        return NOT_TAKEN
    # the inputs that are given, in order, with the data of those that are plain
    inputs = word(function + d.INPUTS)
    always = word(function + d.ALWAYS)
    port = word(function + d.PORTS)
    given = 0
    defaults = 0
    narrow = 1
    wide_flags = 0
    for k in range(inputs):
        x = word(slots + 8 * k)
        if x == 0 and word(port + d.PORT_WIDE) != 0:
            set_word(ins + 8 * given, 0)
            set_word(slots + 8 * given, 0)
            set_word(ports + 8 * given, port)
            given = given + 1
            defaults = defaults + 1
        elif x == 0 or x == m.NONE:
            if k < always:
                return NOT_TAKEN
        else:
            if k >= always:
                key = key | 1 << d.OPTIONAL_SHIFT + k - always
            data = plain(x, port) if word(x + m.TYPE) == m.NDARRAY else 0
            if narrow and (data or is_narrow(x) == 0):
                if word(port + d.PORT_FLAGS) != 0:
                    wide_flags = 1
                else:
                    narrow = 0
            set_word(ins + 8 * given, data)
            set_word(slots + 8 * given, x)
            set_word(ports + 8 * given, port)
            given = given + 1
        port = port + d.PORT_RECORD
    if narrow and wide_flags:
        return NOT_TAKEN
    if given == defaults:
        narrow = 0
    variant = find_variant(function, key | narrow)
    if variant == 0:
        return NOT_TAKEN
    out = word(slots + 8 * (inputs + word(function + d.OPTIONS)))
    room = word(function + d.CONVERTED)
    return evaluate(room, variant, slots, ports, ins, given, narrow, 0 if out == m.NONE else out)


def evaluate(room: int, variant: int, slots: int, ports: int, ins: int, given: int, narrow: int, out: int) -> int:
    """Return the result of a variant for the arguments in the first slots, with so much room for what is converted."""
    item = 4 if narrow else 8
    type_number = m.SINGLE if narrow else m.DOUBLE
    descr = m.DESCR32 if narrow else m.DESCR64
    strides = stack(16 * d.MOST_PORTS)
    outs = stack(8 * d.MOST_PORTS)
    results = stack(8 * d.MOST_PORTS)
    numbers = stack(8 * d.MOST_PORTS)
    lead = stack(8)
    set_word(lead, 0)
    place = stack(room + 8)
    for k in range(given):
        set_word(strides + 8 * k, 0)
        if word(ins + 8 * k) == 0:
            port = word(ports + 8 * k)
            x = word(slots + 8 * k)
            if x == 0:
                data = word(port + (d.PORT_NARROW if narrow else d.PORT_WIDE))
            else:
                data = argument(x, port, item, place if room else 0, strides + 8 * k, lead)
            if data == 0:
                return NOT_TAKEN
            set_word(ins + 8 * k, data)
            place = place + 8 * word(port + d.PORT_SIZE)
    n = word(lead)
    for k in range(given):
        port = word(ports + 8 * k)
        if word(port + d.PORT_CHECKED) and is_allowed(word(ins + 8 * k), port, item, word(strides + 8 * k), n) == 0:
            return NOT_TAKEN
    if n == 0:
        if word(variant + d.VARIANT_SINGLE) == 0:
            return NOT_TAKEN
    elif word(variant + d.VARIANT_BATCH) == 0 or n > word(word(variant + d.VARIANT_LIMITS) + d.MOST_STATES):
        return NOT_TAKEN
    # the memory for the results
    outputs = word(variant + d.OUTPUTS)
    if out != 0:
        if take(variant, out, results, outs, type_number, n) == 0:
            return NOT_TAKEN
        if are_apart(variant, ports, given, ins, strides, outs, item, n) == 0:
            return NOT_TAKEN
        keep(variant, results)
    elif make(variant, results, outs, numbers, descr, n) == 0:
        return 0
    if n == 0:
        status = m.call_single(word(variant + d.VARIANT_SINGLE), ins, outs)
    else:
        first = word(variant + d.OUTPUT_PORTS)
        for k in range(outputs):
            set_word(strides + 8 * (given + k), item * word(first + k * d.PORT_RECORD + d.PORT_SIZE))
        status = run_batch(variant, ins, outs, strides, n)
    if status != 0:
        drop(results, outputs)
        return failed(status)
    return finish(variant, results, outs, descr)


def run_batch(variant: int, ins: int, outs: int, strides: int, n: int) -> int:
    """Run n states, without the GIL where that takes long; return 0, -1 without memory, 1 after an exception."""
    kernel = word(variant + d.VARIANT_BATCH)
    memory = m.PyMem_RawMalloc(word(variant + d.VARIANT_SCRATCH) + 64)
    if memory == 0:
        return -1
    scratch = memory + 63 & -64
    if n > word(word(variant + d.VARIANT_LIMITS) + d.KEEPS_GIL):
        state = m.PyEval_SaveThread()
        m.call_batch(kernel, ins, outs, strides, n, scratch)
        m.PyEval_RestoreThread(state)
    else:
        set_word(m.RUNNING, m.PyThread_get_thread_ident())
        m.call_batch(kernel, ins, outs, strides, n, scratch)
        set_word(m.RUNNING, 0)
    m.PyMem_RawFree(memory)
    if word(m.STOPPED) != 0 and word(m.STOPPED) == m.PyThread_get_thread_ident():
        set_word(m.STOPPED, 0)
        return 1
    return 0
