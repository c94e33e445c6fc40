"""Random calls, right and wrong, with and without the call glue: the same bits, types and errors, word for word.

Usual ones are taken by the glue: arrays of floats in any byte order and layout, and lists, for one state.

Each argument is some numbers, in a dtype however spelled, in a layout, in a container. The seed is another one for each
commit; ``KINETREE_TEST_SEED=…`` repeats a run.
"""

from __future__ import annotations

import array
import ctypes
import pickle
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from synthetic import both_ways, declare, from_matlab, frozen, line, make_all, misaligned, outcome

import kinetree as kt
from helpers.sampling import SEED
from kinetree.glue import cpython as layout
from kinetree.graph import Port
from kinetree.runtime import FunctionSpec
from kinetree.validation import Range

pytestmark = pytest.mark.skipif(layout.find() is None, reason="no glue for this Python")
COUNT = 800  # calls of each function


def flagged() -> FunctionSpec:
    """Return gain · x, for each entry that is active, plus a bias where one is given."""
    ports = Port("x", (2,)), Port("active", (2,)), Port("gain", ()), Port("bias", (2,))

    def evaluate(given, options):
        bias = given.get("bias", [0.0, 0.0])
        return [[given["gain"] * x * on + b for x, on, b in zip(given["x"], given["active"], bias, strict=True)]]

    spec = FunctionSpec("flagged", "", ports, (Port("y", (2,)),), evaluate, lambda: b"flagged", optional=("bias",))
    ranges = {"active": Range(0.0, 1.0, "it is 1 or 0", flags=True), "gain": Range(0.0, 9.0, "it is at most 9")}
    return replace(spec, ranges=ranges, defaults={"gain": np.array(3.0)})


def pushed() -> FunctionSpec:
    """Return the inverse dynamics of an arm, with wrenches in an array or a dict."""
    return kt.load("ur5").inverse_dynamics.spec


SPECS = {spec.__name__: spec for spec in (declare, line, make_all, flagged, pushed)}

# -- numbers, by their dtype ------------------------------------------------------------------------------------------


def spelled(code, order):
    """Return what makes numbers of this type, their byte order spelled like this."""

    def cast(a):
        native = a.astype(code)
        other = native.dtype.newbyteorder(order)
        return native.view(other) if other.isnative else native.byteswap().view(other)

    return cast


def of_dtype(dtype):
    return lambda a: a.view(dtype)


def field_of_records(a):
    """Return an array between other numbers: strided, and not aligned."""
    records = np.zeros(a.shape, [("name", "S3"), ("value", "<f8")])
    records["value"] = a
    return records["value"]


FLOATS = [lambda a: a, *(spelled("d", order) for order in "=<>|SNBL"), lambda a: a.astype("f"), spelled("f", "<")]
FLOATS += [of_dtype(np.dtype("f8", metadata={"unit": "rad"})), of_dtype(pickle.loads(pickle.dumps(np.dtype("f8"))))]
FLOATS += [from_matlab, field_of_records, lambda a: np.frombuffer(a.tobytes()).reshape(a.shape)]
ANY_NUMBERS = FLOATS + [spelled(code, order) for code in "?bBhHiIlLqQefdgFDOU" for order in "=<>|"]
ANY_NUMBERS += [
    *(lambda a: a.astype("M8[s]"), lambda a: a.astype("m8[us]"), lambda a: a.astype("S8"), lambda a: a.astype("V8")),
    *(lambda a: np.full_like(a, 2**64 - 1, "Q"), lambda a: np.full_like(a, -(2**63), "q")),
    *(lambda a: np.where(a > 0, np.nan, a), lambda a: np.where(a > 0, -np.inf, a), lambda a: 1e300 * a),
]

# -- arrays, by their layout ------------------------------------------------------------------------------------------


def backwards(a):
    return np.flip(np.flip(a).copy()) if a.ndim else a


def spread(a):
    """Return every other one of more entries."""
    wide = np.zeros([2 * n for n in a.shape], a.dtype)[tuple(slice(None, None, 2) for _ in a.shape)]
    wide[...] = a
    return wide


LAYOUTS = [lambda a: a, np.ndarray.copy, frozen, misaligned, np.asfortranarray, backwards, spread]
ANY_LAYOUT = [
    *LAYOUTS,
    *(np.transpose, np.flip, lambda a: a[None], lambda a: a[..., None], lambda a: a[1:] if a.ndim else a),
    *(lambda a: a[:0] if a.ndim else a, lambda a: a[None, :0], lambda a: np.broadcast_to(a, (3, *a.shape))),
    *(lambda a: np.broadcast_to(a.flat[0] if a.size else a, a.shape), lambda a: np.stack([a] * 2), np.ravel),
]

