"""MuJoCo's conventions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from kinetree.conventions.base import SWAP, Convention, Rule
from kinetree.errors import ArgumentError
from kinetree.formats.mjcf.codes import FREE, names_of
from kinetree.joints import Continuous, FreeFlyer, Joint, Prismatic, Revolute, Spherical
from kinetree.model import WORLD, Body
from kinetree.robot import Robot
from kinetree.spatial import Transform
from kinetree.validation import Array, real_array


def _entries(*order: int) -> Callable[[Array], Array]:
    """Return the function that takes these entries of a coordinate vector."""
    return partial(np.take, indices=order, axis=-1)


class MuJoCo(Convention):
    """The states of a robot in MuJoCo: ``qpos, qvel, qacc, qfrc, xfrc_applied``.

    - Quaternions are (w, x, y, z).
    - A free joint's velocity is linear first: the origin's velocity in the *world's* axes, and ω in the body's. So its
      acceleration is the origin's (not the spatial one), in the world's axes.
    - Jacobians are ``np.vstack([jacp, jacr])`` of ``mj_jac``: ours are those in "aligned" axes.

    Parameters
    ----------
    robot : Robot
    model : mujoco.MjModel or sequence of str
        The robot there, or the names of its joints in their order (without bodies, so without f_ext).
        A joint without a name is ``joint_3`` after its number, as `kinetree.load` calls it.
    rename : mapping, optional
        From the names of joints there to those here, where they differ. The free joint of a model needs none.

    Raises
    ------
    ArgumentError
        If the joints are not the same.
    ModelError
        If MuJoCo has no joint of some type.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("go2")
    >>> mj = MuJoCo(robot, robot.joint_names)
    >>> print(mj.to_q(robot.neutral())[:7])
    [0. 0. 0. 1. 0. 0. 0.]
    """

    library: ClassVar[str] = "MuJoCo"
    rules: ClassVar[dict[type[Joint], Rule]] = {
        FreeFlyer: Rule(7, _entries(0, 1, 2, 6, 3, 4, 5), _entries(0, 1, 2, 4, 5, 6, 3), tuple(SWAP), world_axes=True),
        Spherical: Rule(4, _entries(3, 0, 1, 2), _entries(1, 2, 3, 0), (0, 1, 2)),
        **{joint: Rule.plain(joint) for joint in (Revolute, Continuous, Prismatic)},
    }

    def __init__(self, robot: Robot, model: Any, rename: Mapping[str, str] | None = None) -> None:
        renamed = rename or {}
        if isinstance(model, Sequence) and not isinstance(model, str):
            super().__init__(robot, [renamed.get(name, name) for name in model])
            self.body_names: list[str] = []
            return
        if not hasattr(model, "njnt"):
            raise ArgumentError(f"MuJoCo takes an MjModel or the names of joints; {type(model).__name__} was given")
        names = names_of(model, "joint")
        ours = [b.joint_name for b in robot.model.bodies if (rule := self.rules.get(type(b.joint))) and rule.world_axes]
        free = [i for i in range(model.njnt) if model.jnt_type[i] == FREE]
        if len(ours) == len(free) == 1:
            renamed = {names[free[0]]: ours[0], **renamed}
        super().__init__(robot, [renamed.get(name, name) for name in names])
        if (self.nq, self.nv) != (model.nq, model.nv):
            raise ArgumentError(
                f"MuJoCo: nq = {model.nq} and nv = {model.nv} there, the robot would have {self.nq} and {self.nv}"
            )
        self.body_names = names_of(model, "body")
        self._body_com = np.array(model.body_ipos, dtype=np.float64)

    def _rule(self, body: Body) -> Rule:
        rule = super()._rule(body)
        if rule.world_axes and (body.parent != WORLD or Transform.identity() != body.X_T):
            raise ArgumentError(f"{self._no_joint_like(body)}: a free joint there starts from the world's origin")
        return rule

    def to_f_ext(self, q: ArrayLike, f_ext: ArrayLike) -> Array:
        """Return ``xfrc_applied`` (..., nbody, 6): ``(f, n)`` in the world's axes, about the bodies' centres of mass.

        f_ext is that of ``f_ext_frame="body"``. The bodies there must be named as here; those without mass, between
        several joints of one body there, take no wrench.
        """
        ours_at, rows, coms = self._rows()
        ours = real_array("f_ext", f_ext, self.robot.nb, 6)
        if others := [
            name for i, name in enumerate(self.robot.body_names) if i not in ours_at and ours[..., i, :].any()
        ]:
            raise ArgumentError(f"f_ext acts where there is no such body there: {others}")
        n, f = ours[..., ours_at, :3], ours[..., ours_at, 3:]
        R = self._rotations(real_array("q", q, self.robot.nq))[..., ours_at, :, :]
        there = np.concatenate([f, n - np.cross(coms, f)], axis=-1).reshape(*f.shape[:-1], 2, 3)
        turned = np.einsum("...bij,...bkj->...bki", R, there)
        out = np.zeros((*turned.shape[:-3], len(self.body_names), 6))
        out[..., rows, :] = turned.reshape(*turned.shape[:-2], 6)
        return out

    def from_f_ext(self, q: ArrayLike, f_ext: ArrayLike) -> Array:
        """Return external wrenches (..., nb, 6) in the bodies' frames for ``xfrc_applied`` (..., nbody, 6)."""
        ours_at, rows, coms = self._rows()
        theirs = real_array("xfrc_applied", f_ext, len(self.body_names), 6)
        parts = enumerate(self.body_names[1:], start=1)
        others = [name for i, name in parts if i not in rows and theirs[..., i, :].any()]
        if others:
            raise ArgumentError(f"xfrc_applied acts on bodies that are part of others here: {others}")
        wrenches = theirs[..., rows, :].reshape(*theirs.shape[:-2], len(rows), 2, 3)
        R = self._rotations(self.from_q(q))[..., ours_at, :, :]
        f, n = np.moveaxis(np.einsum("...bji,...bkj->...bki", R, wrenches), -2, 0)
        out = np.zeros((*f.shape[:-2], self.robot.nb, 6))
        out[..., ours_at, :] = np.concatenate([n + np.cross(coms, f), f], axis=-1)
        return out

    def _rows(self) -> tuple[list[int], list[int], Array]:
        """Return which bodies are there, where, and their centres of mass as our frames have them.

        Our frame of a body is its joint's, which is where that is anchored there.
        """
        if not self.body_names:
            raise ArgumentError("MuJoCo: xfrc_applied needs the bodies: make MuJoCo(robot, model) from an MjModel")
        names, carried = self.robot.body_names, {body.parent for body in self.robot.model.bodies}
        ours = [i for i, name in enumerate(names) if name in self.body_names]
        massless = {i for i in carried if not any(self.robot.model.bodies[i].inertia)}
        if missing := [name for i, name in enumerate(names) if i not in ours and i not in massless]:
            raise ArgumentError(f"MuJoCo: no bodies are named {missing} there; it has {self.body_names}")
        rows = [self.body_names.index(names[i]) for i in ours]
        anchors = [[*map(float, self.robot.model.frame(names[i]).X.r)] for i in ours]
        return ours, rows, self._body_com[rows] + np.reshape(anchors, (-1, 3))

    def _rotations(self, q: Array) -> Array:
        poses: Array = self.robot.forward_kinematics(q)
        return poses[..., :3, :3]
