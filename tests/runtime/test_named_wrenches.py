"""External forces as a dict of wrenches by body or frame name."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt

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


def test_the_functions_that_take_f_ext_take_names() -> None:
    tau = robot.inverse_dynamics(q, v, a, f_ext={"panda_hand": F})
    assert robot.forward_dynamics(q, v, tau, f_ext={"panda_hand": F}) == pytest.approx(a, rel=1e-10)
    f_ext = array("panda_hand", F)
    reactions = robot.joint_reactions(q, v, a, f_ext)
    assert robot.joint_reactions(q, v, a, f_ext={"panda_hand": F}) == pytest.approx(np.asarray(reactions), rel=1e-12)


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
    with pytest.raises(kt.ArgumentError, match="the wrench on 'panda_hand' has dtype object"):
        robot.inverse_dynamics(q, v, a, f_ext={"panda_hand": [None] * 6})


def test_as_an_argument_of_ones_own_function() -> None:
    own = robot.compile(lambda q, v, a, f_ext: robot.inverse_dynamics(q, v, a, f_ext), name="own")
    expected = robot.inverse_dynamics(q, v, a, array("panda_hand", F))
    assert own(q, v, a, {"panda_hand": F}) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"panda_hnd": F}, "inverse_dynamics: f_ext: no frame 'panda_hnd', did you mean 'panda_hand'"),
        ({"panda_hand": F[:3]}, r"f_ext: the wrench on 'panda_hand' has shape \(3,\): a moment and a force \(n, f\)"),
        (
            {"panda_hand": np.ones((2, 6)), "panda_link1": np.ones((3, 6))},
            "f_ext: the batch axes of .* do not broadcast",
        ),
        ({"panda_hand": ["x"] * 6}, "the wrench on 'panda_hand' has dtype <U1"),
        ({7: F}, "the name of a frame is a str; 7 was given"),
    ],
)
def test_mistakes_are_told(given: dict[str, object], message: str) -> None:
    with pytest.raises(kt.ArgumentError, match=message):
        robot.inverse_dynamics(q, v, a, f_ext=given)


def test_other_inputs_take_no_dict() -> None:
    with pytest.raises(kt.ArgumentError, match="q"):
        robot.inverse_dynamics({"panda_joint1": 1.0}, v, a)
