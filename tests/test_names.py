"""Names that do not exist: what another library's name is here, and which names are nearest."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import mujoco
import numpy as np
import pytest

import kinetree as kt
from kinetree import motions
from kinetree.algorithms import ALGORITHMS
from kinetree.aliases import ALIASES, KEYWORDS, SYNONYMS, WITHOUT, target
from kinetree.embedded import embedded_text
from kinetree.errors import nearest, unknown_name
from kinetree.glossary.symbols import OPTIONS, SYMBOLS


@pytest.fixture(scope="module")
def panda() -> kt.Robot:
    return kt.load("panda")


@pytest.fixture(scope="module")
def mech(panda: kt.Robot) -> kt.Mechanism:
    return kt.Mechanism(panda, [kt.Weld("panda_hand")])


@pytest.fixture(scope="module")
def attributes(panda: kt.Robot) -> list[str]:
    return [name for name in dir(panda) if not name.startswith("_")]


# -- names of other libraries -------------------------------------------------------------------------------------


class Bound:
    """Stands for a robot or a function in the text of an alias: a call must fit the signature of what is there."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __getattr__(self, name: str) -> Any:
        return Bound(getattr(self.thing, name))

    def __call__(self, *args: object, **kwargs: object) -> Any:
        inspect.signature(self.thing).bind(*args, **kwargs)
        for name, value in kwargs.items():
            choices = OPTIONS[name][0] if name in OPTIONS else (None, True, False)
            assert value is ... or value in choices  # type: ignore[operator]
        return MagicMock()  # whatever arithmetic follows


NAMES = dict.fromkeys(
    ("q", "q0", "q1", "v", "a", "b", "dt", "tau", "joints", "frame", "pose", "other", "source", "links")
)
NAMES |= dict.fromkeys(("inertia", "duration", "name", "W"))
NAMES |= dict.fromkeys(("f", "G", "g", "mu", "to", "joint", "length", "coefficients", "constraints"))
CALLS = sorted({text for text in ALIASES.values() if "." in text})


@pytest.mark.parametrize("text", CALLS)
def test_every_alias_is_a_call_that_is_possible_here(panda: kt.Robot, mech: kt.Mechanism, text: str) -> None:
    eval(text, {**NAMES, "robot": Bound(panda), "mech": Bound(mech), "kt": Bound(kt)})  # the table's own text


@pytest.mark.parametrize("text", sorted(set(WITHOUT.values())))
def test_what_a_sentence_names_is_there(panda: kt.Robot, text: str) -> None:
    for call in re.findall(r"(?:robot|kt|kinetree)\.[\w.]+(?:\([^)]*\))?", text):
        eval(call, {**NAMES, "robot": Bound(panda), "kt": Bound(kt), "kinetree": Bound(kt)})


def test_every_other_alias_is_an_argument_or_the_value_of_an_option() -> None:
    values = {value for option, _ in OPTIONS.values() if isinstance(option, tuple) for value in option}
    others = {name: text for name, text in ALIASES.items() if text not in CALLS}
    assert {target(name) for name in others} <= values | set(SYMBOLS) | set(OPTIONS)
    assert len(ALIASES) > 150


def test_every_keyword_is_an_argument_of_some_method(panda: kt.Robot, mech: kt.Mechanism) -> None:
    methods = [panda.identify, panda.simulate, panda.step, panda.inverse_kinematics, kt.load, mech.contact_step]
    methods.append(kt.Contact)
    arguments = {name for method in methods for name in inspect.signature(method).parameters}
    assert {here.partition("=")[0] for all_here in KEYWORDS.values() for here in all_here} <= arguments


