from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from synthetic import Counting, N, declare, make_all, misaligned, reference, states

from helpers.told import told
from kinetree.errors import ArgumentError, KinetreeError
from kinetree.runtime import Function, Option
from kinetree.validation import has_masked_entries

X, Y, Z = states()
XS, YS, ZS = states(4)
f = Counting(declare())
for optional in (), ("w",):
    f.warmup(optional=optional)

WRONG = {
    "short": (lambda: f(X[1:], Y, Z), r"mix: x has shape \(4,\), x has 5 entries: apples, pears; give it shape \(5,\)"),
    "column": (lambda: f(X[:, None], Y, Z), r"x has shape \(5, 1\).*x\.ravel\(\)"),
    "states as columns": (lambda: f(XS.T, Y, Z), r"x has shape \(5, 4\).*x\.T"),
    "flat batch": (lambda: f(np.zeros((1, 1, 5, 1)), Y, Z), r"x\.reshape\(\(5,\)\)"),
    "scalar": (lambda: f(1.0, Y, Z), "x is a scalar"),
    "None": (lambda: f(None, Y, Z), "x is None"),
    "complex": (lambda: f(X + 0j, Y, Z), "x has dtype complex128"),
    "bool": (lambda: f(X > 0, Y, Z), "x has dtype bool"),
    "object": (lambda: f(X.astype(object), Y, Z), "x has dtype object"),
    "big integers": (lambda: f([2**70] * N, Y, Z), "x has dtype object"),
    "strings": (lambda: f(["1"] * N, Y, Z), "x has dtype <U1"),
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
    "option": (lambda: f(X, Y, Z, sign="times"), "sign is 'times', it must be 'plus' or 'minus'"),
    "option of another type": (lambda: f(X, Y, Z, sign=np.zeros(2)), "sign is array"),
    "out shape": (lambda: f(XS, Y, Z, out=np.empty(N)), r"out has shape \(5,\), it must be .*\(4, 5\) and .* float64"),
    "out dtype": (lambda: f(X, Y, Z, out=np.empty(N, "f4")), "out has dtype float32.*only where all inputs are"),
    "out byte order": (lambda: f(X, Y, Z, out=np.empty(N, np.dtype("f8").newbyteorder())), "out has dtype"),
    "out read-only": (lambda: f(XS, Y, Z, out=np.broadcast_to(0.0, (4, N))), "out is read-only"),
    "out no array": (lambda: f(X, Y, Z, out=[0.0] * N), "out is a list"),
    "one integer beyond 64 bits": (lambda: f([2**64, 2.0, 3, 4, 5], Y, Z), "x has dtype"),
    "twice, then in order": (lambda: f(X, Y, y=Y, z=Z), "got y twice"),
    "a list in itself": (lambda: f(ITSELF, Y, Z), "x is a list that NumPy cannot make an array of"),
    "a deep list": (lambda: f(DEEP, Y, Z), "x is a list that NumPy cannot make an array of"),
    "an error of its own": (lambda: f(Stubborn(), Y, Z), r"Stubborn .*call detach\(\) first"),
}
ELSEWHERE = [
    (lambda: f.warmup(dtype="float16"), "dtype is 'float16'"),
    (lambda: f.warmup(optional=("u",)), "no argument 'u'"),
    (lambda: f.warmup(sign="times"), "sign is 'times'"),
    (lambda: f.warmup(sing="plus"), "did you mean 'sign'"),
    (lambda: choosy(X, Y, Z, sign="minsu"), "mix: no sign 'minsu', did you mean 'minus'"),
    (lambda: choosy(X, Y, Z, sign=3), "sign is 3, it must be 'plus' or 'minus' or 'frame0' or 'frame1' or …"),
    (lambda: g(V, out=np.empty(3)), "out must be a tuple of 3 arrays, for x, total, outer"),
    (lambda: g(V, out=(*OUTS[:2], np.empty(3))), r"out for outer has shape \(3,\)"),
    (lambda: g(V, out=(SHARED[:3], np.empty(()), SHARED[2:11].reshape(3, 3))), "the arrays of out overlap"),
    (lambda: g(V, out=(None, *OUTS[1:])), "out for x is a NoneType"),
]


ITSELF: list[object] = []
ITSELF.append(ITSELF)
DEEP: list[object] = [1.0]
for _ in range(3000):
    DEEP = [DEEP]
