"""The builder: what it makes of links and joints, and what it says of mistakes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from helpers import dense
from helpers.dense import assert_close
from helpers.trees import page, random_inertia, random_placement
from kinetree import JointLimits, ModelError
from kinetree.algorithms import forward_kinematics, rnea
from kinetree.joints import Fixed, FreeFlyer, Mimic, Prismatic, Revolute
from kinetree.model import WORLD, Model, ModelBuilder
from kinetree.spatial import Inertia, Transform

I3 = [[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]]
BALL = Inertia.from_com(1.0, [0, 0, 0], I3)


def builder(*links: str, joints: str = "", kind: Any = None) -> ModelBuilder:
    """Return a builder with these links, and a joint for each "parent>child" of `joints`."""
    b = ModelBuilder("toy")
    for link in links:
        b.add_link(link, BALL)
    for k, pair in enumerate(joints.split()):
        parent, child = pair.split(">")
        b.add_joint(f"j{k}", parent=parent, child=child, joint=kind or Revolute())
    return b


# -- mistakes -------------------------------------------------------------------------------------------------------


def built(links: str, joints: str = "", **options: Any) -> Model:
    return builder(*links.split(), joints=joints).build(**options)


def joined(name: str = "j", joints: str = "", **options: Any) -> None:
    builder("a", "b", joints=joints).add_joint(name, parent="a", child="b", joint=Revolute(), **options)


MISTAKES: list[tuple[Callable[[], object], str]] = [
    (lambda: ModelBuilder("empty").build(), "robot 'empty' has no links"),
    (lambda: built("hand arm", "hnad>arm"), "joint 'j0': parent link: no link 'hnad', did you mean 'hand'?"),
    (lambda: built("a b", "a>zzz"), "joint 'j0': child link: no link 'zzz'; there are: a, b"),
    (lambda: [b := builder("arm"), b.add_frame("tcp", link="amr"), b.build()], "frame 'tcp': no link 'amr', did you"),
    (lambda: built("a b c", "a>b a>c b>c"), "its child 'c' is the child of joint 'j1' already: a link has one parent"),
    (
        lambda: built("a b c", "a>b b>c c>a"),
        "joint 'j0': the joints 'j0', 'j1', 'j2' form a cycle (a → b → c → a) without a root link",
    ),
    (lambda: circle("abcdefghij"), "form a cycle (a → b → c → d → e → f → g → h → i → j → a) without a root link"),
    (lambda: circle("abcdefghijk"), "form a cycle (a → b → c → d → e → f → g → h → i → j → … → a) without a root"),
    (
        lambda: built("r a b c", "r>a b>c c>b"),
        "joint 'j1': the joints 'j1', 'j2' form a cycle (b → c → b) without a root",
    ),
    (lambda: linked(Inertia.from_com(-1.0, [0, 0, 0], I3)), "link 'a' has the mass -1.0: a mass cannot be negative"),
    (lambda: linked(Inertia.from_parameters([math.nan] + 9 * [0.0])), "the inertia of link 'a' holds the number nan"),
    (lambda: linked(Inertia.from_parameters([1.0, 0, 0, 0, math.inf, 0, 1, 0, 0, 1])), "link 'a' holds the number inf"),
    (lambda: joined(armature=math.nan), "joint 'j' holds the number nan"),
    (lambda: joined(damping=math.inf), "joint 'j' holds the number inf"),
    (lambda: joined(placement=NAN_POSE), "the placement of joint 'j' holds the number nan"),
    (lambda: joined(placement=Transform.translation([math.inf, 0, 0])), "the placement of joint 'j' holds the number"),
    (lambda: joined(placement=np.diag([2.0, 2, 2, 1]).tolist()), "the placement of joint 'j' is not a pose"),
    (lambda: JointLimits(math.inf, math.inf), "nothing is between the limits inf and inf; no limits are -inf and inf"),
    (lambda: joined(rotor_inertia=-1.0), "joint 'j': rotor_inertia is -1.0, and cannot be negative"),
    (
        lambda: built("a", base_pose=np.diag([1.0, 1, -1, 1]).tolist()),
        "base_pose is not a pose: its upper left 3×3 is a reflection, with determinant -1, not a rotation",
    ),
    (lambda: Revolute((0, 0, 0)), "the joint axis (0, 0, 0) has no direction"),
]
NAN_POSE = np.full((4, 4), math.nan).tolist()


def circle(links: str) -> Model:
    return built(" ".join(links), " ".join(f"{a}>{b}" for a, b in zip(links, links[1:] + links[0], strict=True)))


def linked(inertia: Inertia) -> None:
    ModelBuilder().add_link("a", inertia)


@pytest.mark.parametrize(("make", "message"), MISTAKES, ids=[message[:40] for _, message in MISTAKES])
def test_a_mistake_is_told_by_name(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ModelError) as caught:
        make()
    assert message in str(caught.value)


def test_a_floating_base_needs_its_joint_name() -> None:
    b = builder("a", "b")
    b.add_joint("root_joint", parent="a", child="b", joint=Revolute())
    assert b.build().joint_names == ("root_joint",)
    with pytest.raises(ModelError, match="the robot has a joint named 'root_joint'"):
        b.build(floating_base=True)


def test_many_wrong_links_are_not_all_listed() -> None:
    with pytest.raises(ModelError) as caught:
        builder(*(f"link{k}" for k in range(1000))).build()
    assert "1000 links" in str(caught.value)
    assert len(str(caught.value)) < 300


# -- what it builds -------------------------------------------------------------------------------------------------


def random_builder(seed: int) -> tuple[ModelBuilder, dict[str, Inertia], dict[str, np.ndarray]]:
    """Return root → arm → (weld) tool → (weld) tip → finger, and a weld on the root; its inertias and placements."""
    rng = np.random.default_rng(seed)
    inertias = {link: random_inertia(rng) for link in ("root", "box", "arm", "tool", "tip", "finger")}
    placements = {name: random_placement(rng) for name in ("shoulder", "w_box", "w_tool", "w_tip", "knuckle")}
    b = ModelBuilder("toy")
    for link, inertia in inertias.items():
        b.add_link(link, inertia)
    for name, parent, child, joint in (
        ("shoulder", "root", "arm", Revolute((0, 1, 0))),
        ("w_box", "root", "box", Fixed()),
        ("w_tool", "arm", "tool", Fixed()),
        ("w_tip", "tool", "tip", Fixed()),
        ("knuckle", "tip", "finger", Prismatic((0, 0, 1))),
    ):
        b.add_joint(name, parent=parent, child=child, joint=joint, placement=placements[name].tolist())
    return b, inertias, placements


def transform(placement: np.ndarray) -> np.ndarray:
    return dense.motion_transform(placement[:3, :3].T, placement[:3, 3])


def test_links_that_are_welded_are_one_body_and_stay_frames() -> None:
    b, inertias, placements = random_builder(0)
    model = b.build()
    assert model.body_names == ("arm", "finger")
    assert [body.parent for body in model.bodies] == [WORLD, 0]
    assert model.joint_names == ("shoulder", "knuckle")
    assert model.frame_names == tuple(inertias)
    X_tool = transform(placements["w_tool"])
    X_tip = transform(placements["w_tip"]) @ X_tool
    expected = dense.of_inertia(inertias["arm"])
    for X, link in ((X_tool, "tool"), (X_tip, "tip")):
        expected = expected + X.T @ dense.of_inertia(inertias[link]) @ X
    assert_close(dense.of_inertia(model.bodies[0].inertia), expected)
    assert_close(dense.of_inertia(model.bodies[1].inertia), dense.of_inertia(inertias["finger"]), ulps=0)
    for name, X in (("arm", np.eye(6)), ("tool", X_tool), ("tip", X_tip)):
        assert model.frame(name).body == 0
        assert_close(dense.of_transform(model.frame(name).X), X)
    assert (model.frame("root").body, model.frame("box").body) == (WORLD, WORLD)
    assert_close(dense.of_transform(model.frame("box").X), transform(placements["w_box"]))
    assert_close(dense.of_transform(model.bodies[1].X_T), transform(placements["knuckle"]) @ X_tip)


def test_a_floating_base_has_the_root_links_inertia_and_six_more() -> None:
    b, inertias, placements = random_builder(1)
    model = b.build(floating_base=True)
    assert model.joint_names == ("root_joint", "shoulder", "knuckle")
    assert (model.nq, model.nv, model.nb) == (9, 8, 3)
    assert model.actuated == (6, 7)
    assert isinstance(model.bodies[0].joint, FreeFlyer)
    X_box = transform(placements["w_box"])
    expected = dense.of_inertia(inertias["root"]) + X_box.T @ dense.of_inertia(inertias["box"]) @ X_box
    assert_close(dense.of_inertia(model.bodies[0].inertia), expected)
    assert b.build().actuated == (0, 1)


def test_base_pose_moves_the_robot_in_the_world() -> None:
    b, _, _ = random_builder(2)
    base = random_placement(np.random.default_rng(9))
    q = np.array([[0.3, 0.2]])
    at_origin = page(forward_kinematics, b.build(), q)
    moved = page(forward_kinematics, b.build(base_pose=base.tolist()), q)
    assert_close(moved, base @ at_origin)
    # tilting the base is tilting gravity the other way
    gravity = base[:3, :3] @ [0.0, 0.0, -9.81]
    tilted = b.build(base_pose=base.tolist(), gravity=gravity.tolist())
    assert_close(page(rnea, tilted, q, q, q), page(rnea, b.build(), q, q, q))
    as_transform = b.build(base_pose=Transform.placed(base[:3, :3].tolist(), base[:3, 3].tolist()))
    assert as_transform == b.build(base_pose=base.tolist())
    assert_close(dense.of_transform(as_transform.frame("root").X), transform(base), ulps=0)


def test_q_keeps_the_order_of_the_file_where_a_child_comes_first() -> None:
    b = builder("c", "b", "a")
    b.add_joint("last", parent="b", child="c", joint=Prismatic())
    b.add_joint("ball", parent="a", child="b", joint=FreeFlyer())
    model = b.build()
    assert model.joint_names == ("last", "ball")
    assert model.body_names == ("b", "c")
    assert [body.parent for body in model.bodies] == [WORLD, 0]
    assert [body.q_index for body in model.bodies] == [(1, 2, 3, 4, 5, 6, 7), (0,)]
    assert [body.v_index for body in model.bodies] == [(1, 2, 3, 4, 5, 6), (0,)]
    straight = builder("a", "b", "c")
    straight.add_joint("ball", parent="a", child="b", joint=FreeFlyer())
    straight.add_joint("last", parent="b", child="c", joint=Prismatic())
    q, v, a = (np.random.default_rng(0).normal(size=(3, n)) for n in (8, 7, 7))
    got = page(rnea, model, np.roll(q, 1, 1), np.roll(v, 1, 1), np.roll(a, 1, 1))
    assert_close(got, np.roll(page(rnea, straight.build(), q, v, a), 1, 1), ulps=0)


def test_siblings_keep_the_order_of_their_joints() -> None:
    model = builder("r", "x", "y", "z", "w", joints="r>z z>w r>x r>y").build()
    assert model.body_names == ("z", "w", "x", "y")
    assert model.joint_names == ("j0", "j1", "j2", "j3")


def test_frames_that_were_added() -> None:
    b, _, placements = random_builder(3)
    tcp = random_placement(np.random.default_rng(5))
    b.add_frame("tcp", link="tool", placement=tcp.tolist())
    frame = b.build().frame("tcp")
    assert frame.body == 0
    assert_close(dense.of_transform(frame.X), transform(tcp) @ transform(placements["w_tool"]))
    with pytest.raises(ModelError, match="no frame 'tpc', did you mean 'tip' or 'tcp'"):
        b.build().frame("tpc")


def test_integers_are_numbers_not_structure() -> None:
    b = ModelBuilder("toy")
    b.add_link("a")
    b.add_link("b", Inertia.from_com(1, [0, 0, 1], np.eye(3, dtype=int).tolist()))
    b.add_joint("j", parent="a", child="b", joint=Revolute((0, 0, 1)), placement=np.eye(4, dtype=int).tolist())
    model = b.build(gravity=(0, 0, -10))
    assert {type(x) for x in model.numbers} == {float}


def test_a_builder_can_build_twice_and_go_on() -> None:
    b = builder("a", "b", joints="a>b")
    first = b.build()
    assert b.build() == first
    b.add_link("c")
    b.add_joint("k", parent="b", child="c", joint=Revolute())
    assert b.build().nv == 2
    assert first.nv == 1


def test_ten_thousand_links_in_a_row() -> None:
    n = 10_000
    b = ModelBuilder("chain")
    for k in range(n):
        b.add_link(f"l{k}")
    for k in reversed(range(n - 1)):  # children before parents: the worst order
        b.add_joint(f"j{k}", parent=f"l{k}", child=f"l{k + 1}", joint=Revolute())
    model = b.build()
    assert model.nv == n - 1
    assert [body.parent for body in model.bodies] == list(range(-1, n - 2))


def test_places_that_overflow_are_told() -> None:
    b, far = ModelBuilder(), [[1, 0, 0, 1e308], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    for link in "abc":
        b.add_link(link)
    b.add_joint("j", parent="a", child="b", joint=Fixed(), placement=far)
    b.add_joint("k", parent="b", child="c", joint=Fixed(), placement=far)
    with pytest.raises(ModelError, match="the place of link 'c' overflows; the numbers are too large: kilograms and"):
        b.build()


def test_a_chain_of_mimic_joints_costs_its_length(monkeypatch: pytest.MonkeyPatch) -> None:
    n, made = 200, []
    check = Mimic.__post_init__
    monkeypatch.setattr(Mimic, "__post_init__", lambda self: made.append(self) or check(self))
    b = ModelBuilder()
    b.add_link("0")
    for k in range(n):
        b.add_link(str(k + 1))
        mimic = (f"j{k + 1}", -1.0, 1.0) if k + 1 < n else None  # each mimics the next, the last one leads
        b.add_joint(f"j{k}", parent=str(k), child=str(k + 1), joint=Revolute(), mimic=mimic)
    model = b.build()
    assert len(made) < 2 * n
    joint = model.bodies[0].joint
    assert (model.nq, joint.factor, joint.offset) == (1, -1.0, 1.0)
    assert model.bodies[1].joint.offset == 0.0


@pytest.mark.parametrize("kind", [Revolute((0, 0.6, 0.8)), Fixed()])
def test_a_joint_whose_frame_is_elsewhere_in_its_child(kind: Any) -> None:
    """It is the same as one whose child is a link at its frame, to which the link in question is fixed."""
    rng = np.random.default_rng(0)
    placement, at_child, inertia = random_placement(rng), random_placement(rng), random_inertia(rng)
    models = []
    for between in (False, True):
        b = ModelBuilder("toy")
        b.add_link("ground")
        b.add_link("arm", inertia)
        b.add_link("hand", BALL)
        here = {} if between else {"child_placement": at_child}
        b.add_joint("j", parent="ground", child="pin" if between else "arm", joint=kind, placement=placement, **here)
        if between:
            b.add_link("pin")
            b.add_joint("weld", parent="pin", child="arm", joint=Fixed(), placement=np.linalg.inv(at_child))
        b.add_joint("k", parent="arm", child="hand", joint=Revolute(), placement=placement)
        models.append(b.build())
    q, v, a = np.random.default_rng(1).normal(size=(3, models[0].nv))
    taus = [np.array(rnea(model, q.tolist(), v.tolist(), a.tolist()), dtype=float) for model in models]
    np.testing.assert_allclose(taus[0], taus[1], rtol=0, atol=1e-12)
    assert_close(dense.of_transform(models[0].frame("arm").X), dense.of_transform(models[1].frame("arm").X), ulps=64)
