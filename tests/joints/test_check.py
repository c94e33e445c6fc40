"""`kinetree.joints.check`: every built-in joint passes, and each kind of mistake is told; joints that users define."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy

import kinetree as kt
from helpers.dense import assert_close
from helpers.joints import EXAMPLES
from helpers.trees import toy
from kinetree.functions.of_robot import identity
from kinetree.joints import Joint, JointState, Mimic, Planar, Revolute, Spherical, _laws, check
from kinetree.spatial import Force, Inertia, Motion, Transform, cos, select, sin, sqrt
from kinetree.spatial.vector import ZERO, Sym3, Vec3

every = pytest.mark.parametrize("joint", [joint for row in EXAMPLES.values() for joint in row], ids=repr)


@every
def test_the_joints_of_the_library_pass(joint: Joint) -> None:
    check(joint)


@dataclass(frozen=True)
class Slot(Joint):
    """The joint of docs/joints.md: right, and the base of the wrong ones below."""

    a: float = 0.3
    b: float = 0.2
    nq, nv = 1, 1

    def jcalc(self, q: Any, v: Any) -> JointState:
        c, s = cos(q[0]), sin(q[0])
        S = Motion.of((0.0, 0.0, 0.0, -self.a * s, self.b * c, 0.0))
        bias = Motion.of((0.0, 0.0, 0.0, -self.a * c, -self.b * s, 0.0)) * (v[0] * v[0])
        return JointState(Transform.translation((self.a * c, self.b * s, 0.0)), (S,), S * v[0], bias)

    def constraint_subspace(self, q: Any) -> tuple[Force, ...]:
        moments = [Force.of(float(j == k) for j in range(6)) for k in (0, 1, 2, 5)]
        return (*moments, Force.of((0.0, 0.0, 0.0, self.b * cos(q[0]), self.a * sin(q[0]), 0.0)))


@dataclass(frozen=True)
class SlotInOtherUnits(Slot):
    """The same, with columns of T of very different lengths."""

    def constraint_subspace(self, q: Any) -> tuple[Force, ...]:
        first, *others = super().constraint_subspace(q)
        return (first * 1e-12, *others)


@pytest.mark.parametrize("joint", [SlotInOtherUnits(), Mimic(Slot(), 2.0, 0.3)])
def test_columns_may_have_any_length_and_depend_on_a_leader(joint: Joint) -> None:
    check(joint)


def state(**parts: Any) -> dict[str, Any]:
    """Return a jcalc with other parts of the state, as they are or as functions of q and v."""

    def jcalc(self: Any, q: Any, v: Any) -> JointState:
        made = {name: part(self, q, v) if callable(part) else part for name, part in parts.items()}
        return dataclasses.replace(Slot.jcalc(self, q, v), **made)

    return {"jcalc": jcalc}


def seedless(self: Any, rng: Any, lower: Any = None, upper: Any = None, size: Any = ()) -> Any:
    return np.random.default_rng().uniform(size=(*size, 1))


def limitless(self: Any, rng: Any, lower: Any = None, upper: Any = None, size: Any = ()) -> Any:
    return rng.uniform(size=(*size, 1))


def forces(*which: int) -> tuple[Force, ...]:
    return tuple(Force.of(float(j == k) for j in range(6)) for k in which)


def place(x: Any, y: Any = 0.0) -> Transform:
    return Transform.translation((x, y, 0.0))


MINE = {"jcalc": Slot.jcalc, "constraint_subspace": Slot.constraint_subspace}
OWN, Y, Z = Slot.constraint_subspace, Motion.of((0, 0, 0, 0, 1, 0)), Motion.of((0, 0, 0, 0, 0, 1))
SKEWED = Transform.placed([[1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], (0.0, 0.0, 0.0))
SPIN = Inertia.about_origin(0.0, ZERO, Sym3(0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
A_TUPLE = r".*it must be a tuple of nv = 1 Motions, as \(S,\)"
UNCHECKED, BRANCHES = "the law '.*' could not be checked, ", "branches on its arguments"
MISTAKES: list[tuple[type[Joint], dict[str, Any], str]] = [
    (Joint, MINE, "it has no nq: write how"),
    (Slot, {"nq": 2}, "nq = 2 and nv = 1 differ: it needs a method integrate"),
    (Slot, {"q_names": ("x", "y")}, "q_names has 2 names for the 1 entries of q"),
    (Slot, {"neutral": lambda self: (0.0, 0.0)}, r"neutral\(\) is \(0.0, 0.0\): it must be nq = 1"),
    (Slot, {"jcalc": lambda self, q, v: None}, "jcalc returns a NoneType: it must be JointState"),
    (Slot, state(S=Z), rf"S is Motion\({A_TUPLE}"),
    (Slot, state(S=(Z, Y)), rf"S is \(Motion\({A_TUPLE}"),
    (Slot, state(S=forces(5)), rf"S is \(Force\({A_TUPLE}"),
    (
        Slot,
        {"constraint_subspace": lambda self, q: OWN(self, q)[:4]},
        "returns 4 columns: it must be 6 − nv = 5 Forces",
    ),
    (Slot, {"integrate": lambda self, q, dv: [q[0], dv[0]]}, "integrate returns 2 numbers"),
    (Slot, state(X=lambda self, q, v: place(sqrt(0.1 - q[0] * q[0]))), f"{UNCHECKED}ValueError: .* set span in the cl"),
    (Slot, state(cJ=Motion.zero() * math.nan), "jcalc gives inf or NaN at q = .* set span in the class"),
    (Slot, state(X=SKEWED), "X has no rotation: at q = .* its matrix E is"),
    (Slot, state(vJ=Z), r"vJ is not S ν: at q = .*, ν = .* vJ = \(0, 0, 0, 0, 0, 1\) and S ν = .*; mend S or vJ"),
    (
        Slot,
        state(X=lambda self, q, v: place(self.a * cos(q[0]), -self.b * sin(q[0]))),
        r"S is not the rate of X: .* X moves at \(ω, v\) = .* mend S or X in jcalc$",
    ),
    (Slot, {"integrate": lambda self, q, dv: [q[0] - dv[0]]}, "S is not the rate of X: .* X in jcalc, or integrate$"),
    (Slot, state(cJ=Motion.zero()), "cJ is not the rate of S times ν: .* mend"),
    (
        Slot,
        {"constraint_subspace": lambda self, q: forces(0, 1, 2, 3, 5)},
        "force does work: .* column 3 of T times co",
    ),
    (
        Slot,
        {"constraint_subspace": lambda self, q: (*OWN(self, q)[:4], OWN(self, q)[3])},
        "S and T do not span all six dimensions: .* mend constraint_sub",
    ),
    (
        Slot,
        {"difference": lambda self, q0, q1: [q0[0] - q1[0]]},
        r"difference does not undo integrate: difference\(q, integrate\(q, d\)\) = .* mend difference or integrate",
    ),
    (Slot, {"bracket": lambda self, a, b: []}, "bracket returns 0 numbers: it must be 1"),
    (Slot, {"random": lambda self, rng, *_, size=(): rng.uniform(size=size)}, r"random.* has shape"),
    (Slot, {"random": seedless}, "draw all from rng"),
    (Slot, {"random": limitless}, "random leaves the limits 0.1 … 0.2: it gives"),
    (Slot, {"inertia_for_parent": lambda self, x: x}, "inertia_for_parent is not invariant: .* return Inertia.zero"),
    (Revolute, {"inertia_for_parent": lambda self, x: SPIN}, "inertia_for_parent has momentum along S"),
    (
        Slot,
        {"jcalc": lambda self, q, v: Slot.jcalc(self, q if q[0] > 0 else [1.0 * q[0]], v)},
        rf"jcalc {BRANCHES} .*choose with kinetree\.spatial\.select\(q\[0\] > 0, a, b\)",
    ),
    (Slot, {"constraint_subspace": lambda self, q: OWN(self, [max(q[0], -1e3)])}, f"constraint_subspace {BRANCHES}"),
    (
        Slot,
        {"difference": lambda self, q0, q1: [q1[0] - q0[0] if q0[0] < q1[0] else -(q0[0] - q1[0])]},
        f"difference {BRANCHES}",
    ),
    (
        Slot,
        {"jcalc": lambda self, q, v: Slot.jcalc(self, [float(q[0])], v)},
        f"{UNCHECKED}TypeError: .* use arithmetic and the functions of kinetree.spatial",
    ),
]


@pytest.mark.parametrize(("base", "members", "message"), MISTAKES, ids=[message for *_, message in MISTAKES])
def test_each_mistake_is_told(base: type[Joint], members: dict[str, Any], message: str) -> None:
    joint = dataclass(frozen=True)(type("Mine", (base,), members))()
    with pytest.raises(kt.ModelError, match=f"^Mine: .*{message}"):
        check(joint)
    builder = kt.ModelBuilder()
    with pytest.raises(kt.ModelError, match=f"^joint 'slot': Mine: .*{message}"):
        builder.add_joint("slot", parent="base", child="pin", joint=joint)


def test_values_may_be_chosen() -> None:
    """By `select` in all comparisons, of all scalars; where `np.array` takes no arrays, that is not a mistake."""

    @dataclass(frozen=True)
    class Mine(Slot):
        def jcalc(self, q: Any, v: Any) -> JointState:
            above = [select(c, q[0], 2.0) for c in (q[0] > -9.0, q[0] >= -9.0, q[0] < 9.0, q[0] <= 9.0)]
            return super().jcalc([sum(above) * 0.25], np.array([v[0], 0.0])[:1])

    robot = kt.Robot(toy(("slot base pin", Mine())))
    q = robot.frame_placement([0.7], frame="pin")[:2, 3]
    np.testing.assert_allclose(q, [0.3 * np.cos(0.7), 0.2 * np.sin(0.7)], rtol=1e-15)


def test_a_pose_that_difference_does_not_lead_to() -> None:
    """Of a quaternion joint whose difference is right for small steps only."""

    @dataclass(frozen=True)
    class Mine(Spherical):
        def difference(self, q0: Any, q1: Any) -> list[Any]:
            w = Vec3(*super().difference(q0, q1))
            return [*(w * (1.0 if float(w.dot(w)) < 0.5 else 0.9))]

    with pytest.raises(kt.ModelError, match=r"integrate\(q0, difference\(q0, q1\)\) has not the pose of q1"):
        check(Mine())


def test_a_group_without_its_bracket() -> None:
    """A quaternion joint that does not say that its rotations do not commute, or says it of the other axes."""

    @dataclass(frozen=True)
    class Mine(Spherical):
        def bracket(self, a: Any, b: Any) -> list[Any]:
            return Joint.bracket(self, a, b)

    @dataclass(frozen=True)
    class FromTheParent(Planar):
        def bracket(self, a: Any, b: Any) -> list[Any]:
            return super().bracket(b, a)

    with pytest.raises(
        kt.ModelError, match=r"Mine: bracket is not that of integrate: \[a, b\] = \(0, 0, 0\) .*give it"
    ):
        check(Mine())
    with pytest.raises(kt.ModelError, match=r"FromTheParent: bracket is not that of integrate"):
        check(FromTheParent())


def test_a_step_that_is_no_exponential() -> None:
    """Right for small steps: the translation is not turned on the way."""

    @dataclass(frozen=True)
    class Mine(Planar):
        def integrate(self, q: Any, dv: Any) -> list[Any]:
            c, s = cos(q[2]), sin(q[2])
            return [q[0] + c * dv[1] - s * dv[2], q[1] + s * dv[1] + c * dv[2], q[2] + dv[0]]

        def difference(self, q0: Any, q1: Any) -> list[Any]:
            c, s = cos(q0[2]), sin(q0[2])
            dx, dy = q1[0] - q0[0], q1[1] - q0[1]
            return [q1[2] - q0[2], c * dx + s * dy, c * dy - s * dx]

    with pytest.raises(kt.ModelError, match=r"integrate does not hold the velocity: .* by d/2 twice; mend integrate"):
        check(Mine())


def test_what_is_no_value() -> None:
    class Plain(Slot.__mro__[1]):  # type: ignore[misc]
        nq, nv = 1, 1
        jcalc, constraint_subspace = Slot.jcalc, Slot.constraint_subspace

    @dataclass
    class Changing(Joint):
        nq, nv = 1, 1
        jcalc, constraint_subspace = Slot.jcalc, Slot.constraint_subspace

    with pytest.raises(
        kt.ModelError, match=r"Plain is not a dataclass: write @dataclass\(frozen=True\) above `class Pl"
    ):
        check(Plain())
    with pytest.raises(kt.ModelError, match=r"Changing is a dataclass that can change.*@dataclass\(frozen=True\)"):
        check(Changing())
    with pytest.raises(kt.ModelError, match="check takes a joint"):
        check(Slot)  # type: ignore[arg-type]


def test_once_for_each_choice_of_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    checked = []
    monkeypatch.setattr(_laws, "check", checked.append)

    @dataclass(frozen=True)
    class Mine(Slot):
        pass

    for joint in (Mine(), Mine(), Mine(0.5), Mine(0.5), Mimic(Mine(0.7)), Revolute((0, 1, 0)), Mine(sympy.Symbol("a"))):
        kt.ModelBuilder().add_joint("slot", parent="base", child="pin", joint=joint)
    assert checked == [Mine(), Mine(0.5), Mine(0.7)]


@pytest.fixture(scope="module")
def slot() -> type[Joint]:
    """The class as the page defines it."""
    text = (Path(__file__).parents[2] / "docs" / "joints.md").read_text(encoding="utf-8")
    block = text[text.index(">>> from dataclasses") : text.index("```", text.index(">>> from dataclasses"))]
    names: dict[str, object] = {}
    exec("\n".join(line[4:] for line in block.splitlines()), names)  # the page's own code
    return names["EllipticSlot"]  # type: ignore[return-value]


def robot(joint: Joint) -> kt.Robot:
    links = dict.fromkeys(("pin", "arm"), kt.Inertia.from_com(2.0, (0.1, 0.2, 0.3), np.diag([0.1, 0.2, 0.15])))
    return kt.Robot(toy(("slot base pin", joint), ("elbow pin arm", Revolute((0, 1, 1))), links=links))


def test_everything_works_with_it(slot: type[Joint]) -> None:
    r = robot(slot(0.3, 0.2))
    q, v, a = r.random_state(0, 5)
    tau = r.inverse_dynamics(q, v, a)
    assert_close(r.forward_dynamics(q, v, tau), a, ulps=2000)
    C, h, g = r.coriolis_matrix(q, v), r.bias_forces(q, v), r.gravity_forces(q)
    assert_close(np.einsum("nij,nj->ni", C, v), h - g, ulps=500)
    step = 1e-6
    M_dot = (r.mass_matrix(q + step * v) - r.mass_matrix(q - step * v)) / (2 * step)
    skew = M_dot - 2 * C
    np.testing.assert_allclose(skew, -np.swapaxes(skew, -1, -2), atol=1e-8)  # central differences
    J_dot = (r.jacobian(q + step * v, frame="arm") - r.jacobian(q - step * v, frame="arm")) / (2 * step)
    np.testing.assert_allclose(J_dot, r.jacobian_rate(q, v, frame="arm"), atol=1e-8)


def test_the_cache_knows_a_joint_by_what_it_does_wherever_its_code_is() -> None:
    """A base class, a helper or a constant may change while the class's own source does not."""

    class Geared(Revolute):
        ratio = 1.5

        def jcalc(self, q, v):  # type: ignore[no-untyped-def]
            state = Revolute.jcalc(self, [q[0] * self.ratio], [v[0] * self.ratio])
            return replace(state, S=(state.S[0] * self.ratio,))

    @dataclass(frozen=True)
    class Mine(Geared):
        pass

    model = robot(Mine((0, 0, 1))).model
    before = identity(model)
    assert identity(robot(Mine((0, 0, 1))).model) == before
    Geared.ratio = 1.7
    assert identity(model) != before
    assert math.isfinite(float(kt.Robot(model).gravity_forces([0.1, 0.2])[0]))


