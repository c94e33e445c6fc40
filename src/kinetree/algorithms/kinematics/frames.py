"""Placement, velocity, acceleration and Jacobian of frames."""

from __future__ import annotations

from kinetree.algorithms.recursions.path import Path, path_to, reference_transforms, without_common
from kinetree.algorithms.recursions.tree import subspace_rates, world_transforms
from kinetree.algorithms.registry import Matrix, Vector, algorithm
from kinetree.glossary.symbols import ROWS
from kinetree.model import WORLD, Model
from kinetree.scalars.orthogonal import volume
from kinetree.spatial import Motion, Scalar
from kinetree.spatial.vector import ZERO

Placement = tuple[tuple[Scalar, ...], ...]


@algorithm("forward_kinematics", outputs="placements")
def forward_kinematics(model: Model, q: Vector) -> list[Placement]:
    """Pose of every moving body in the world.

    References: RBDA section 4.5: ``iX0 = iXλ λX0``.
    """
    states = [model.jcalc(i, q) for i in range(model.nb)]
    return [X.placement for X in world_transforms(model, states)]


@algorithm("frame_placement", outputs="placement")
def frame_placement(model: Model, q: Vector, point: Vector | None = None, *, frame: str) -> Placement:
    """Pose of a frame in the world.

    References: RBDA section 4.5: ``iX0 = iXλ λX0``, along the path from the base to the frame.

    >>> robot.frame_placement(robot.neutral(), frame="panda_link8")[:3, 3].round(3)
    array([0.088, 0.   , 0.926])
    """
    return path_to(model, frame, q, point=point).transform().placement


@algorithm("frame_placements", outputs={"placements": ("nframes", 4, 4)})
def frame_placements(model: Model, q: Vector) -> list[Placement]:
    """Pose of every frame in the world, in one call.

    Returns
    -------
    placements
        Homogeneous transforms (columns: axes, origin in m); order: ``robot.frame_names``.

    References: RBDA section 4.5: ``iX0 = iXλ λX0``.

    >>> placements = dict(zip(robot.frame_names, robot.frame_placements(q), strict=True))
    >>> bool((placements["panda_hand"] == robot.frame_placement(q, frame="panda_hand")).all())
    True
    """
    X0 = world_transforms(model, [model.jcalc(i, q) for i in range(model.nb)])
    return [(frame.X if frame.body == WORLD else frame.X @ X0[frame.body]).placement for frame in model.frames]


@algorithm("frame_velocity", outputs="velocity")
def frame_velocity(
    model: Model, q: Vector, v: Vector, point: Vector | None = None, *, frame: str, reference: str = "body"
) -> list[Scalar]:
    """Spatial velocity of a frame, ``J(q) v``, without the Jacobian.

    References: RBDA Table 5.1: ``v_i = iXλ v_λ + S_i ν_i``.
    """
    path = path_to(model, frame, q, v, point)
    v_i, _ = path.motion([0.0] * model.nv)
    return list(path.in_reference(v_i, reference))


@algorithm("frame_acceleration", outputs="acceleration")
def frame_acceleration(
    model: Model,
    q: Vector,
    v: Vector,
    a: Vector,
    point: Vector | None = None,
    *,
    frame: str,
    reference: str = "body",
    kind: str = "spatial",
) -> list[Scalar]:
    """Acceleration of a frame; gravity is not included.

    References: RBDA Table 5.1: ``a_i = iXλ a_λ + S_i ν̇_i + c_J + v_i × v_J``; section 2.11 on the two kinds.
    """
    return list(path_to(model, frame, q, v, point).acceleration(a, reference, kind))


@algorithm("jacobian", outputs="J")
def jacobian(model: Model, q: Vector, point: Vector | None = None, *, frame: str, reference: str = "body") -> Matrix:
    """Jacobian of a frame: its spatial velocity is ``J(q) v``.

    References: RBDA eq. 4.15; MR eqs. 5.11 and 5.18.

    >>> J = robot.jacobian(robot.neutral(), frame="panda_link8", reference="world")
    >>> J[[1, 3], 1].round(3)  # the second joint's axis is parallel to y, 0.333 m above the base
    array([ 1.   , -0.333])
    """
    path = path_to(model, frame, q, point=point)
    to_ours, _ = reference_transforms(path, Path(), reference)
    J: Matrix = [[0.0] * model.nv for _ in range(6)]
    for k, column in path.columns(to_ours):
        accumulate(J, k, column)
    return J


