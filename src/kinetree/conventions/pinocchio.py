"""Pinocchio's conventions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from kinetree.conventions.base import SWAP, Convention, Rule, same
from kinetree.errors import ArgumentError
from kinetree.joints import Continuous, FreeFlyer, Helical, Joint, Planar, Prismatic, Revolute, Spherical, Universal
from kinetree.model import Body
from kinetree.robot import Robot
from kinetree.validation import Array, real_array


def _to_circle(q: Array) -> Array:
    """Return q with its last entry, an angle, as a point of the circle."""
    angle = q[..., -1:]
    return np.concatenate([q[..., :-1], np.cos(angle), np.sin(angle)], axis=-1)


def _from_circle(q: Array) -> Array:
    """Return q with its last two entries as an angle from −π to π."""
    return np.concatenate([q[..., :-2], np.arctan2(q[..., -1:], q[..., -2:-1])], axis=-1)


class Pinocchio(Convention):
    """The states of a robot in Pinocchio (4.x): its order of joints, and its coordinates.

    - A free-flyer's velocity is linear first, ``(v, ω)``, in the body's axes as here; its q is the same.
    - A continuous joint has ``(cos θ, sin θ)`` in q; a planar one ``(x, y, cos θ, sin θ)``, and ``(v_x, v_y, ω)`` in v.
    - Forces are ``(f, n)``; Jacobians have their linear rows first: ours in the body's axes are its ``LOCAL``, in the
      world's its ``WORLD``, "aligned" ones its ``LOCAL_WORLD_ALIGNED``.

    Parameters
    ----------
    robot : Robot
    model : pinocchio.Model or sequence of str
        The robot there, or the names of its joints in their order (``list(model.names)``; "universe" may be in it).
    rename : mapping, optional
        From the names of joints there to those here, where they differ.

    Raises
    ------
    ArgumentError
        If the joints are not the same, or one has another number of coordinates there.
    ModelError
        If Pinocchio has no joint of some type, or writes its coordinates otherwise.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("go2")
    >>> pin = Pinocchio(robot, ["universe", *robot.joint_names])
    >>> q, v, a = robot.random_state(seed=0)
    >>> bool((pin.to_v(q, v)[:3] == v[3:6]).all())  # linear first
    True
    """

    library: ClassVar[str] = "Pinocchio"
    rules: ClassVar[dict[type[Joint], Rule]] = {
        FreeFlyer: Rule(7, same, same, tuple(SWAP)),
        Planar: Rule(4, _to_circle, _from_circle, (1, 2, 0)),
        Continuous: Rule(2, _to_circle, _from_circle, (0,)),
        **{joint: Rule.plain(joint) for joint in (Revolute, Prismatic, Helical, Spherical, Universal)},
    }

    def __init__(self, robot: Robot, model: Any, rename: Mapping[str, str] | None = None) -> None:
        names, nqs = _joints(model)
        ours = [(rename or {}).get(name, name) for name in names]
        self._nqs = dict(zip(ours, nqs, strict=False))  # empty where only names are known
        joints = [body.joint_name for body in robot.model.bodies]
        followers = set(joints) - set(robot.joint_names)
        free = sorted(name for name in followers if name not in ours or self._nqs.get(name, 0) > 0)
        if free:
            raise ArgumentError(
                f"Pinocchio: the joints {free} mimic others here, not there: read its file with mimic=True"
            )
        super().__init__(robot, [name for name in ours if name not in followers])
        self._row = [ours.index(name) + 1 for name in joints]  # row 0 is the universe's
        self.njoints = len(names) + 1

    def _rule(self, body: Body) -> Rule:
        rule = super()._rule(body)
        theirs = self._nqs.get(body.joint_name, rule.nq)
        if theirs == body.joint.nq == 1:  # an angle there too, not a point of the circle
            return Rule.plain(type(body.joint))
        if theirs != rule.nq:
            like = self._no_joint_like(body)
            raise ArgumentError(f"{like}: it has {theirs} coordinates there, {rule.nq} were expected")
        return rule

    def to_f_ext(self, q: ArrayLike, f_ext: ArrayLike) -> Array:
        """Return external wrenches (..., njoints, 6), ``(f, n)`` in the joints' frames; the first is the universe's.

        ``[pinocchio.Force(f) for f in …]`` is what ``pinocchio.rnea`` takes. f_ext is that of ``f_ext_frame="body"``.
        """
        ours = real_array("f_ext", f_ext, self.robot.nb, 6)
        out = np.zeros((*ours.shape[:-2], self.njoints, 6))
        out[..., self._row, :] = ours[..., SWAP]
        return out

    def from_f_ext(self, q: ArrayLike, f_ext: ArrayLike) -> Array:
        """Return external wrenches (..., nb, 6) for theirs, (..., njoints, 6)."""
        return real_array("Pinocchio's f_ext", f_ext, self.njoints, 6)[..., self._row, :][..., SWAP]


def _joints(model: Any) -> tuple[list[str], list[int]]:
    """Return the names of the joints without the universe, and how many coordinates they have if that is known."""
    if isinstance(model, Sequence) and not isinstance(model, str):
        return [str(name) for name in model if name != "universe"], []
    if not hasattr(model, "names"):
        raise ArgumentError(
            f"Pinocchio takes a pinocchio.Model or the names of joints; {type(model).__name__} was given"
        )
    return [str(name) for name in model.names][1:], [int(n) for n in model.nqs][1:]