def test_the_cache_knows_the_difference_of_a_joint_and_a_joint_that_mimics() -> None:
    class Counted(Revolute):
        turns = 1.0

        def difference(self, q0, q1):  # type: ignore[no-untyped-def]
            return [(q1[0] - q0[0]) * self.turns]

        def jcalc(self, q, v):  # type: ignore[no-untyped-def]
            state = Revolute.jcalc(self, [q[0] * self.turns], [v[0] * self.turns])
            return replace(state, S=(state.S[0] * self.turns,))

    @dataclass(frozen=True)
    class OnlyDifference(Revolute):
        turns = 1.0
        difference = Counted.difference

    @dataclass(frozen=True)
    class Mine(Counted):
        pass

    follower = "follower one two", Mine(), {"mimic": ("leader", 0.5, 0.0)}
    differing, mimicking = robot(OnlyDifference()).model, toy(("leader base one", Revolute()), follower)
    before = identity(differing), identity(mimicking)
    OnlyDifference.turns = Counted.turns = 2.0
    assert identity(differing) != before[0]
    assert identity(mimicking) != before[1]


def test_parameters_that_are_no_fields_are_refused() -> None:
    class Plain(Joint):
        nq, nv = 1, 1
        jcalc, constraint_subspace = Revolute.jcalc, Revolute.constraint_subspace

    class Geared(Revolute):
        def __init__(self, ratio: float) -> None:
            super().__init__((0, 0, 1))
            object.__setattr__(self, "ratio", ratio)

    class Renamed(Revolute):
        @cached_property
        def computed(self) -> float:
            return 2.0

    for joint, what in ((Plain(), "Plain is not a dataclass"), (Geared(2.0), "ratio is not a field")):
        with pytest.raises(kt.ModelError, match=rf"joint 'slot': .*{what}.*@dataclass\(frozen=True\)"):
            robot(joint)
    joint = Renamed((0, 0, 1))
    assert joint.computed == 2.0
    assert robot(joint).nq == 2