def test_what_mujocos_names_are_here_gives_mujocos_numbers() -> None:
    robot, frame = kt.load("ur5"), "forearm_link"
    model = mujoco.MjModel.from_xml_string(embedded_text("ur5"))
    data, kind = mujoco.MjData(model), mujoco.mjtObj.mjOBJ_XBODY
    q, v, a = data.qpos[:], data.qvel[:], data.qacc[:] = robot.random_state(seed=3)
    mujoco.mj_forward(model, data)
    data.qacc[:] = a
    mujoco.mj_rnePostConstraint(model, data)
    body = model.body(frame).id
    velocity, acceleration, J = np.zeros(6), np.zeros(6), np.zeros((6, 6))
    mujoco.mj_objectVelocity(model, data, kind, body, velocity, 1)
    mujoco.mj_objectAcceleration(model, data, kind, body, acceleration, 1)
    acceleration[3:] += robot.frame_placement(q, frame=frame)[:3, :3].T @ robot.gravity
    mujoco.mj_jacBodyCom(model, data, J[3:], J[:3], body)
    theirs = {"qfrc_bias": data.qfrc_bias, "mj_jacBodyCom": J}
    theirs |= {"mj_objectVelocity": velocity, "mj_objectAcceleration": acceleration}
    here = {"robot": robot, "q": q, "v": v, "a": a, "frame": frame, "point": model.body(frame).ipos}
    for name, expected in theirs.items():
        text = ALIASES[name].replace("frame=...", "frame=frame").replace("point=...", "point=point")
        np.testing.assert_allclose(eval(text, here), expected, rtol=0, atol=1e-12, err_msg=name)


@pytest.mark.parametrize(
    ("name", "here"),
    [
        ("constraintDynamics", "mech.forward_dynamics(q, v, tau)"),
        ("CalcAssemblyQ", "mech.assemble(q0)"),
        ("efc_J", "mech.constraint_jacobian(q)"),
        ("computeDelassusMatrix", "mech.delassus_matrix(q)"),
    ],
)
def test_names_of_constraints_lead_to_a_mechanism(panda: kt.Robot, mech: kt.Mechanism, name: str, here: str) -> None:
    for owner in (panda, mech, kt):
        with pytest.raises(AttributeError) as caught:
            getattr(owner, name)
        assert str(caught.value).endswith(f"{name!r}; here it is {here}, where mech = kt.Mechanism(robot, constraints)")
    with pytest.raises(kt.ArgumentError, match=r"'r_coeff': write contacts=kinetree.ContactInputs\(restitution=…\)"):
        mech.impulse([0.0] * 7, [0.0] * 7, r_coeff=0.5)


SOLVER = "write contacts=kinetree.ContactInputs(solver=kinetree.ContactSolver({}=…))"


@pytest.mark.parametrize(
    ("method", "argument", "message"),
    [
        ("contact_dynamics", "active", "'active': write contacts=kinetree.ContactInputs(active=…)"),
        ("contact_dynamics", "tolerance", SOLVER.format("tolerance")),
        ("contact_dynamics", "max_iterations", SOLVER.format("max_iterations")),
        ("contact_dynamics", "method", "write contacts=kinetree.ContactInputs(solver=…)"),
        ("contact_impulse", "mu", "'mu': write contacts=kinetree.ContactInputs(friction=…)"),
        ("contact_impulse", "drift", "'drift': write contacts=kinetree.ContactInputs(row_motion=…)"),
        ("contact_step", "slots", "'slots': write contacts=kinetree.ContactInputs(slots=…)"),
        ("contact_step", "solver", "'solver'; here it is 'integrator'"),
        ("step", "contacts", "write contacts=kinetree.ContactInputs(stick=True)"),
        ("forward_dynamics", "tolerance", "of kinetree.ContactInputs, as contacts, it takes active, row_motion"),
        ("contact_inverse_dynamics", "drift", "of kinetree.ContactInputs, as contacts, it takes active, friction"),
        ("simulate", "restitution", "'restitution': write contacts=kinetree.ContactInputs(restitution=…)"),
        ("simulate", "solver", "'solver': write contacts=kinetree.ContactInputs(solver=…), or integrator=…"),
        ("simulate", "contacts", "write contacts=kinetree.ContactInputs(stick=True)"),
        ("simulate", "limits", "'limits'; here it is 'joints'"),
    ],
)
def test_what_is_given_to_constraints_is_one_value(
    mech: kt.Mechanism, method: str, argument: str, message: str
) -> None:
    state = {"q": [0.0] * 7, "v": [0.0] * 7, argument: "stick"}
    with pytest.raises(kt.ArgumentError, match=re.escape(message)):
        getattr(mech, method)(**state)


