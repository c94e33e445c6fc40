from __future__ import annotations

import contextlib
import gc
import inspect
import pickle
import sys

import numpy as np
import pytest
from synthetic import Counting, N, declare, reference, states, target_of

import kinetree as kt
from kinetree.errors import ArgumentError
from kinetree.glue import cpython as layout
from kinetree.graph import Port
from kinetree.joints import Revolute
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


WRONG = {
    "missing": (lambda f: f(V), "scaled needs frame=: one of frame_0, frame_1, .*frame_11"),
    "missing as None": (lambda f: f(V, frame=None), "scaled needs frame="),
    "missing for a batch": (lambda f: f([V, V]), "scaled needs frame="),
    "unknown": (lambda f: f(V, frame="frame_21"), "scaled: frame: no frame 'frame_21', did you mean 'frame_2'"),
    "no name": (lambda f: f(V, frame=3), "frame is 3, it must be the name of a frame"),
    "one string": (lambda f: f(V, frame="frame_1", parts="hip"), r"parts is one string: write parts=\['hip'\]"),
    "unknown part": (lambda f: f(V, frame="frame_1", parts=["hop"]), "no joint 'hop', did you mean 'hip'"),
    "refused part": (lambda f: f(V, frame="frame_1", parts=["hip", "toe"]), "'toe' follows 'knee': name that one"),
    "no sequence": (lambda f: f(V, frame="frame_1", parts=3), "parts is 3, it must be a sequence of names of joints"),
    "no names": (lambda f: f(V, frame="frame_1", parts=[1]), "parts has 1 in it, which is not a name of a joint"),
    "count": (lambda f: f.op_count, "scaled needs frame="),
    "warmup": (lambda f: f.warmup(), "scaled needs frame="),
    "listing": (lambda f: f.listing(frame="x"), "no frame 'x'"),
    "bind": (lambda f: f.bind(fram="frame_1"), "no option 'fram', did you mean 'frame'"),
    "bind a wrong one": (lambda f: f.bind(frame="rame_1"), "scaled: frame: no frame 'rame_1'"),
    "bound": (lambda f: f.bind(frame="frame_1")(V, frame="frame_2"), "frame is fixed to 'frame_1' by bind"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_option_says_what_is_wrong(case):
    call, message = WRONG[case]
    with pytest.raises(ArgumentError, match=message):
        call(scaled())


def test_the_signature_shows_what_is_required():
    assert str(inspect.signature(scaled())) == "(x, *, frame, parts=(), out=None)"


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


@glued
def test_a_value_is_known_by_its_address():
    f = scaled()
    f(V, frame="frame_1")
    f(V, frame="frame_2", parts=("hip",))
    before = f.general_calls
    out = np.empty(3)
    for _ in range(3):
        assert np.array_equal(f(V, frame="frame_1"), V)
        assert np.array_equal(f(V, frame="frame_1", parts=()), V)
        assert f(V, out=out, frame="frame_1") is out
        assert f(V, frame="frame_1", out=out) is out
        assert np.array_equal(out, V)
    assert f.general_calls == before  # there is only one empty tuple


@glued
def test_four_options_are_told_apart():
    x, values = Port("x", (3,)), FRAMES[:2]

    def evaluate(given, options):
        number = sum(2.0**k * values.index(options[name]) for k, name in enumerate("abcd"))
        return [[e + number for e in given["x"]]]

    options = tuple(Option(name, values) for name in "abcd")
    f = Counting(FunctionSpec("four", "", (x,), (Port("y", (3,)),), evaluate, lambda: b"four", options=options))
    chosen = [(k, {name: values[k >> j & 1] for j, name in enumerate("abcd")}) for k in (0, 1, 6, 8, 15)]
    for _, given in chosen:
        f(V, **given)
    before = f.general_calls
    for k, given in chosen:
        assert np.array_equal(f(V, **given), V + k)
        assert np.array_equal(f(V, **dict(reversed(given.items()))), V + k)
    assert np.array_equal(f(V), V)
    assert f.general_calls == before


@glued
def test_every_way_to_say_the_same_is_one_glue():
    f = Counting(declare())
    f(X, Y, Z, sign="minus")
    f(X, Y, Z)
    before = f.general_calls
    assert np.array_equal(f(X, Y, Z), reference(X, Y, Z))
    assert np.array_equal(f(X, Y, Z, sign="plus"), reference(X, Y, Z))
    assert np.array_equal(f(X, Y, Z, sign="minus"), reference(X, Y, Z, sign="minus"))
    assert np.array_equal(f(X, Y, Z, out=np.empty(N), sign="minus"), reference(X, Y, Z, sign="minus"))
    assert f.general_calls == before


@glued
@pytest.mark.parametrize("make", [tuple, list])
@pytest.mark.parametrize("names", [["hip", "left foot"], ["left foot", "hip", "hip"]])
def test_a_sequence_is_learned(make, names):
    f = scaled()
    f(V, frame="frame_1", parts=make(names))
    before = f.general_calls
    for other in (tuple, list):
        assert np.array_equal(f(V, frame="frame_1", parts=other(names)), V + 5)
    assert f.general_calls == before


@glued
def test_a_string_that_is_not_interned_is_known():
    f = scaled()
    f(V, frame="frame_1")
    before = f.general_calls
    name = "".join(["frame", "_1"])
    assert name is not sys.intern("frame_1")
    assert np.array_equal(f(V, frame=name), V)
    assert np.array_equal(f(V, **{"".join(["fra", "me"]): name}), V)
    assert f.general_calls == before


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


@glued
def test_all_variants_are_in_the_glue():
    f = scaled()
    for name in FRAMES:
        f(V, frame=name)
    before = f.general_calls
    for _ in range(2):
        for k, name in enumerate(FRAMES):
            assert np.array_equal(f(V, frame=name), k * V)
            assert np.array_equal(f(x=list(V), frame=name), k * V)
    assert f.general_calls == before


class Str(str):
    __slots__ = ()


class Hostile(str):
    """Equal to everything, and does not like to be asked."""

    def __eq__(self, other):
        raise RuntimeError

    def __hash__(self):
        raise RuntimeError


@glued
@pytest.mark.parametrize("make", [lambda: [Str("hip")], lambda: (Str("hip"),), lambda: {"hip"}, lambda: iter(["hip"])])
def test_other_sequences_are_left_to_the_general_path(make):
    f = scaled()
    f(V, frame="frame_1", parts=["hip"])
    before = f.general_calls
    assert np.array_equal(f(V, frame="frame_1", parts=make()), V + 1)
    assert f.general_calls == before + 1


@glued
@pytest.mark.parametrize("parts", [[["hip"]], [Hostile("hip")], (Hostile("hip"),), [None], [1, 2], ([],), {}.keys()])
def test_what_is_no_sequence_of_names_raises_no_other_error(parts):
    f = scaled()
    f(V, frame="frame_1", parts=["hip"])
    with contextlib.suppress(ArgumentError, RuntimeError):  # the general path's, or the object's own
        f(V, frame="frame_1", parts=parts)
    assert np.array_equal(f(V, frame="frame_1", parts=["hip"]), V + 1)


@glued
def test_wrong_keywords_never_pass_the_glue():
    f = scaled()
    f(V, frame="frame_1")
    for kwargs in ({}, {"parts": ()}, {"fram": "frame_1"}, {"frame": "frame_1", "x": V}, {"frame": "parts"}):
        with pytest.raises(ArgumentError):
            f(V, **kwargs)


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


def test_bound_functions_are_kept():
    f = scaled()
    assert f.bind(frame="frame_1") is f.bind(frame="frame_1")
    assert f.bind(parts=["hip", "knee"]) is f.bind(parts=("knee", "hip"))
    assert f.bind(frame="frame_1") is not f.bind(frame="frame_2")
    assert f.bind() is f


def test_a_bound_function_pickles():
    g = pickle.loads(pickle.dumps(scaled().bind(frame="frame_3", parts=["hip"])))
    assert np.array_equal(g(V), 3 * V + 1)


def test_a_bound_function_shares_the_cache(own_cache):
    f = scaled()
    f(V, frame="frame_3")
    files = set(own_cache.iterdir())
    f.bind(frame="frame_3")(V)
    assert set(own_cache.iterdir()) == files


# -- of robots ----------------------------------------------------------------------------------------------------


def gripper():
    b = kt.ModelBuilder(name="gripper")
    b.add_link("base")
    for name, parent in (("arm", "base"), ("left", "arm"), ("right", "arm")):
        b.add_link(name, inertia=kt.Inertia.from_com(1.0, [0.1, 0, 0], np.eye(3).tolist()))
        mimic = {"mimic": ("left_joint", -1.0, 0.0)} if name == "right" else {}
        b.add_joint(f"{name}_joint", parent=parent, child=name, joint=Revolute((0, 0, 1)), **mimic)
    return kt.Robot(b.build())


def test_frames_and_joints_of_a_robot():
    robot = gripper()
    q = np.array([0.3, -0.2])
    with pytest.raises(ArgumentError, match="frame_placement needs frame=: one of base, arm, left, right"):
        robot.frame_placement(q)
    with pytest.raises(ArgumentError, match="no frame 'arn', did you mean 'arm'"):
        robot.frame_placement(q, frame="arn")
    assert np.allclose(robot.frame_placement(q, frame="arm")[0, 0], np.cos(0.3))
    with pytest.raises(ArgumentError, match="'right_joint' follows 'left_joint': name that one"):
        robot.hybrid_dynamics(q, q, q, q, prescribed=["right_joint"])
    result = robot.hybrid_dynamics(q, q, q, q, prescribed=["left_joint"])
    assert result.a[1] == q[1]
    assert result.tau[0] == q[0]
