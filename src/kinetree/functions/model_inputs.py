"""Numbers of a model that become arguments of a compiled function: gravity, payloads, inertial parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kinetree.errors import ArgumentError
from kinetree.model import WORLD, Model
from kinetree.model.regroup import regrouped
from kinetree.spatial import Inertia, Transform


@dataclass(frozen=True)
class RunTimeInput:
    """A number of the model as an argument of a function that `kinetree.compile` makes.

    Made by `kinetree.payload` and `kinetree.inertia`; `kinetree.gravity` is one.

    Attributes
    ----------
    name : str
        Of the argument.
    shape : tuple of int
        For one state.
    kind : str
        "gravity", "inertia" or "payload".
    frame : str
        Name of the link or frame, for the last two.
    """

    name: str
    shape: tuple[int, ...]
    kind: str
    frame: str = ""

    def check(self, model: Model) -> None:
        """Raise where this model has no such thing."""
        if self.kind != "gravity" and model.frame(self.frame).body == WORLD:
            raise ArgumentError(f"{self.name}: {self.frame!r} does not move, its inertia makes no difference")


gravity = RunTimeInput("gravity", (3,), "gravity")


def inertia(link: str, name: str | None = None) -> RunTimeInput:
    """Return the argument that replaces the inertial parameters of the body that carries a link.

    Its value has shape (..., 10): ``(m, m c_x, m c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz)`` of the whole moving
    body, links fixed to it included, about the origin of the body's frame and in its axes: a row of
    `robot.inertial_parameters`.

    Parameters
    ----------
    link : str
        Any frame of the body.
    name : str, optional
        Of the argument; ``inertia_`` and the link's name if not given.
    """
    return RunTimeInput(name or _argument("inertia", link), (10,), "inertia", link)


def payload(frame: str, name: str | None = None) -> RunTimeInput:
    """Return the argument that is the inertia of something held at a frame, added to what is there.

    Its value has shape (..., 10): ``(m, m c_x, m c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz)`` about the frame's
    origin and in its axes. All zero is no payload.

    Parameters
    ----------
    frame : str
    name : str, optional
        Of the argument; ``payload_`` and the frame's name if not given.
    """
    return RunTimeInput(name or _argument("payload", frame), (10,), "payload", frame)


def _argument(kind: str, frame: str) -> str:
    return re.sub(r"\W", "_", f"{kind}_{frame}")


def changed(model: Model, values: Mapping[RunTimeInput, Sequence[Any]], joint_space: bool) -> Model:
    """Return the model with these values in the place of its numbers.

    In the joint space what is known ahead is regrouped first, and what is an argument then added to it: M and h are
    linear in the inertias, so this is the same, and costs fewer operations than regrouping the arguments.
    """
    bodies = list(model.bodies)
    for value in values:
        if value.kind == "inertia":
            i = model.frame(value.frame).body
            bodies[i] = replace(bodies[i], inertia=Inertia.zero())
    model = replace(model, bodies=tuple(bodies))
    if joint_space:
        model = regrouped(model)
    bodies = list(model.bodies)
    for value, entries in values.items():
        if value.kind == "gravity":
            model = model.with_gravity(entries)
        else:
            i, added = model.frame(value.frame).body, Inertia.from_parameters(entries)
            X = model.frame(value.frame).X if value.kind == "payload" else Transform.identity()
            bodies[i] = replace(bodies[i], inertia=bodies[i].inertia + X.T @ added)
    return replace(model, bodies=tuple(bodies))