def test_no_alias_hides_a_name_of_ours(attributes: list[str]) -> None:
    assert not (set(ALIASES) | set(WITHOUT)) & set(attributes)
    assert not set(ALIASES) & set(WITHOUT)
    assert not set(WITHOUT) & set(dir(kt))
    assert not set(ALIASES) & (set(SYMBOLS) | set(OPTIONS)) - {"T", "M", "C", "g"}  # results, no arguments
    assert not set(SYNONYMS) & {word for words in SYNONYMS.values() for word in words.split()}


@pytest.mark.parametrize(
    ("name", "here"),
    [
        ("rnea", "robot.inverse_dynamics(q, v, a)"),
        ("jacob0", 'robot.jacobian(q, frame=..., reference="aligned")  # angular first'),
        ("CalcGravityGeneralizedForces", "-robot.gravity_forces(q)"),
        ("joint_limits", "(robot.lower_limits, robot.upper_limits)"),
        ("buildModelFromUrdf", "kt.load(source)"),
        ("LOCAL", 'the argument reference="body"'),
        ("ee", "the argument frame"),
    ],
)
def test_a_robot_and_the_package_say_what_it_is_here(panda: kt.Robot, name: str, here: str) -> None:
    for owner in (panda, kt):
        with pytest.raises(AttributeError) as caught:
            getattr(owner, name)
        assert str(caught.value).endswith(f"no attribute {name!r}; here it is {here}")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("createData", "functions take the state"),
        ("computeAllTerms", "nothing is computed beforehand"),
        ("computeRNEADerivatives", "inverse_dynamics.derivatives"),
        ("RigidConstraintModel", r"kt.Mechanism\(robot, constraints\) is a robot with constraints"),
        ("mj_saveModel", r"in files by robot.to_mjcf"),
        ("SE3", "poses are 4×4 arrays"),
        ("teach", "robot.view"),
    ],
)
def test_what_has_no_equal_here_is_told_in_a_sentence(panda: kt.Robot, name: str, text: str) -> None:
    for owner in (panda, kt):
        with pytest.raises(AttributeError, match=f"no attribute {name!r}; .*{text}"):
            getattr(owner, name)


MIGRATION = Path(__file__).parents[1] / "docs" / "migration"


def names_of_another_library(page: str) -> set[str]:
    """Return what stands as code in the left columns of the tables, and in the list of what is not there."""
    text, _, missing = (MIGRATION / f"{page}.md").read_text(encoding="utf-8").partition("## What is not there")
    cells = [line.split("|")[1] for line in text.splitlines() if line.startswith("| ")] + [missing]
    codes = [code for cell in cells for code in re.findall(r"`([^`]+)`", cell)]
    return {name for code in codes for name in re.findall(r"\w+(?=\()", code) or re.findall(r"[A-Za-z]\w+", code)[-1:]}


@pytest.mark.parametrize("page", ["pinocchio", "mujoco", "robotics_toolbox", "drake"])
def test_every_name_of_a_migration_page_leads_somewhere(panda: kt.Robot, page: str) -> None:
    names = names_of_another_library(page)
    assert len(names) > 15
    for name in sorted(names):
        if not (hasattr(panda, name) or hasattr(kt, name)):
            with pytest.raises(AttributeError) as caught:
                getattr(kt, name)
            assert not re.search("did you mean|there are:", str(caught.value))


def test_the_package_tells_methods_of_a_robot() -> None:
    for name in ("neutral", "random_configuration", "random_state", "joint", "lock", "attach", "with_frame"):
        with pytest.raises(AttributeError, match=rf"'{name}'; it is a method of a robot: kt.load\(source\).{name}$"):
            getattr(kt, name)
    with pytest.raises(AttributeError, match=r"'lower_limits'; it is a property of a robot"):
        kt.lower_limits  # type: ignore[attr-defined]  # noqa: B018


def test_the_package_tells_functions_of_a_robot() -> None:
    with pytest.raises(AttributeError, match=r"'mass_matrix'; it is a function of a robot: kt.load\(source\)"):
        kt.mass_matrix  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'laod', did you mean 'load'"):
        kt.laod  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match=r"^module 'kinetree' has no attribute '__wrapped__'$"):
        kt.__wrapped__  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize(
    ("value", "here"), [("LOCAL", "body"), ("WORLD", "world"), ("LOCAL_WORLD_ALIGNED", "aligned"), ("local", "body")]
)
def test_reference_frames_of_pinocchio(panda: kt.Robot, value: str, here: str) -> None:
    with pytest.raises(kt.ArgumentError, match=f"it must be 'body' or 'world' or 'aligned'; here it is .*'{here}'$"):
        panda.jacobian([0.0] * 7, frame="panda_hand", reference=value)


