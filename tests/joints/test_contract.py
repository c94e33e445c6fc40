"""What `joints.check` leaves open of the laws in `Joint`'s docstring, for every type in the registry; and axes."""

from __future__ import annotations

import ast
import dataclasses
import math
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy
from scipy.linalg import expm

from helpers import dense
from helpers.dense import EPS, assert_close
from helpers.joints import EXAMPLES
from kinetree import joints
from kinetree.errors import ModelError
from kinetree.joints import Continuous, Helical, Joint, Mimic, Prismatic, Revolute, RollPitchYaw, Universal
from kinetree.joints._parts import perpendicular
from kinetree.spatial import AxisRotation, GeneralRotation

every = pytest.mark.parametrize(
    "joint", [pytest.param(j, id=f"{name}-{k}") for name, row in EXAMPLES.items() for k, j in enumerate(row)]
)


def sample(joint: Joint, seed: int = 0) -> tuple[list[float], list[float]]:
    rng = np.random.default_rng(seed)
    return joint.random(rng).tolist(), rng.normal(size=joint.nv).tolist()


def scaled(d: list[float], length: float) -> list[float]:
    """Return d with its angular part (or all of it, if it has none) of this length."""
    part = d[:3] if len(d) > 3 else d
    return [x * length / math.hypot(*part) for x in d]


def pose(joint: Joint, q: list[float]) -> np.ndarray:
    return dense.of_transform(joint.jcalc(q, [0.0] * joint.nv).X)


def test_every_registered_type_has_examples() -> None:
    ours = {name for name, cls in Joint.registry.items() if cls.__module__.startswith("kinetree.")}
    assert ours == set(EXAMPLES)
    assert all(type(joint).__name__ == name for name, row in EXAMPLES.items() for joint in row)


def test_the_package_exports_every_joint_of_its_folder() -> None:
    ours = {name for name, cls in Joint.registry.items() if cls.__module__.startswith("kinetree.")}
    assert set(joints.__all__) == ours | {"Joint", "JointState", "check"}
    assert all(getattr(joints, name) is Joint.registry[name] for name in ours)
    block = Path(joints.__file__).read_text().partition("if TYPE_CHECKING:")[2].partition("\n\n")[0]
    assert {name for name in ours if name in re.findall(r"\w+", block)} == ours  # what type checkers see


def test_a_new_joint_is_one_file(tmp_path: Path) -> None:
    (tmp_path / "knob.py").write_text(
        "from kinetree.joints.revolute import Revolute\n\nclass Knob(Revolute):\n    pass\n"
    )
    code = (
        "import sys, importlib, kinetree.joints as joints;"
        "joints.__path__.append(sys.argv[1]);"
        "sys.modules.pop('kinetree.joints');"
        "spec = importlib.util.find_spec('kinetree.joints'); again = importlib.util.module_from_spec(spec);"
        "again.__path__.append(sys.argv[1]); sys.modules['kinetree.joints'] = again; spec.loader.exec_module(again);"
        "assert again.Knob((0, 0, 2)).axis == (0.0, 0.0, 1.0) and 'Knob' in again.Joint.registry"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)


@every
def test_neutral_is_where_the_frames_coincide(joint: Joint) -> None:
    assert_close(pose(joint, list(joint.neutral())), np.eye(6), ulps=0)


@every
@pytest.mark.parametrize("length", [1e-200, 1e-12, 1e-8, 1e-3, 0.5, 0.999999, 1.000001, 2.0, 3.0, math.pi - 1e-6])
def test_difference_undoes_integrate(joint: Joint, length: float) -> None:
    if joint.nv == 0:
        assert joint.difference([], joint.integrate([], [])) == []
        return
    q, d = sample(joint)
    d = scaled(d, length)
    got = joint.difference(q, joint.integrate(q, d))
    # the coordinates reached are rounded at the size of q, and a free-flyer's logarithm grows towards half a turn
    assert_close(got, d, ulps=64, scale=max(1.0, max(map(abs, d))))


@every
@pytest.mark.parametrize("length", [1e-200, 1e-150, 1e-12, 1e-3, 0.999, 1.001, 3.0])
def test_from_the_neutral_pose_small_steps_keep_their_digits(joint: Joint, length: float) -> None:
    if joint.nv == 0 or (isinstance(joint, Mimic) and joint.offset != 0):
        return  # a mimic joint with an offset is at its zero elsewhere, where q itself rounds
    d = scaled(sample(joint)[1], length)
    got = joint.difference(joint.neutral(), joint.integrate(joint.neutral(), d))
    assert_close(got, d, ulps=32)