V, SHARED, OUTS = np.array([1.0, 2.0, 4.0]), np.empty(12), tuple(np.empty(shape) for shape in ((3,), (), (3, 3)))
PORTS = [(N,), (N,), (N,), (2, 3)]
g = Function(make_all())
choosy = Function(replace(declare(), options=(Option("sign", ("plus", "minus", *(f"frame{k}" for k in range(50)))),)))


class Stubborn:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("call detach() first")


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_call_says_what_is_wrong(case):
    call, message = WRONG[case]
    before = f.general_calls
    with pytest.raises(ArgumentError, match=message):
        call()
    assert f.general_calls == before + 1  # the glue leaves all of them to it


test_so_do_other_functions = told(ArgumentError, *ELSEWHERE)


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
        (("f4", "f4", "f4", "f4"), "f4"),
        (("f4", "f4", "f4", "f8"), "f8"),
    ],
)
def test_the_result_is_float32_only_where_all_inputs_are(lead, dtypes, result):
    whole = [*(np.rint(a) for a in states(*lead)), np.ones((2, 3))][: len(dtypes)]
    whole[1] = abs(whole[1])
    args = [a.tolist() if d is list else a.astype(d) for a, d in zip(whole, dtypes, strict=True)]
    got = f(*args)
    assert got.dtype == np.dtype(result)
    assert got.dtype.isnative
    assert np.array_equal(got, reference(*whole))


LAYOUTS = [
    *(lambda a: a, np.asfortranarray, misaligned, lambda a: a.astype(a.dtype.newbyteorder())),
    *(lambda a: np.repeat(a, 2, axis=0)[::2], lambda a: np.repeat(a, 3, axis=-1)[..., ::3]),
    *(lambda a: a[::-1].copy()[::-1], lambda a: np.broadcast_to(a[..., :1], a.shape)),
]


def _laid_out(draw, shape):
    """Draw an array of this shape that lies in memory in some odd way."""
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    return draw(st.sampled_from(LAYOUTS))(rng.integers(-64, 64, shape) / 8.0)


ODD = [None, 1.0, "abc", [], {}, [[1.0], [2.0, 3.0]], object(), np.zeros(()), np.ma.masked_all(N), b"x", ...]
ANY_DTYPE = ["f8", "f4", ">f8", "i4", "f2", "c16", "?", "O", "U3", "M8[s]"]
LEADS = hnp.mutually_broadcastable_shapes(num_shapes=4, max_dims=3, max_side=3, min_side=0)


@settings(max_examples=300, deadline=None)
@given(shapes=LEADS, data=st.data())
def test_any_call_is_right_or_refused(shapes, data):
    """Leading axes broadcast as in NumPy; where all is as it should be nothing is refused."""
    pick = data.draw(st.sampled_from(["right", "right", "odd"]))
    args = [_laid_out(data.draw, lead + port) for lead, port in zip(shapes.input_shapes, PORTS, strict=True)]
    kwargs = {}
    if pick == "odd":
        k = data.draw(st.integers(0, 3))
        array = np.rint(args[k])
        shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=3, max_side=6))
        others = [array.tolist(), array.astype(data.draw(st.sampled_from(ANY_DTYPE))), np.ones(shape)]
        args[k] = data.draw(st.sampled_from([*others, data.draw(st.sampled_from(ODD))]))
        args = args[: data.draw(st.sampled_from([3, 4, 2]))]
        if data.draw(st.integers(0, 4)) == 0:
            kwargs[data.draw(st.sampled_from(["x", "out", "sign", "nonsense"]))] = data.draw(st.sampled_from(ODD))
    try:
        got = f(*args, **kwargs)
    except KinetreeError:
        assert pick == "odd"
        return
    wanted = reference(*args)
    assert got.shape == wanted.shape
    assert np.array_equal(got, wanted)
    out = _laid_out(data.draw, got.shape)
    if out.flags.writeable and out.dtype.isnative:
        assert f(*args, out=out) is out
        assert np.array_equal(out, wanted)


def test_looking_for_masks_takes_no_step_of_python_for_an_entry():
    assert np.ma  # where it is not imported, nothing is looked at
    rows, calls = [[1] * 6 for _ in range(20_000)], []
    sys.setprofile(lambda *event: calls.append(event[1]))
    has_masked_entries(rows)
    sys.setprofile(None)
    assert len(calls) < 60_000  # two a row; 240,000 where each entry is looked at by itself