def test_reference_frames_of_pinocchio_as_it_has_them(panda: kt.Robot) -> None:
    pin = pytest.importorskip("pinocchio")
    with pytest.raises(kt.ArgumentError, match="here it is reference='aligned'"):
        panda.jacobian([0.0] * 7, frame="panda_hand", reference=pin.LOCAL_WORLD_ALIGNED)


@pytest.mark.parametrize(
    ("keyword", "here"), [("qd", "v"), ("qvel", "v"), ("ddq", "a"), ("qacc", "a"), ("fext", "f_ext")]
)
def test_keywords_of_others(panda: kt.Robot, keyword: str, here: str) -> None:
    with pytest.raises(kt.ArgumentError, match=f"no argument '{keyword}'; here it is '{here}'"):
        panda.inverse_dynamics([0.0] * 7, **{keyword: [0.0] * 7})


def test_a_name_of_the_users_own_is_not_taken_for_an_alias(panda: kt.Robot) -> None:
    with pytest.raises(kt.ModelError, match="no frame 'ee'; there are"):
        panda.model.frame("ee")


# -- the nearest names -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("mas", "mass"),
        ("total_mass", "mass"),
        ("gravity_torque", "gravity_forces"),
        ("forward_kin", "forward_kinematics"),
        ("inv_dyn", "inverse_dynamics"),
        ("forwardDynamics", "forward_dynamics"),
        ("body_jacobian", "jacobian"),
        ("get_jacobian", "jacobian"),
        ("jacobian_derivative", "jacobian_rate"),
        ("inertia_matrix", "mass_matrix"),
        ("com_position", "center_of_mass"),
        ("compute_com_jacobian", "center_of_mass_jacobian"),
        ("coriolis_matrx", "coriolis_matrix"),
        ("link_names", "body_names"),
        ("pose", "frame_placement"),
    ],
)
def test_words_count_before_letters(attributes: list[str], name: str, first: str) -> None:
    assert nearest(name, attributes)[0] == first


def test_names_of_joints_and_frames(panda: kt.Robot) -> None:
    assert nearest("hand", panda.frame_names) == ["panda_hand", "panda_hand_tcp"]
    assert nearest("tcp", panda.frame_names) == ["panda_hand_tcp"]
    assert nearest("panda_hnad", panda.frame_names)[0] == "panda_hand"
    assert nearest("panda_join2", panda.joint_names)[0] == "panda_joint2"
    assert nearest("joint3", panda.joint_names)[0] == "panda_joint3"
    assert nearest("l_knee", kt.load("g1").joint_names)[0] == "left_knee_joint"
    assert nearest("xyzzy", panda.joint_names) == []
    assert nearest("手首", ["手", "hand"]) == ["手"]
    assert nearest("", ["a"]) == []


def test_functions_with_all_their_letters_come_first() -> None:
    for name in ALGORITHMS:
        for k in range(1, len(name) - 1, 5):
            assert nearest(name[:k] + name[k + 1 :], ALGORITHMS)[0] == name, (name, k)


def test_the_embedded_robots_are_listed() -> None:
    assert list(kt.robots()) == ["ur5", "panda", "go2", "g1"]
    assert repr(kt.robots()).splitlines()[1].startswith("panda  Franka Emika Panda: arm")
    assert str(kt.robots()["ur5"]) == "Universal Robots UR5: arm, 6 joints (BSD-3-Clause)"
    assert motions is kt.motions


def test_twenty_names_are_listed_and_of_more_the_first_ones():
    names = [f"a{k:02}" for k in range(21)]
    assert unknown_name("joint", "qqqqqq", names[:20]).endswith("there are: " + ", ".join(names[:20]))
    assert unknown_name("joint", "qqqqqq", names).endswith("there are: " + ", ".join(names[:20]) + ", …")
