"""The part of Python that the call glue is written in: what compiled functions return is what Python's return."""

from __future__ import annotations

import ctypes
import struct
import textwrap

import pytest

from kinetree.backends.llvm import Target, load
from kinetree.backends.llvm.translate import compile_functions
from kinetree.glue import machine

NAMES = {name: value for name, value in vars(machine).items() if not name.startswith("__")}
W, D = ctypes.c_int64, ctypes.c_double


def compiled(source: str, result=W, parameters=(W, W)):
    source = textwrap.dedent(source)
    functions: dict[str, object] = {}
    exec(source, {**NAMES, "m": machine}, functions)
    code = compile_functions([(source, {**NAMES, "m": machine, **functions})], Target.host())
    loaded = load(code, {})
    call = ctypes.CFUNCTYPE(result, *parameters)(loaded.address("kt_test"))
    call.loaded = loaded
    return call, functions["kt_test"]


VALUES = [0, 1, -1, 2, 7, -8, 63, 2**30 + 5]
PROGRAMS = {
    "arithmetic": """
        def kt_test(a: int, b: int) -> int:
            return (a + 3) * (b - 2) - (a & 255 | b & 15) + (a << 2) + (b >> 1)
    """,
    "conditions": """
        def kt_test(a: int, b: int) -> int:
            if a < b and a != 1 or b == 7:
                return 1
            if (a > b or a == 0) and b <= 2:
                return 2
            return 3 if a >= b else 4
    """,
    "nested choices": """
        def kt_test(a: int, b: int) -> int:
            return (1 if b else 2) if a else (3 if b > 1 else 4)
    """,
    "loops": """
        def kt_test(a: int, b: int) -> int:
            total = 0
            for k in range(a & 15):
                for _ in range(b & 3):
                    total = total + k
                if total > 20:
                    return 0 - total
            while total > 3:
                total = total - 4
            return total
    """,
    "calls": """
        def half(n: int) -> int:
            return n >> 1

        @m.inlined
        def twice(n: int) -> int:
            if n == 7:
                return half(n) + half(n)
            return n + n

        def kt_test(a: int, b: int) -> int:
            return twice(a) + twice(half(b))
    """,
    "recursion": """
        def kt_test(a: int, b: int) -> int:
            n = a & 15
            return n + kt_test(n - 1, b) if n > 0 else b
    """,
    "a changed argument": """
        def kt_test(a: int, b: int) -> int:
            for k in range(3):
                a = a + k * b
            return a
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_means_what_python_means(name):
    ours, python = compiled(PROGRAMS[name])
    if name == "recursion":
        python = lambda a, b: b + (a & 15) * ((a & 15) + 1) // 2  # noqa: E731
    if name == "calls":
        python = lambda a, b: (6 if a == 7 else 2 * a) + (6 if b >> 1 == 7 else 2 * (b >> 1))  # noqa: E731
    for a in VALUES:
        for b in VALUES:
            assert ours(a, b) == python(a, b), (a, b)


def test_floats():
    ours, python = compiled(
        """
        def kt_test(x: float, y: float) -> float:
            if x < 1.5 and y != 0.1:
                return x * 1e-300 - y
            return x + y if x == x else -1.0
        """,
        D,
        (D, D),
    )
    for x in (0.0, 1.5, -2.25, 1e300, float("inf")):
        for y in (0.1, 3.0, -0.0):
            assert ours(x, y) == python(x, y)
    assert ours(float("nan"), 1.0) == -1.0


MEMORY = bytearray(64)
LOADS = {
    "word": ("<q", -(2**62) - 5),
    "int32": ("<i", -7),
    "bytes1": ("<B", 200),
    "bytes2": ("<H", 60000),
    "bytes4": ("<I", 2**32 - 2),
}


@pytest.mark.parametrize("offset", [0, 1, 3])
@pytest.mark.parametrize("name", LOADS)
def test_loads(name, offset):
    ours, _ = compiled(f"def kt_test(a: int, b: int) -> int:\n    return {name}(a + b)")
    form, value = LOADS[name]
    memory = ctypes.create_string_buffer(64)
    struct.pack_into(form, memory, offset, value)
    assert ours(ctypes.addressof(memory), offset) == value


def test_stores_and_conversions():
    ours, _ = compiled("""
        def kt_test(a: int, b: int) -> int:
            set_word(a, b)
            set_real(a + 8, from_signed(b))
            set_real(a + 16, from_unsigned(b))
            set_real32(a + 24, from_signed(b))
            set_word(a + 28, swapped(b))
            set_real(a + 36, as_real(b))
            set_word(a + 44, unsigned_shift(b, 4))
            place = stack(16)
            set_word(place, b)
            set_real(a + 52, as_real32(word(place)))
            return word(place + 0) + b
    """)
    memory = ctypes.create_string_buffer(64)
    for b in (1, -3, 2**61 + 77, 0x40490FDB):
        assert ours(ctypes.addressof(memory), b) == ctypes.c_int64(2 * b).value
        raw = struct.pack("<q", b)
        unsigned = b % 2**64
        single = struct.unpack("<f", raw[:4])[0]
        got = struct.unpack("<qddf8sd", memory.raw[:44])
        assert got[:3] == (b, float(b), float(unsigned))
        assert got[3] == struct.unpack("<f", struct.pack("<f", b))[0]
        assert got[4] == raw[::-1]
        assert struct.pack("<d", got[5]) == raw
        assert struct.unpack("<Q", memory.raw[44:52])[0] == unsigned >> 4
        assert single != single or struct.unpack("<d", memory.raw[52:60])[0] == single


@pytest.mark.parametrize(
    "line",
    [
        "return a ** b",
        "return a if a == 'x' else b",
        "return [a]",
        "a, b = b, a",
        "with a: pass",
        "a += 1",
        "return a // b",
    ],
)
def test_anything_else_is_refused(line):
    source = f"def kt_test(a: int, b: int) -> int:\n    {line}\n    return a"
    with pytest.raises((TypeError, AttributeError, KeyError, ValueError)):
        compile_functions([(source, NAMES)], Target.host())


def test_a_variable_has_one_type():
    source = "def kt_test(a: int, x: float) -> int:\n    a = x\n    return a"
    with pytest.raises(TypeError, match="a is i64 and double"):
        compile_functions([(source, NAMES)], Target.host())


def test_the_vocabulary_is_for_compiling_only():
    with pytest.raises(NotImplementedError, match="word is compiled, not called"):
        machine.word(0)
