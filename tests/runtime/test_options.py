from __future__ import annotations

import functools
import gc
import inspect
import pickle

import numpy as np
import pytest
from synthetic import Counting, N, declare, outcome, states, target_of

from helpers.told import told
from kinetree.errors import ArgumentError
from kinetree.glue import cpython as layout
from kinetree.graph import Port
from kinetree.runtime import Function, FunctionSpec
from kinetree.runtime.kernels import OptionCodes
from kinetree.runtime.options import Names, OneName, Option

X, Y, Z = states()
glued = pytest.mark.skipif(layout.find() is None, reason="no glue for this Python")
FRAMES = tuple(f"frame_{k}" for k in range(12))
PARTS = ("hip", "knee", "left foot")


def declaration(needed: bool = True, reduce: object = None) -> FunctionSpec:
    """Return x scaled by the number of the frame, plus the parts as bits."""
    x = Port("x", (3,))

    def evaluate(given, options):
        scale = float(FRAMES.index(options["frame"])) if options["frame"] is not None else 100.0
        shift = float(sum(2**k for k, part in enumerate(PARTS) if part in options["parts"]))
        assert type(options["parts"]) is tuple
        return [[e * scale + shift for e in given["x"]]]

    return FunctionSpec(
        name="scaled",
        doc="",
        inputs=(x,),
        outputs=(Port("y", (3,)),),
        evaluate=evaluate,
        identity=lambda: b"scaled",
        options=(
            OneName("frame", FRAMES, "frame", needed),
            Names("parts", PARTS, "joint", refused={"toe": "'toe' follows 'knee': name that one"}),
        ),
        reduce=reduce,
    )


def scaled() -> Counting:
    return Counting(declaration(reduce=lambda: (scaled, ())))


V = np.array([1.0, 2.0, 3.0])


def test_the_program_depends_on_the_values():
    f = scaled()
    for k in (0, 3, 11):
        assert np.array_equal(f(V, frame=f"frame_{k}"), k * V)
        assert np.array_equal(f([V, V], frame=f"frame_{k}"), [k * V, k * V])
        assert np.array_equal(f(V, frame=f"frame_{k}", parts=["knee"]), k * V + 2)
    assert np.array_equal(f(V, frame="frame_1", parts=("left foot", "hip", "hip")), V + 5)


def test_the_order_and_the_number_of_names_make_no_difference():
    f = scaled()
    f(V, frame="frame_1", parts=["hip", "knee"])
    f(V, frame="frame_1", parts=("knee", "hip", "knee"))
    f(V, parts={"knee": 1, "hip": 2}, frame="frame_1")
    f(V, frame="frame_1", parts=iter(["hip", "knee"]))
    assert len(f._kernels.singles) == 1


def test_a_name_that_is_not_required():
    f = Function(declaration(needed=False))
    assert np.array_equal(f(V), 100 * V)
    assert np.array_equal(f(V, frame=None), 100 * V)
    assert np.array_equal(f(V, frame="frame_2"), 2 * V)
    assert f.op_count
    assert str(inspect.signature(f)) == "(x, *, frame=None, parts=(), out=None)"
    assert str(inspect.signature(scaled())) == "(x, *, frame, parts=(), out=None)"


WRONG = {
    "missing": (lambda f: f(V), "scaled needs frame=: one of frame_0, frame_1, .*frame_11"),
    "missing for a batch": (lambda f: f([V, V]), "scaled needs frame="),
    "unknown": (lambda f: f(V, frame="frame_21"), "scaled: frame: no frame 'frame_21', did you mean 'frame_2'"),
    "no name": (lambda f: f(V, frame=3), "frame is 3, it must be the name of a frame"),
    "one string": (lambda f: f(V, frame="frame_1", parts="hip"), r"parts is one string: write parts=\['hip'\]"),
    "unknown part": (lambda f: f(V, frame="frame_1", parts=["hop"]), "no joint 'hop', did you mean 'hip'"),
    "refused part": (lambda f: f(V, frame="frame_1", parts=["hip", "toe"]), "'toe' follows 'knee': name that one"),
    "no sequence": (lambda f: f(V, frame="frame_1", parts=3), "parts is 3, it must be a sequence of names of joints"),
    "no names": (lambda f: f(V, frame="frame_1", parts=[1]), "parts has 1 in it, which is not a name of a joint"),
    "bind": (lambda f: f.bind(fram="frame_1"), "no option 'fram', did you mean 'frame'"),
    "bound": (lambda f: f.bind(frame="frame_1")(V, frame="frame_2"), "frame is fixed to 'frame_1' by bind"),
}


