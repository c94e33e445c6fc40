from __future__ import annotations

import importlib
import inspect
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from synthetic import Counting, N, declare, misaligned, reference, states

from kinetree.errors import ArgumentError, KinetreeError
from kinetree.runtime import Function, Option, arguments
from kinetree.validation import has_masked_entries

X, Y, Z = states()
XS, YS, ZS = states(4)
f = Counting(declare())
for optional in (), ("w",):
    f.warmup(optional=optional)

WRONG = {
    "short": (lambda: f(X[1:], Y, Z), r"mix: x has shape \(4,\), x has 5 entries: apples, pears; give it shape \(5,\)"),
    "long": (lambda: f(X, Y, np.zeros(6)), r"z has shape \(6,\)"),
    "column": (lambda: f(X[:, None], Y, Z), r"x has shape \(5, 1\).*x\.ravel\(\)"),
    "states as columns": (lambda: f(XS.T, Y, Z), r"x has shape \(5, 4\).*x\.T"),
    "flat batch": (lambda: f(np.zeros((1, 1, 5, 1)), Y, Z), r"x\.reshape\(\(5,\)\)"),
    "short batch": (lambda: f(XS[:, 1:], YS, ZS), r"x has shape \(4, 4\)"),
    "scalar": (lambda: f(1.0, Y, Z), "x is a scalar"),
    "array scalar": (lambda: f(np.float64(1.0), Y, Z), "x is a scalar"),
    "None": (lambda: f(None, Y, Z), "x is None"),
    "None by name": (lambda: f(X, Y, z=None), "z is None"),
    "complex": (lambda: f(X + 0j, Y, Z), "x has dtype complex128"),
    "bool": (lambda: f(X > 0, Y, Z), "x has dtype bool"),
    "object": (lambda: f(X.astype(object), Y, Z), "x has dtype object"),
    "big integers": (lambda: f([2**70] * N, Y, Z), "x has dtype object"),
    "strings": (lambda: f(["1"] * N, Y, Z), "x has dtype <U1"),
    "a string": (lambda: f("12345", Y, Z), "x has dtype <U5"),
    "times": (lambda: f(np.zeros(N, "m8[s]"), Y, Z), "x has dtype timedelta64"),
    "ragged": (lambda: f([[1.0], [1.0, 2.0]], Y, Z), "x is a list that NumPy cannot make an array of"),
    "a set": (lambda: f({1.0, 2.0}, Y, Z), "x has dtype object"),
    "masked": (lambda: f(np.ma.masked_less(X, 0.0), Y, Z), r"x has masked entries.*filled"),
    "a list of masked rows": (lambda: f([np.ma.masked_less(X, 0.0)] * 2, Y, Z), r"x has masked entries.*filled"),
    "w of the wrong shape": (lambda: f(X, Y, Z, np.zeros((3, 2))), r"w has shape \(3, 2\).*\(\.\.\., 2, 3\)"),
    "batches that do not fit": (lambda: f(XS, YS[:3], Z), r"do not broadcast: x \(4, 5\), y \(3, 5\), z \(5,\)"),
    "missing": (lambda: f(X, Y), r"mix needs z too: call it as mix\(x, y, z, w=None, \*, sign='plus', out=None\)"),
    "two missing": (lambda: f(y=Y), "needs x and z too"),
    "extra": (lambda: f(X, Y, Z, None, 1.0), "got 5 positional arguments"),
    "twice": (lambda: f(X, Y, Z, x=X), "got x twice"),
    "unknown": (lambda: f(X, Y, Z, sing="plus"), "no argument 'sing', did you mean 'sign'?"),
    "unknown, and a name in Python": (lambda: f(X, Y, Z, self=1), "no argument 'self'"),
    "unknown, and a name of ours": (lambda: f(XS, YS, ZS, args=1), "no argument 'args'"),
    "option": (lambda: f(X, Y, Z, sign="times"), "sign is 'times', it must be 'plus' or 'minus'"),
    "option of another type": (lambda: f(X, Y, Z, sign=np.zeros(2)), "sign is array"),
    "out shape": (lambda: f(XS, Y, Z, out=np.empty(N)), r"out has shape \(5,\), it must be .*\(4, 5\) and .* float64"),
    "out dtype": (lambda: f(X, Y, Z, out=np.empty(N, "f4")), "out has dtype float32.*only where all inputs are"),
    "out byte order": (lambda: f(X, Y, Z, out=np.empty(N, np.dtype("f8").newbyteorder())), "out has dtype"),
    "out read-only": (lambda: f(XS, Y, Z, out=np.broadcast_to(0.0, (4, N))), "out is read-only"),
    "out no array": (lambda: f(X, Y, Z, out=[0.0] * N), "out is a list"),
    "short list": (lambda: f([1.0] * (N - 1), Y, Z), r"x has shape \(4,\)"),
    "ragged w": (lambda: f(X, Y, Z, [[1, 2, 3], [4, 5]]), "w is a list that NumPy cannot"),
    "a list of bools": (lambda: f([True] * N, Y, Z), "x has dtype bool"),
    "one integer beyond 64 bits": (lambda: f([2**64, 2.0, 3, 4, 5], Y, Z), "x has dtype"),
    "integers beyond all numbers": (lambda: f([10**400] * N, Y, Z), "x has dtype object"),
    "twice, then in order": (lambda: f(X, Y, y=Y, z=Z), "got y twice"),
    "a gap between names": (lambda: f(x=X, z=Z), "needs y too"),
    "float16 out": (lambda: f(X, Y, Z, out=np.empty(N, np.float16)), "out has dtype float16"),
    "option that is None": (lambda: f(X, Y, Z, sign=None), "sign is None"),
    "option that is a list": (lambda: f(X, Y, Z, sign=["plus"]), r"sign is \['plus'\]"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_call_says_what_is_wrong(case):
    call, message = WRONG[case]
    before = f.general_calls
    with pytest.raises(ArgumentError, match=message):
        call()
    assert f.general_calls == before + 1  # the glue leaves all of them to it


def test_of_many_choices_the_nearest_is_named():
    choices = ("plus", "minus", *(f"frame{k}" for k in range(50)))
    g = Function(replace(declare(), options=(Option("sign", choices),)))
    with pytest.raises(ArgumentError, match="mix: no sign 'minsu', did you mean 'minus'"):
        g(X, Y, Z, sign="minsu")
    with pytest.raises(ArgumentError, match="sign is 3, it must be 'plus' or 'minus' or 'frame0' or 'frame1' or …"):
        g(X, Y, Z, sign=3)


def test_what_cannot_become_an_array_is_refused_with_its_reason():
    class Stubborn:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("call detach() first")

    with pytest.raises(ArgumentError, match=r"Stubborn .*call detach\(\) first"):
        f(Stubborn(), Y, Z)


def test_running_out_of_memory_is_no_argument_error():
    class Huge:
        def __array__(self, dtype=None, copy=None):
            raise MemoryError

    with pytest.raises(MemoryError):
        f(Huge(), Y, Z)


@pytest.mark.parametrize("lead", [(), (3,)])
@pytest.mark.parametrize(
    ("dtypes", "result"),
    [
        (("f4", "f4", "f4"), "f4"),
        ((">f4", "<f4", "f4"), "f4"),
        (("f4", "f4", "f8"), "f8"),
        (("f4", "f2", "f4"), "f8"),
        (("f4", "i4", "f4"), "f8"),
        (("i8", "u2", "i1"), "f8"),
        (("f2", "f2", "f2"), "f8"),
        ((">f8", "f8", "f8"), "f8"),
        (("g", "g", "g"), "f8"),
        ((list, "f4", "f4"), "f8"),
    ],
)
def test_the_result_is_float32_only_where_all_inputs_are(lead, dtypes, result):
    whole = [np.rint(a) for a in states(*lead)]
    whole[1] = abs(whole[1])
    args = [a.tolist() if d is list else a.astype(d) for a, d in zip(whole, dtypes, strict=True)]
    got = f(*args)
    assert got.dtype == np.dtype(result)
    assert got.dtype.isnative
    assert np.array_equal(got, reference(*whole))


def test_a_float64_optional_input_makes_the_result_float64():
    single = [a.astype("f4") for a in (X, Y, Z)]
    w = np.ones((2, 3))
    assert f(*single, w).dtype == np.float64
    assert f(*single, w.astype("f4")).dtype == np.float32


def test_nan_and_infinity_reach_what_depends_on_them_and_nothing_else():
    x = X.copy()
    x[2] = np.nan
    z = Z.copy()
    z[4] = np.inf
    got = f(x, Y, z)
    assert np.flatnonzero(np.isnan(got)).tolist() == [2]
    assert np.flatnonzero(np.isinf(got)).tolist() == [4]


def test_a_long_double_beyond_float64_is_infinite_without_a_warning():
    if np.finfo(np.longdouble).max == np.finfo(float).max:
        pytest.skip("long double is double here")
    x = X.astype(np.longdouble)
    x[0] = np.finfo(np.longdouble).max
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf(f(x, abs(Y) + 1.0, Z)[0])


LEADS = hnp.mutually_broadcastable_shapes(num_shapes=4, max_dims=3, max_side=3, min_side=0)


@settings(max_examples=150, deadline=None)
@given(shapes=LEADS, data=st.data())
def test_leading_axes_broadcast_as_in_numpy(shapes, data):
    inner = [(N,), (N,), (N,), (2, 3)]
    args = [_laid_out(data.draw, (*lead, *port)) for lead, port in zip(shapes.input_shapes, inner, strict=True)]
    got = f(*args)
    wanted = reference(*args)
    assert got.shape == wanted.shape == (*shapes.result_shape, N)
    assert np.array_equal(got, wanted)
    out = _laid_out(data.draw, got.shape)
    if out.flags.writeable and out.dtype.isnative:
        assert f(*args, out=out) is out
        assert np.array_equal(out, wanted)


LAYOUTS = [
    *(lambda a: a, np.asfortranarray, misaligned, lambda a: a.astype(a.dtype.newbyteorder())),
    *(lambda a: np.repeat(a, 2, axis=0)[::2], lambda a: np.repeat(a, 3, axis=-1)[..., ::3]),
    *(lambda a: a[::-1].copy()[::-1], lambda a: np.broadcast_to(a[..., :1], a.shape)),
]


def _laid_out(draw, shape):
    """Draw an array of this shape that lies in memory in some odd way."""
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    return draw(st.sampled_from(LAYOUTS))(rng.integers(-64, 64, shape) / 8.0)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_strides_are_where_the_states_lie(data):
    lead = data.draw(hnp.array_shapes(min_dims=0, max_dims=3, max_side=4))
    port = data.draw(hnp.array_shapes(min_dims=1, max_dims=2, max_side=4))
    array = _laid_out(data.draw, lead + port)
    distance = arguments.strides(array, lead, port)
    if array.flags.c_contiguous:
        assert distance is not None
    if distance is None:
        return
    base = array.__array_interface__["data"][0]
    for k, index in enumerate(np.ndindex(*lead)):
        state = array[index]
        assert state.__array_interface__["data"][0] == base + k * distance
        assert all(n == 1 or s == t for n, s, t in zip(port, state.strides, np.empty(port).strides, strict=True))


ANY_DTYPE = st.sampled_from(["f8", "f4", ">f8", "i4", "f2", "c16", "?", "O", "U3", "M8[s]"])


@st.composite
def values(draw, inner):
    """Draw anything that somebody may pass for an array of this shape."""
    kind = draw(st.sampled_from(["array", "array", "array", "list", "shape", "odd"]))
    if kind == "odd":
        odd = [None, 1.0, "abc", [], {}, [[1.0], [2.0, 3.0]], object(), np.zeros(()), np.ma.masked_all(N), b"x", ...]
        return draw(st.sampled_from(odd))
    lead = draw(st.sampled_from([(), (), (2,), (1,), (3, 2), (0,)]))
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=3, max_side=6)) if kind == "shape" else (*lead, *inner)
    array = np.random.default_rng(draw(st.integers(0, 9))).integers(-8, 8, shape)
    if kind == "list":
        return array.tolist()
    return array.astype(draw(ANY_DTYPE))


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_any_call_is_right_or_refused(data):
    args = [data.draw(values((N,))) for _ in range(data.draw(st.sampled_from([3, 3, 3, 3, 2, 4])))]
    kwargs = {}
    if data.draw(st.booleans()):
        kwargs["w"] = data.draw(st.one_of(st.none(), values((2, 3))))
    if data.draw(st.integers(0, 4)) == 0:
        kwargs[data.draw(st.sampled_from(["x", "out", "sign", "nonsense"]))] = data.draw(values((N,)))
    bound = {"x", "y", "z", "w", "out"}
    try:
        got = f(*args, **kwargs)
    except KinetreeError:
        return
    given_ = inspect.signature(f).bind(*args, **kwargs).arguments
    assert set(given_) <= bound
    wanted = reference(given_["x"], given_["y"], given_["z"], given_.get("w"))
    assert got.shape == wanted.shape
    assert np.array_equal(got, wanted)


def test_lists_that_are_no_arrays_are_refused_whatever_is_imported():
    importlib.import_module("numpy.ma")
    itself: list[object] = []
    itself.append(itself)
    deep: list[object] = [1.0]
    for _ in range(3000):
        deep = [deep]
    for x in (itself, deep):
        with pytest.raises(ArgumentError, match="x is a list that NumPy cannot make an array of"):
            f(x, Y, Z)


def test_looking_for_masks_takes_no_step_of_python_for_an_entry():
    assert np.ma  # where it is not imported, nothing is looked at
    rows, calls = [[1] * 6 for _ in range(20_000)], []
    sys.setprofile(lambda *event: calls.append(event[1]))
    has_masked_entries(rows)
    sys.setprofile(None)
    assert len(calls) < 60_000  # two a row; 240,000 where each entry is looked at by itself
