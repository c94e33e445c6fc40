"""Inertias of links made of their shapes and a density, for files that have none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from kinetree.errors import ArgumentError, FormatError, ModelError, listed, unknown_name, warn_user
from kinetree.model import WORLD, Model
from kinetree.model import edit as changes
from kinetree.robot.base import R, changed
from kinetree.spatial import Inertia
from kinetree.validation import positive

if TYPE_CHECKING:
    from kinetree.geometry import Geometry


def with_inertia_from_geometry(robot: R, density: float | Mapping[str, float] = 1000.0) -> R:
    """Return this robot with inertias of its shapes, filled with a material, for links that have none.

    A link's collision shapes count, or where it has none, those that are seen: exactly, and meshes by the volume that
    they enclose. What overlaps counts twice.

    Parameters
    ----------
    density : float, or mapping of str to float
        In kg/m³, that of water by default. A number is for all links of the bodies without mass: links that are fixed
        to each other are one body. A mapping has the density of each link that counts, by its name; the inertia that
        their bodies may have is replaced.

    Raises
    ------
    ArgumentError
        If there is no such link, a density is not positive, or a mesh needs trimesh, which is not installed.
    ModelError
        If shapes enclose no volume: planes, meshes that are missing, not closed, flat or turned inside out. The message
        names their links; a mapping leaves links out.

    Warns
    -----
    FormatWarning
        If bodies are still without mass, and so is all that they carry: no shape or density is given for them.

    Examples
    --------
    >>> import kinetree as kt
    >>> rod = "<collision><geometry><cylinder radius='0.02' length='1'/></geometry></collision>"
    >>> joint = "<joint name='pivot' type='continuous'><parent link='base'/><child link='rod'/></joint>"
    >>> text = f"<robot name='pendulum'><link name='base'/><link name='rod'>{rod}</link>{joint}</robot>"
    >>> robot = kt.load(text).with_inertia_from_geometry(2700.0)
    >>> round(robot.mass, 3)
    3.393
    """
    model = robot.model
    shapes: defaultdict[str, list[Geometry]] = defaultdict(list)
    for kind in (robot.geometry.collision, robot.geometry.visual):
        known = {*shapes}
        for geometry in kind:
            if geometry.link not in known:
                shapes[geometry.link].append(geometry)
    inertias = _inertias(model, shapes, _densities(model, shapes, density))
    parameters = [x for i, body in enumerate(model.bodies) for x in inertias.get(i, body.inertia)]
    filled = changes.with_inertial_parameters(model, parameters)
    if empty := _without_mass(filled):
        warn_user(f"robot {robot.name!r}: still without mass, no shape or density is given for: {listed(empty)}")
    return changed(robot, filled)


def _densities(
    model: Model, shapes: Mapping[str, list[Geometry]], density: float | Mapping[str, float]
) -> dict[str, float]:
    """Return the density of each link that gets an inertia."""
    if not isinstance(density, Mapping):
        same = positive("density", density)
        empty = {i for i, body in enumerate(model.bodies) if not any(body.inertia)}
        return {frame.name: same for frame in model.frames if frame.body in empty and frame.name in shapes}
    for link in density:
        if link not in model.frame_names:
            raise ArgumentError(f"density: {unknown_name('link', link, model.frame_names)}")
        if model.frame(link).body == WORLD:
            raise ArgumentError(f"density: the link {link!r} does not move")
        if link not in shapes:
            raise ArgumentError(f"density: the link {link!r} has no shapes")
    return {link: positive(f"density of {link!r}", value) for link, value in density.items()}


def _inertias(model: Model, shapes: Mapping[str, list[Geometry]], densities: Mapping[str, float]) -> dict[int, Inertia]:
    """Return the inertias of the bodies to which these links belong; a `ModelError` names all shapes without one."""
    found: defaultdict[int, Inertia] = defaultdict(Inertia.zero)
    flaws = []
    for link, density in densities.items():
        frame = model.frame(link)
        for geometry in shapes[link]:
            try:
                found[frame.body] += frame.X.T @ geometry.inertia(density)
            except (FormatError, ModelError) as error:
                flaws.append(f"link {link!r}: {error}")
    if flaws:
        raise ModelError(f"shapes without a volume: {'; '.join(flaws[:10])}")
    return found


def _without_mass(model: Model) -> list[str]:
    """Return the bodies that carry no mass."""
    carried = [float(body.inertia.m) for body in model.bodies]
    for i in reversed(range(model.nb)):
        if model.bodies[i].parent != WORLD:
            carried[model.bodies[i].parent] += carried[i]
    return [body.name for body, mass in zip(model.bodies, carried, strict=True) if mass == 0.0]
