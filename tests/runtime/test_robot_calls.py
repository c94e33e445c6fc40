"""Calls of robots: wrenches by name, a robot without joints, figures of joints as arguments."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest

import kinetree as kt
from helpers.told import told
from helpers.trees import toy
from kinetree.algorithms import ALGORITHMS, Algorithm, shape_of
from kinetree.constraints.pages import MECHANISM_ALGORITHMS
from kinetree.errors import ArgumentError
from kinetree.glue.descriptor import is_describable

robot = kt.load("panda")
q, v, a = robot.random_state(seed=0)
F, G = np.random.default_rng(0).normal(size=(2, 6))


def array(frame: str, wrench: np.ndarray, reference: str = "body") -> np.ndarray:
    return np.asarray(robot.external_wrench(q, wrench, frame=frame, reference=reference))


def test_a_wrench_on_a_frame_is_in_its_axes() -> None:
    for name in ("panda_hand", "panda_link5", "panda_link1", "panda_link0"):  # the last one is fixed to the world
        tau = robot.inverse_dynamics(q, v, a, array(name, F))
        assert robot.inverse_dynamics(q, v, a, f_ext={name: F}) == pytest.approx(tau, rel=1e-13)
        assert robot.inverse_dynamics(q, v, a, {name: F.tolist()}) == pytest.approx(tau, rel=1e-13)


def test_wrenches_add_up() -> None:
    both = array("panda_hand", F) + array("panda_link7", G) + array("panda_link2", F)
    given = {"panda_hand": F, "panda_link7": G, "panda_link2": F}
    tau = robot.inverse_dynamics(q, v, a, both)
    assert robot.inverse_dynamics(q, v, a, f_ext=given) == pytest.approx(tau, rel=1e-13)
    assert robot.inverse_dynamics(q, v, a, f_ext={}).tolist() == robot.inverse_dynamics(q, v, a).tolist()


def test_in_the_world() -> None:
    tau = robot.inverse_dynamics(q, v, a, array("panda_hand", F, "world"))
    assert robot.inverse_dynamics(q, v, a, f_ext={"panda_hand": F}, f_ext_frame="world") == pytest.approx(
        tau, rel=1e-12
    )
    fixed = robot.inverse_dynamics.bind(f_ext_frame="world")
    assert fixed(q, v, a, f_ext={"panda_hand": F}) == pytest.approx(tau, rel=1e-12)


def test_other_functions_take_names_too() -> None:
    tau = robot.inverse_dynamics(q, v, a, f_ext={"panda_hand": F})
    assert robot.forward_dynamics(q, v, tau, f_ext={"panda_hand": F}) == pytest.approx(a, rel=1e-10)
    reactions = robot.joint_reactions(q, v, a, array("panda_hand", F))
    assert robot.joint_reactions(q, v, a, f_ext={"panda_hand": F}) == pytest.approx(np.asarray(reactions), rel=1e-12)
    own = robot.compile(lambda q, v, a, f_ext: robot.inverse_dynamics(q, v, a, f_ext), name="own")
    assert own(q, v, a, {"panda_hand": F}) == pytest.approx(tau, rel=1e-13)


def test_batches_broadcast_and_float32_stays() -> None:
    Fs = np.random.default_rng(1).normal(size=(5, 1, 6))
    Gs = np.random.default_rng(2).normal(size=(3, 6))
    many = robot.inverse_dynamics(q, v, a, f_ext={"panda_hand": Fs, "panda_link3": Gs})
    assert many.shape == (5, 3, 7)
    one = robot.inverse_dynamics(q, v, a, f_ext={"panda_hand": Fs[4, 0], "panda_link3": Gs[1]})
    assert many[4, 1].tolist() == one.tolist()
    narrow = [x.astype(np.float32) for x in (q, v, a, F)]
    assert robot.inverse_dynamics(*narrow[:3], f_ext={"panda_hand": narrow[3]}).dtype == np.float32
    assert robot.inverse_dynamics(*narrow[:3], f_ext={}).dtype == np.float32  # no array is wider
    assert robot.inverse_dynamics(q, v, a, f_ext={}).dtype == np.float64


def test_in_a_compiled_function() -> None:
    @robot.compile(shapes={"push": (6,)})
    def held(q, v, a, push):  # type: ignore[no-untyped-def]
        return robot.inverse_dynamics(q, v, a, f_ext={"panda_hand": push, "panda_link7": G})

    expected = robot.inverse_dynamics(q, v, a, f_ext={"panda_hand": F, "panda_link7": G})
    assert held(q, v, a, F) == pytest.approx(expected, rel=1e-13)
    on_body = robot.compile(
        lambda q, v, a, push: robot.inverse_dynamics(q, v, a, f_ext={"panda_link7": push}),
        shapes={"push": (6,)},
        name="f",
    )
    as_array = robot.compile(
        lambda q, v, a, push: robot.inverse_dynamics(q, v, a, [*np.zeros((6, 6)), push]),
        shapes={"push": (6,)},
        name="f",
    )
    assert on_body.op_count == as_array.op_count  # a body's own name costs nothing


def test_the_glue_takes_the_calls_of_every_function() -> None:
    mech = kt.Mechanism(robot, [kt.Weld("panda_hand")])
    for owner, table in ((robot, ALGORITHMS), (mech, MECHANISM_ALGORITHMS)):
        for name in table:
            spec = getattr(owner, name).spec
            assert is_describable(spec.inputs, len(spec.optional), len(spec.open_options)), name


def test_results_may_be_interleaved() -> None:
    q, v, a = robot.random_state(0, 12)
    both = np.zeros((12, 14))
    hybrid = robot.hybrid_dynamics.bind(prescribed=["panda_joint2"])
    expected = hybrid(q, v, a, a)
    hybrid(q, v, a, a, out=(both[:, :7], both[:, 7:]))
    assert (both == np.hstack(expected)).all()
    rows = np.zeros((24, 7))
    hybrid(q, v, a, a, out=(rows[::2], rows[1::2]))
    assert (rows[::2] == expected[0]).all()
    assert (rows[1::2] == expected[1]).all()
    with pytest.raises(kt.ArgumentError, match="overlap"):
        hybrid(q, v, a, a, out=(both[:, :7], both[:, 6:13]))


def test_no_more_threads_than_there_is_work_for() -> None:
    q, v, a = robot.random_state(0, 20_000)
    expected = robot.inverse_dynamics(q, v, a)
    threads = kt.get_num_threads()
    kt.set_num_threads(300)
    try:
        for _ in range(3):
            assert (robot.inverse_dynamics(q, v, a) == expected).all()
        assert threading.active_count() < 150  # 20,000 states are half a millisecond of work
    finally:
        kt.set_num_threads(threads)


# -- A robot without joints: every function has results of empty shape, or says what is missing ----------------------


LINK = (
    '<link name="base"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
)
ROBOT = kt.load(f'<robot name="block">{LINK}</link></robot>')
NO_CENTRE = {name for name in ALGORITHMS if name.startswith(("center_of_mass", "centroidal"))}
DEFINED = sorted(ALGORITHMS.keys() - NO_CENTRE)


def options(algorithm: Algorithm) -> dict[str, str]:
    return {name: "base" for name, option in algorithm.options.items() if getattr(option, "required", False)}


def ones(shapes: object, lead: tuple[int, ...]) -> dict[str, np.ndarray]:
    return {name: np.ones(lead + shape_of(shape, ROBOT.model)) for name, shape in shapes.items()}  # type: ignore[attr-defined]


@pytest.mark.parametrize("lead", [(), (3,), (0,), (2, 3)])
@pytest.mark.parametrize("name", DEFINED)
def test_results_have_their_shapes(name: str, lead: tuple[int, ...]) -> None:
    algorithm = ALGORITHMS[name]
    for optional in {}, ones(algorithm.optional, lead):
        results = getattr(ROBOT, name)(**ones(algorithm.inputs, lead), **optional, **options(algorithm))
        results = results if len(algorithm.outputs) > 1 else (results,)
        for result, shape in zip(results, algorithm.outputs.values(), strict=True):
            assert np.shape(result) == lead + shape_of(shape, ROBOT.model)
            assert np.isfinite(result).all()


@pytest.mark.parametrize("name", sorted(NO_CENTRE))
def test_what_is_not_defined_is_said(name: str) -> None:
    algorithm = ALGORITHMS[name]
    with pytest.raises(kt.ModelError, match="no moving mass"):
        getattr(ROBOT, name)(**ones(algorithm.inputs, ()), **options(algorithm))


@pytest.mark.parametrize("lead", [(), (2,), (0,), (2, 4)])
def test_inverse_kinematics(lead: tuple[int, ...]) -> None:
    for x, converged in ((0.0, True), (1.0, False)):
        point = np.broadcast_to([x, 0.0, 0.0], (*lead, 3))
        for start in None, np.zeros((*lead, 0)):
            solution = ROBOT.inverse_kinematics(point, "base", q0=start)
            assert solution.q.shape == (*lead, 0)
            assert np.shape(solution.converged) == lead
            assert (solution.converged == converged).all()
            assert np.allclose(solution.position_error, x)


def test_compiled_together() -> None:
    def f(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return ROBOT.inverse_dynamics(q, v, v), ROBOT.frame_placement(q, frame="base")

    together = kt.compile(ROBOT, f)
    for lead in (), (3,):
        tau, pose = together(np.zeros((*lead, 0)), np.zeros((*lead, 0)))
        assert tau.shape == (*lead, 0)
        assert (pose == np.broadcast_to(np.eye(4), (*lead, 4, 4))).all()


# -- Damping, friction and armature of the joints as arguments: the robots that `with_joint_physics` makes -----------


ALL = [kt.joint_damping, kt.joint_friction, kt.joint_armature]


def gripper() -> kt.Robot:
    """Return an arm on a floating base with a joint that follows another, all of which have figures of their own."""
    links = ("base", "arm", "finger", "thumb")
    inertias = {link: kt.Inertia(1.0 + k, [0.1, 0.02, 0.03], 0.02 * np.eye(3)) for k, link in enumerate(links)}
    figures, tilted = {"damping": 0.3, "friction": 0.2, "armature": 0.1}, kt.joints.Revolute((0.0, 0.6, 0.8))
    X = np.eye(4)
    X[:3, 3] = 0.1, 0.2, 0.0
    placed, mimic = figures | {"placement": X}, figures | {"mimic": ("finger_joint", -2.0, 0.0)}
    joints = ("arm_joint base arm", tilted, placed), ("finger_joint arm finger", tilted, placed)
    thumb = "thumb_joint arm thumb", tilted, mimic
    return kt.Robot(toy(*joints, thumb, links=inertias, floating_base=True))


GRIPPER = gripper()
Q, V, A = GRIPPER.random_state(seed=1, size=5)
FIGURES = np.random.default_rng(2).uniform(0.1, 1.0, (3, 5, GRIPPER.nv))


def made(k: int) -> kt.Robot:
    """Return the robot with the figures of state k."""
    damping, friction, armature = FIGURES[:, k]
    return GRIPPER.with_joint_physics(damping=damping, friction=friction, armature=armature).with_friction()


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "kinetic_energy"])
def test_figures_as_arguments_are_those_of_a_robot_made_with_them(name):
    first = 0 if "dynamics" in name else 2  # friction has no part in the others
    function = kt.compile(GRIPPER, name, inputs=ALL[first:])
    states = (Q, V, A)[: len(getattr(GRIPPER, name).spec.required)]
    results = np.asarray(function(*states, *FIGURES[first:]))
    for k in range(5):
        expected = getattr(made(k), name)(*(x[k] for x in states))
        assert np.allclose(results[k], expected, rtol=1e-12, atol=1e-12)


def test_what_is_given_counts_and_what_is_not_does_not():
    damped = kt.compile(GRIPPER, "inverse_dynamics", inputs=[kt.joint_damping])
    resistance = damped(Q, V, A, FIGURES[0]) - GRIPPER.inverse_dynamics(Q, V, A)
    assert np.allclose(resistance, FIGURES[0] * V, atol=1e-12)  # the robot's own Coulomb friction is off
    rubbing = GRIPPER.with_friction(smoothing=0.5)
    rubbed = kt.compile(rubbing, "inverse_dynamics", inputs=[kt.joint_friction])
    resistance = rubbed(Q, V, A, FIGURES[1]) - GRIPPER.inverse_dynamics(Q, V, A)
    expected = FIGURES[1] * V / np.sqrt(V**2 + 0.25) + rubbing.damping * V  # and here its damping is on
    assert np.allclose(resistance, expected, atol=1e-12)


def test_in_a_function_of_ones_own_and_in_a_pickle():
    @kt.compile(GRIPPER, inputs=[kt.joint_armature, kt.gravity])
    def both(q, v, a):
        return GRIPPER.inverse_dynamics(q, v, a)

    expected = GRIPPER.with_joint_physics(armature=FIGURES[2, 0]).with_gravity((0, 0, -1.0)).inverse_dynamics(Q, V, A)
    assert np.allclose(both(Q, V, A, FIGURES[2, 0], (0, 0, -1.0)), expected, rtol=1e-12, atol=1e-12)
    again = pickle.loads(pickle.dumps(kt.compile(GRIPPER, "mass_matrix", inputs=[kt.joint_armature])))
    assert np.allclose(again(Q, FIGURES[2])[3], made(3).mass_matrix(Q[3]), atol=1e-12)


# -- Mistakes --------------------------------------------------------------------------------------------------------


def pushed(f_ext: dict[object, object]) -> object:
    return robot.inverse_dynamics(q, v, a, f_ext=f_ext)


def damped(*given: object) -> object:
    return kt.compile(GRIPPER, "inverse_dynamics", inputs=[kt.joint_damping])(Q, V, A, *given)


test_mistakes_are_told = told(
    ArgumentError,
    (lambda: pushed({"panda_hnd": F}), "inverse_dynamics: f_ext: no frame 'panda_hnd', did you mean 'panda_hand'"),
    (lambda: pushed({"panda_hand": F[:3]}), r"f_ext: the wrench on 'panda_hand' has shape \(3,\): a moment and a"),
    (lambda: pushed({"panda_hand": np.ones((2, 6)), "panda_link1": np.ones((3, 6))}), "f_ext: the batch axes of"),
    (lambda: pushed({"panda_hand": [None] * 6}), "the wrench on 'panda_hand' has dtype object"),
    (lambda: pushed({7: F}), "the name of a frame is a str; 7 was given"),
    (lambda: damped([1.0, 2.0, 3.0]), r"joint_damping has shape \(3,\), one state has shape \(8,\)"),
    (lambda: GRIPPER.hybrid_dynamics(Q, V, A, A, prescribed=["thumb_joint"]), "'thumb_joint' follows 'finger"),
    (
        lambda: kt.compile(GRIPPER, "center_of_mass", inputs=[kt.joint_damping]).op_count,
        "center_of_mass does not depend on joint_damping: leave it out",
    ),
)