@algorithm("jacobian_rate", outputs="dJ")
def jacobian_rate(
    model: Model, q: Vector, v: Vector, point: Vector | None = None, *, frame: str, reference: str = "body"
) -> Matrix:
    """Rate of the Jacobian of a frame, ``J̇(q, v)``, while the robot moves at v.

    References: RBDA section 2.10: the column ``J_k = X S_k`` moves with body i, and the reference moves too, so
    ``J̇_k = X S̊_k + (v_i − v_ref) × J_k``.
    """
    path = path_to(model, frame, q, v, point)
    to_body, _ = reference_transforms(path, Path(), reference)
    J = [[X.inv_apply(S_k) for S_k in link.state.S] for link, X in zip(path.links, to_body, strict=True)]
    joint_velocities = [
        sum((column * v[k] for k, column in zip(link.body.v_index, J_i, strict=True)), Motion.zero())
        for link, J_i in zip(path.links, J, strict=True)
    ]
    V = Motion.zero() if reference == "body" else sum(joint_velocities, Motion.zero())
    drift = Motion(V.ang, ZERO) if reference == "aligned" else V  # of the last body relative to the reference
    dJ: Matrix = [[0.0] * model.nv for _ in range(6)]
    for link, X, J_i, v_joint in reversed(list(zip(path.links, to_body, J, joint_velocities, strict=True))):
        apparent = subspace_rates(model, link.i, q, v)
        for k, column, S_ring in zip(link.body.v_index, J_i, apparent, strict=True):
            accumulate(dJ, k, X.inv_apply(S_ring) + drift.cross(column))
        drift = drift - v_joint
    return dJ


@algorithm("jacobian_bias", outputs="dJ_v")
def jacobian_bias(
    model: Model, q: Vector, v: Vector, point: Vector | None = None, *, frame: str, reference: str = "body"
) -> list[Scalar]:
    """Acceleration of a frame due to the velocity alone, ``J̇(q, v) v``.

    ``J a + J̇ v`` is the spatial acceleration for "body" and "world"; for "aligned", whose reference moves with the
    frame's origin, it is the classical one.

    References: RBDA Table 5.1: the recursion of the accelerations at ``ν̇ = 0``.
    """
    kind = "classical" if reference == "aligned" else "spatial"
    return list(path_to(model, frame, q, v, point).acceleration([0.0] * model.nv, reference, kind))


def accumulate(J: Matrix, k: int, column: Motion) -> None:
    """Add to column k, which mimic joints share with their leader."""
    for row, x in zip(J, column, strict=True):
        row[k] = row[k] + x


@algorithm("manipulability", outputs="w")
def manipulability(model: Model, q: Vector, *, frame: str, rows: str = "pose") -> Scalar:
    """Yoshikawa's measure of manipulability of a frame, ``√det(J Jᵀ)``: the product of the singular values of J.

    It is 0 where J loses rank, but for rounding: at a singularity with six joints, and at every configuration of an arm
    of fewer joints than rows. Such an arm needs the `rows` that it is made for.

    Returns
    -------
    w
        Not negative, the same for all axes in which J may be given. Its unit is that of the rows multiplied: m³ for the
        pose and the position of an arm of revolute joints, rad being 1.

    References: Yoshikawa, "Manipulability of robotic mechanisms", International Journal of Robotics Research 4(2),
    1985.

    >>> straight, bent = [0.0] * 7, [0, 0.3, 0, -1.5, 0, 1.8, 0.8]
    >>> robot.manipulability([straight, bent], frame="panda_hand").round(6)
    array([0.      , 0.094873])
    """
    return volume(jacobian(model, q, frame=frame)[ROWS[rows]])


@algorithm("relative_jacobian", options={"reference": ("body", "relative_to", "aligned")}, outputs="J")
def relative_jacobian(
    model: Model, q: Vector, point: Vector | None = None, *, frame: str, relative_to: str, reference: str = "body"
) -> Matrix:
    """Jacobian of a frame relative to another one: ``J(q) v`` is the twist of `frame` observed from `relative_to`.

    Parameters
    ----------
    reference
        Axes, and the point whose relative velocity the last three rows give: those of `frame`; those of
        `relative_to`, which takes the role of the world; or the axes of `relative_to` with the origin of `frame`.

    Returns
    -------
    J
        Three rows of angular, three of linear velocity; zero for joints that move both frames or neither. In body axes
        ``J_frame − X J_relative_to``, with X the transform from `relative_to` to `frame`.
    """
    ours, theirs = without_common(path_to(model, frame, q, point=point), path_to(model, relative_to, q))
    return jacobian_between(ours, theirs, model.nv, reference)


def jacobian_between(ours: Path, theirs: Path, nv: int, reference: str) -> Matrix:
    """Return the relative Jacobian of the ends of two paths without bodies that move both."""
    to_ours, to_theirs = reference_transforms(ours, theirs, reference)
    J: Matrix = [[0.0] * nv for _ in range(6)]
    for k, column in ours.columns(to_ours):
        accumulate(J, k, column)
    for k, column in theirs.columns(to_theirs):
        accumulate(J, k, column * -1.0)
    return J


@algorithm("relative_placement", outputs="placement")
def relative_placement(
    model: Model, q: Vector, point: Vector | None = None, *, frame: str, relative_to: str
) -> Placement:
    """Pose of a frame in another frame."""
    ours, theirs = without_common(path_to(model, frame, q, point=point), path_to(model, relative_to, q))
    return (ours.transform() @ theirs.transform().inverse()).placement