test_a_wrong_option_says_what_is_wrong = told(ArgumentError, *WRONG.values(), of=lambda call: call(scaled()))


def test_warmup_and_listing_take_options():
    f = scaled()
    f.warmup(frame="frame_3", parts=["knee"])
    assert (len(f._kernels.singles), len(f._kernels.batches)) == (1, 1)
    before = len(f._kernels._programs)
    assert np.array_equal(f(V, frame="frame_3", parts=["knee"]), 3 * V + 2)
    assert len(f._kernels._programs) == before
    assert f.listing(frame="frame_3", parts=["knee"]).startswith("@1 = ")
    assert f.bind(frame="frame_1").op_count == {}
    assert f.bind(frame="frame_3").op_count == {"mul": 3}


# -- what the glue takes ------------------------------------------------------------------------------------------


def four() -> Counting:
    """Return a function of four options, which adds their number."""

    def evaluate(given, options):
        number = sum(2.0**k * FRAMES.index(options[name]) for k, name in enumerate("abcd"))
        return [[e + number for e in given["x"]]]

    options = tuple(Option(name, FRAMES[:2]) for name in "abcd")
    ports = (Port("x", (3,)),), (Port("y", (3,)),)
    return Counting(FunctionSpec("four", "", *ports, evaluate, lambda: b"four", options=options))


class Str(str):
    __slots__ = ()


class Hostile(str):
    """Equal to everything, and does not like to be asked."""

    def __eq__(self, other):
        raise RuntimeError

    def __hash__(self):
        raise RuntimeError


def chosen(reverse=False):
    for k in (0, 1, 6, 8, 15):
        given = {name: FRAMES[k >> j & 1] for j, name in enumerate("abcd")}
        given = dict(reversed(given.items())) if reverse else given
        yield lambda f, given=given: f(V, **given)


def with_parts(*parts):
    return [lambda f, given=given: f(V, frame="frame_1", parts=given) for given in parts]


def not_interned(name):
    return "".join([name[:3], name[3:]])


FRAME_1 = with_parts(())
KNOWN = {
    "by its address": (
        scaled,
        [*FRAME_1, lambda f: f(V, frame="frame_2", parts=("hip",))],
        [
            *FRAME_1,  # there is only one empty tuple
            lambda f: f(V, frame="frame_1"),
            lambda f: f(V, out=np.empty(3), frame="frame_1"),
            lambda f: f(V, frame="frame_1", out=np.empty(3)),
        ],
    ),
    "four options": (four, [*chosen()], [*chosen(), *chosen(reverse=True), lambda f: f(V)]),
    "as the default": (
        lambda: Counting(declare()),
        [lambda f: f(X, Y, Z, sign="minus"), lambda f: f(X, Y, Z)],
        [
            lambda f: f(X, Y, Z),
            lambda f: f(X, Y, Z, sign="plus"),
            lambda f: f(X, Y, Z, sign="minus"),
            lambda f: f(X, Y, Z, out=np.empty(N), sign="minus"),
        ],
    ),
    "not interned": (
        scaled,
        FRAME_1,
        [
            lambda f: f(V, frame=not_interned("frame_1")),
            lambda f: f(V, **{not_interned("frame"): not_interned("frame_1")}),
        ],
    ),
    "all variants": (
        scaled,
        [lambda f, name=name: f(V, frame=name) for name in FRAMES],
        [call for name in FRAMES for call in (lambda f: f(V, frame=name), lambda f: f(x=list(V), frame=name))],  # noqa: B023
    ),
    **{
        f"{make.__name__} {names}": (
            scaled,
            with_parts(make(names)),
            [lambda f, other=other, names=names: f(V, frame="frame_1", parts=other(names)) for other in (tuple, list)],
        )
        for make in (tuple, list)
        for names in (["hip", "left foot"], ["left foot", "hip", "hip"])
    },
}
PARTS_LEFT = [lambda: [Str("hip")], lambda: (Str("hip"),), lambda: {"hip"}, lambda: iter(["hip"])]
PARTS_LEFT += [lambda: [["hip"]], lambda: [Hostile("hip")], lambda: (Hostile("hip"),), lambda: [None], lambda: [1, 2]]
PARTS_LEFT += [lambda: ([],), lambda: {}.keys()]
LEFT = [lambda f, make=make: f(V, frame="frame_1", parts=make()) for make in PARTS_LEFT]
for kwargs in ({}, {"parts": ()}, {"fram": "frame_1"}, {"frame": "frame_1", "x": V}, {"frame": "parts"}):
    LEFT.append(lambda f, kwargs=kwargs: f(V, **kwargs))