# -- arguments, by what holds the array -------------------------------------------------------------------------------


class Sub(np.ndarray):
    pass


class List(list):
    pass


class MyFloat(float):
    pass


class Like:
    """An object that NumPy can ask for an array."""

    def __init__(self, a):
        self.a = a

    def __array__(self, dtype=None, copy=None):
        return self.a


class Interface:
    def __init__(self, a):
        self.a, self.__array_interface__ = a, a.__array_interface__


class Angry:
    def __float__(self):
        raise ZeroDivisionError("by a number")

    __index__ = __array__ = __float__


def nested(a, make, leaf=lambda x: x):
    """Return the entries of an array in nested sequences."""
    return make(nested(row, make, leaf) for row in a) if isinstance(a, list) else leaf(a)


def nested_in(make, leaf=lambda x: x):
    return lambda a: nested(a.tolist(), make, leaf)


def one_other(x):
    """Return what puts one other object in the place of the first entry."""
    return lambda a: [x, *a.tolist()[1:]] if a.ndim else x


def masked(mask):
    return lambda a: np.ma.masked_array(a, np.full(a.shape, mask))


OBJECTS = (True, None, "1", 1j, 2**53 + 1, 2**62, 2**63, -(2**63), 2**63 - 1, 2**64 - 1, 2**64, -(2**63) - 1, 10**30)
OBJECTS += (10**400, Fraction(1, 3), np.float16(2.5), np.float32(0.1), np.int64(3), np.uint64(2**63), MyFloat(2.5))
OBJECTS += (Angry(), np.array(2.5), np.array(3, "<i4"), np.ma.masked, np.bool_(True), np.longdouble(2.5), b"1", ...)
CONTAINERS = [*[lambda a: a] * 4, nested_in(list), nested_in(tuple), lambda a: list(a) if a.ndim else a[()]]
ANY_CONTAINER = [
    *CONTAINERS,
    *(nested_in(List), nested_in(list, repr), nested_in(tuple, lambda x: round(x) if x == x else x)),
    *(lambda a: a.view(Sub), lambda a: np.asmatrix(a) if a.ndim < 3 else a, masked(False), masked(True)),
    *(lambda a: [masked(True)(row) for row in a] if a.ndim else a, Like, Interface, lambda a: Like(masked(True)(a))),
    *(lambda a: memoryview(a.copy()), lambda a: array.array("d", a.ravel()), lambda a: set(a.ravel().tolist())),
    *(lambda a: (ctypes.c_double * a.size)(*a.ravel()), lambda a: range(a.size), lambda a: dict(enumerate(a.ravel()))),
    *map(one_other, OBJECTS),
    *(lambda a, x=x: x for x in OBJECTS),
]


def in_a_dict(a):
    """Return a wrench on a frame as the dict that a call may give for all."""
    return {"tool0": a.ravel()[-6:]} if a.size >= 6 else {}


# -- calls ------------------------------------------------------------------------------------------------------------


def outs_of(spec):
    """Return what may be given as out of one state or of three, or as it must not be."""

    def made(lead, code, shape=lambda a: a):
        arrays = tuple(shape(np.full((*lead, *port.shape), 7.0).astype(code)) for port in spec.outputs)
        return arrays[0] if len(arrays) == 1 else arrays

    orders = [np.dtype("d").newbyteorder(order) for order in "=<>"]
    right = [lambda lead=lead, code=code: made(lead, code) for lead in ((), (3,)) for code in orders]
    shapes = misaligned, spread, backwards, frozen, lambda a: a.view(Sub), lambda a: a[None], np.ndarray.tolist
    return [
        *([lambda: None] * 12 + right * 2),
        *(lambda code=code: made((), code) for code in ("f", "e", "q", "O", "<f4")),
        *(lambda shape=shape: made((), "d", shape) for shape in shapes),
        *(lambda: [made((), "d")], lambda: (made((), "d"), made((), "d")), lambda: "out"),
    ]