@every
@pytest.mark.parametrize("length", [0.0, 1e-9, 1.0, math.pi - 1e-9, math.pi, math.pi + 1e-9, 4.0, 6.28, 9.0])
def test_integrate_undoes_difference_as_a_pose(joint: Joint, length: float) -> None:
    """Beyond half a turn too, where the difference is the other way round."""
    q0, d = sample(joint, 3)
    q1 = joint.integrate(q0, scaled(d, length) if joint.nv and length else [0.0] * joint.nv)
    again = joint.integrate(q0, joint.difference(q0, q1))
    # near half a turn the axis has the rounding of the quaternion, and a free-flyer's lever arm multiplies it
    scale = 1 + float(np.abs(pose(joint, q1)).max())
    assert_close(pose(joint, again), pose(joint, q1), ulps=64, scale=scale)


@every
@pytest.mark.parametrize("seed", range(3))
def test_difference_is_the_short_way(joint: Joint, seed: int) -> None:
    if joint.nq == joint.nv:
        return  # a coordinate is a number: there is one way
    (q0, _), (q1, _) = sample(joint, seed), sample(joint, seed + 10)
    for sign in (1.0, -1.0):  # the same orientation, by the other quaternion
        other = [*q1[:-4], *(sign * x for x in q1[-4:])]
        d = joint.difference(q0, other)
        assert math.hypot(*d[:3]) <= math.pi * (1 + 1e-15)
        assert_close(d, joint.difference(q0, q1), ulps=16)


@every
@pytest.mark.parametrize("length", [1e-3, 0.9, 1.1, 3.0])
def test_integrate_is_the_exponential(joint: Joint, length: float) -> None:
    """Held for a unit of time, a constant ν with constant S is one screw: X(1) = exp(−S ν ×) X(0)."""
    q, d = sample(joint, 7)
    d = scaled(d, length) if joint.nv else d
    state = joint.jcalc(q, d)
    if any(list(state.cJ)):
        return  # S moves with q: not one screw
    expected = expm(-dense.crm(list(state.vJ))) @ dense.of_transform(state.X)
    assert_close(pose(joint, joint.integrate(q, d)), expected, ulps=100)


@every
def test_quaternions_come_out_with_unit_length(joint: Joint) -> None:
    if joint.nq == joint.nv:
        return
    q, d = sample(joint, 2)
    scaled_up = [*q[:-4], *(3.0 * x for x in q[-4:])]
    for state in (q, scaled_up):
        assert abs(math.hypot(*joint.integrate(state, d)[-4:]) - 1.0) <= 4 * dense.EPS
    assert_close(pose(joint, joint.integrate(scaled_up, d)), pose(joint, joint.integrate(q, d)), ulps=16)


@every
def test_the_same_on_arrays(joint: Joint) -> None:
    states = [sample(joint, seed) for seed in range(5)]
    q = [np.array([q[k] for q, _ in states]) for k in range(joint.nq)]
    v = [np.array([v[k] for _, v in states]) for k in range(joint.nv)]
    for method, second in (("integrate", v), ("difference", q[::-1])):
        if joint.nq == joint.nv == 0:
            continue
        second = second if method == "integrate" else [x[::-1] for x in q]
        batch = np.array(getattr(joint, method)(q, second)).T
        for k in range(5):
            one = getattr(joint, method)([x[k].item() for x in q], [x[k].item() for x in second])
            assert_close(batch[k], one, ulps=4)


@every
def test_random_is_within_the_limits(joint: Joint) -> None:
    lower, upper = [-0.2] * joint.nq, [0.3] * joint.nq
    x = joint.random(np.random.default_rng(0), lower, upper, size=(100, 2))
    assert x.shape == (100, 2, joint.nq)
    if joint.nq == joint.nv:
        assert ((x >= -0.2) & (x <= 0.3)).all()
        # a hundred uniform numbers come near both ends: all within the middle half has the odds 2^-200
        assert joint.nq == 0 or (x.min() < -0.07 and x.max() > 0.17)
    else:
        assert_close(np.linalg.norm(x[..., -4:], axis=-1), np.ones((100, 2)), ulps=4)


@every
def test_a_joint_is_a_value(joint: Joint) -> None:
    assert dataclasses.is_dataclass(joint)
    again = pickle.loads(pickle.dumps(joint))
    assert again == joint
    assert hash(again) == hash(joint)
    for field in dataclasses.fields(joint):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(joint, field.name, None)


@every
def test_turned_around_it_moves_the_other_way(joint: Joint) -> None:
    if isinstance(joint, (Mimic, RollPitchYaw)):
        with pytest.raises(ModelError, match="does not say what it is with parent and child exchanged"):
            joint.turned_around()
        return
    (q, _), turned, zero = sample(joint), joint.turned_around(), list(joint.neutral())
    back = q  # a joint with an axis has the opposite one, and its coordinates keep their meaning
    if isinstance(joint, Universal):
        back = [-q[1], -q[0]]
    elif turned is joint:
        back = joint.integrate(zero, [-x for x in joint.difference(zero, q)])
    assert_close(pose(turned, back) @ pose(joint, q), np.eye(6), ulps=64, scale=1 + float(np.abs(q).max(initial=0)))