@glued
@pytest.mark.parametrize("case", KNOWN)
def test_a_value_that_was_given_is_known(case):
    make, learned, calls = KNOWN[case]
    f = make()
    for call in learned:
        call(f)
    before = f.general_calls
    for call in calls:
        assert outcome(call, f) == outcome(call, functools.partial(Function._general, make()))
    assert f.general_calls == before


@glued
@pytest.mark.parametrize("call", LEFT)
def test_other_values_are_left_to_the_general_path(call):
    f = scaled()
    f(V, frame="frame_1", parts=["hip"])
    before = f.general_calls
    assert outcome(call, f) == outcome(call, functools.partial(Function._general, scaled()))
    assert f.general_calls == before + 1
    assert np.array_equal(f(V, frame="frame_1", parts=["hip"]), V + 1)


@glued
def test_only_so_much_is_learned_and_it_is_kept_alive(monkeypatch):
    monkeypatch.setattr(OptionCodes, "MOST", 4)
    f = scaled()
    spellings = [("hip",) * k for k in range(1, 20)]
    for parts in spellings:
        assert np.array_equal(f(V, frame="frame_1", parts=parts), V + 1)
    before = f.general_calls
    for parts in spellings[:3]:
        f(V, frame="frame_1", parts=parts)
    assert f.general_calls == before
    f(V, frame="frame_1", parts=spellings[-1])
    assert f.general_calls == before + 1
    del spellings, parts
    gc.collect()
    for k in range(50):  # new tuples where the old ones would have been
        parts = tuple(["knee"] * (k % 7 + 1))
        assert np.array_equal(f(V, frame="frame_1", parts=parts), V + 2)


# -- bind ---------------------------------------------------------------------------------------------------------


@glued
def test_a_bound_function_is_all_glue():
    f = scaled()
    g = f.bind(frame="frame_2")
    assert np.array_equal(g(V), 2 * V)
    assert type(target_of(g)).__name__ == "builtin_function_or_method"
    assert np.array_equal(g([V, V]), [2 * V, 2 * V])
    assert np.array_equal(g(V, parts=["knee"]), 2 * V + 2)
    assert np.array_equal(g.bind(parts=["knee"])(V), 2 * V + 2)
    assert str(inspect.signature(g)) == "(x, *, parts=(), out=None)"
    assert "frame" not in repr(g)


def test_bound_functions_are_kept_pickled_and_share_the_cache(own_cache):
    f = scaled()
    assert f.bind(frame="frame_1") is f.bind(frame="frame_1")
    assert f.bind(parts=["hip", "knee"]) is f.bind(parts=("knee", "hip"))
    assert f.bind(frame="frame_1") is not f.bind(frame="frame_2")
    assert f.bind() is f
    again = pickle.loads(pickle.dumps(f.bind(frame="frame_3", parts=["hip"])))
    assert np.array_equal(again(V), 3 * V + 1)
    f(V, frame="frame_3")
    files = set(own_cache.iterdir())
    f.bind(frame="frame_3")(V)
    assert set(own_cache.iterdir()) == files