OPTIONS = {
    "mix": [{"sign": "minus"}, {"sign": "".join(["pl", "us"])}, {"sign": None}, {"sign": ["x"]}],
    "inverse_dynamics": [{"f_ext_frame": "world"}, {"f_ext_frame": "".join(["bo", "dy"])}, {"f_ext_frame": 3}],
}


def some_call(rng, spec):
    """Return what makes the arguments of a call anew, right or wrong, and whether the glue should take it."""
    numbers = np.random.default_rng(rng.randrange(2**32))
    wild = rng.random() < 0.6
    lead = rng.choice([(), (), (3,), (1,), (2, 3)]) if wild else ()

    def kind(usual, any_):
        return rng.choice(any_ if wild and rng.random() < 0.2 else usual)

    forms = {}
    for port in spec.inputs:
        a = numbers.integers(-64, 64, (*(lead if rng.random() < 0.8 else ()), *port.shape)) / 8.0
        if port.name in spec.flags and rng.random() < 0.9:
            a = np.asarray(a > 0.0, float)
        steps = (
            kind(FLOATS, ANY_NUMBERS),
            kind(LAYOUTS, ANY_LAYOUT),
            kind(CONTAINERS if wild else CONTAINERS[:6], ANY_CONTAINER),
        )
        if port.name in spec.named and wild:
            steps = (*steps[:2], in_a_dict)
        forms[port.name] = a, steps
    single = rng.random() < 0.15
    left_out = {name for name in (*spec.optional, *spec.defaults) if rng.random() < 0.5}
    names = [name for name in forms if name not in left_out]
    by_position = rng.randrange(len(names) + 1) if rng.random() < 0.5 else len(names)
    order = rng.sample(names[by_position:], len(names) - by_position)
    outs = outs_of(spec)
    out = rng.choice(outs if wild else outs[:18])
    choices = rng.choice([*[{}] * 4, *(OPTIONS.get(spec.name, []) if wild else [])])
    wrong = [{"x": [1.0]}, {"other": 1}, dict.fromkeys(spec.optional), {"out": None}] if wild else []
    more = rng.choice([{}] * 15 + wrong)
    overlaps = wild and rng.random() < 0.05

    def argument(name):
        a, steps = forms[name]
        a = a.astype("f" if single else "d")  # a copy: the call may write to it
        for step in steps[1:] if single else steps:
            a = step(np.asarray(a))
        return a

    def make():
        made = {name: argument(name) for name in names}
        result = made[rng_name] if overlaps and (rng_name := names[-1]) else out()
        kwargs = {"".join(["", name]): made[name] for name in order} | choices
        return [made[name] for name in names[:by_position]], kwargs | ({} if result is None else {"out": result}) | more

    return make, not wild and all(np.shape(argument(name)) == forms[name][0].shape for name in names)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SPECS)
def test_any_call_is_that_of_the_general_path(name):
    print(f"KINETREE_TEST_SEED={SEED} repeats this")
    rng = random.Random(f"{SEED} {name}")
    fast, general = both_ways(SPECS[name])
    before, tried = fast.general_calls, 0
    for k in range(COUNT):
        try:
            make, usual = some_call(rng, fast.spec)
            given = make()
        except Exception:
            continue  # there are no such numbers, or no such array of them
        tried += 1
        got, args, kwargs = outcome(fast, *given[0], **given[1]), *make()
        assert got == outcome(general, *args, **kwargs), f"seed {SEED}, call {k} of {name}: {given}"
        if usual and not fast.spec.flags:  # the first such call may compile
            taken, (args, kwargs) = fast.general_calls, make()
            assert outcome(fast, *args, **kwargs) == got
            assert fast.general_calls == taken or isinstance(got[1], str), f"seed {SEED}, call {k} of {name} is left"
    left = fast.general_calls - before
    assert tried > 0.5 * COUNT
    assert 0.02 * tried < left < 1.5 * tried  # both ways were tried


@pytest.mark.parametrize(
    "call",
    [
        lambda robot, x: robot.inverse_dynamics(x, x, x),
        lambda robot, x: robot.gravity_forces([x, x]),
        lambda robot, x: robot.inverse_dynamics(x.data, x.data, x.data, f_ext={"tool0": x}),
        lambda robot, x: robot.simulate(x, x.data, steps=2, dt=1e-3),
    ],
)
def test_masks_are_never_dropped(call):
    with pytest.raises(kt.errors.ArgumentError, match="has masked entries"):
        call(kt.load("ur5"), np.ma.masked_array(np.ones(6), [False] * 5 + [True]))