def test_the_parameters_of_a_joint_are_floats() -> None:
    """Also where integers are given, so that its numbers do not depend on how they were written."""
    assert isinstance(Helical((0, 0, 1), 2).pitch, float)
    assert Helical((0, 0, 1), 2) == Helical((0.0, 0.0, 1.0), 2.0)


def test_nothing_outside_joints_asks_for_the_type_of_a_joint() -> None:
    package, asked = Path(joints.__file__).parents[1], []
    for path in package.rglob("*.py"):
        nodes = [] if package / "joints" in path.parents else [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
        imports = [x for x in nodes if isinstance(x, ast.ImportFrom) and (x.module or "").startswith("kinetree.joints")]
        types = {alias.asname or alias.name for x in imports for alias in x.names if alias.name in Joint.registry}
        calls = [
            x for x in nodes if isinstance(x, ast.Call) and getattr(x.func, "id", "") in ("isinstance", "issubclass")
        ]
        parts = [(call.lineno, part) for call in calls for part in ast.walk(call.args[1])]
        of_joints = {f"joints.{name}" for name in Joint.registry}
        asked += [f"{path}:{line}" for line, part in parts if ast.unparse(part) in types | of_joints]
    assert not asked, "a joint answers this itself: Joint.follows, Joint.alone, Joint.direction, Joint.rigid"


@every
def test_joints_of_one_coordinate_can_follow(joint: Joint) -> None:
    if (joint.nq, joint.nv) == (1, 1):
        assert Mimic(joint, 2, 0.5).follows == (2.0, 0.5)
    else:
        with pytest.raises(
            ModelError, match=f"only a joint with one coordinate can mimic another; a {type(joint).__name__} "
        ):
            Mimic(joint, 2, 0.5)


with_axis = pytest.mark.parametrize("kind", [Revolute, Continuous, Prismatic])


NO_DIRECTION = [(0, 0, 0), (0.0, -0.0, 0.0), (math.nan, 0, 1), (0, math.inf, 0), (1, -math.inf, 1)]


@with_axis
@pytest.mark.parametrize("axis", [*NO_DIRECTION, (), (1,), (1, 0), (1, 0, 0, 0)])
def test_an_axis_without_direction_or_of_another_length_is_refused(kind: type[Joint], axis: tuple[float, ...]) -> None:
    message = "has no direction: give a finite, non-zero vector" if len(axis) == 3 else "has three coordinates"
    with pytest.raises(ModelError, match=message) as caught:
        kind(axis)
    assert len(axis) != 3 or str(axis) in str(caught.value)


@with_axis
@pytest.mark.parametrize("factor", [1, 2.0, 1e-9, 1e150, 1e-300])
def test_an_axis_is_normalised(kind: type[Joint], factor: float) -> None:
    direction = np.array([0.6, -0.3, 0.7])
    joint = kind(tuple((direction * factor).tolist()))
    assert_close(joint.axis, direction / np.linalg.norm(direction), ulps=4)
    assert all(type(x) is float for x in joint.axis)


def test_an_axis_that_is_normalised_stays_to_the_bit() -> None:
    axis = Revolute((0.6, -0.3, 0.7)).axis
    assert Revolute(axis).axis == axis
    assert Revolute((0, 0, 5)).axis == (0.0, 0.0, 1.0)
    assert Revolute((0, -3, 0)).axis == (0.0, -1.0, 0.0)


@with_axis
def test_symbols_are_taken_as_they_are(kind: type[Joint]) -> None:
    axis = sympy.symbols("x y z")
    assert kind(axis).axis == axis


def test_a_coordinate_axis_has_a_sparse_rotation() -> None:
    for k in range(3):
        for sign in (1.0, -1.0):
            X = Revolute(tuple(sign * np.eye(3)[k])).jcalc([0.3], [0.0]).X
            assert isinstance(X.E, AxisRotation)
            assert (X.E.k, X.E.s) == (k, sign * math.sin(0.3))
    assert isinstance(Revolute((1, 1, 0)).jcalc([0.3], [0.0]).X.E, GeneralRotation)


@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.6, 0.0, 0.8), (0.0, 1.0, 1e-9)])
def test_perpendicular_directions(axis: tuple[float, float, float]) -> None:
    frame = np.array([axis, *(tuple(u) for u in perpendicular(axis))])
    assert np.abs(frame @ frame.T - np.eye(3)).max() <= 4 * EPS + 1e-17
