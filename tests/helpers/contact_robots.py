"""Small bodies that touch the ground, for tests of contacts in time."""

from typing import Any

import numpy as np

import kinetree as kt
from kinetree.joints import FreeFlyer, Prismatic

Array = np.ndarray[Any, Any]


def point_mass():
    """Return a point of 2 kg that moves along x, y and z, and touches the ground at z = 0."""
    b = kt.ModelBuilder("point")
    b.add_link("ground")
    parent = "ground"
    for name, axis in (("x", (1, 0, 0)), ("y", (0, 1, 0)), ("z", (0, 0, 1))):
        inertia = kt.Inertia.from_com(2.0, (0, 0, 0), np.eye(3)) if name == "z" else kt.Inertia.zero()
        b.add_link(f"at_{name}", inertia)
        b.add_joint(name, parent=parent, child=f"at_{name}", joint=Prismatic(axis))
        parent = f"at_{name}"
    return kt.Mechanism(kt.Robot(b.build()), [kt.Contact("at_z", friction=0.5)])


def rolling(inertia, radius=0.1):
    """Return a body that floats and touches the ground as a sphere, with ``inertia m r²`` about its centre, of 3 kg."""
    return kt.Mechanism(floating({"ball": 3.0}, inertia * radius**2), [kt.Contact("ball", radius=radius, friction=0.4)])


def floating(masses, gyration):
    """Return bodies that float, with inertias of their masses times `gyration` about their centres."""
    b = kt.ModelBuilder("bodies")
    b.add_link("ground")
    for name, mass in masses.items():
        b.add_link(name, kt.Inertia.from_com(mass, (0, 0, 0), np.diag(np.broadcast_to(gyration, 3)) * mass))
        b.add_joint(f"{name}_joint", parent="ground", child=name, joint=FreeFlyer())
    return kt.Robot(b.build())


def stack(masses, edge=0.2):
    """Return cubes that stand on one another by their four lower corners, the first on the ground."""
    robot = floating(masses, edge**2 / 6)
    below, contacts = None, []
    for name in masses:
        top = {"to": below, "height": edge / 2} if below else {}
        corners = kt.box_contacts(name, (edge, edge, edge), **top)
        contacts += [corner for corner in corners if corner.point[2] < 0]
        below = name
    return kt.Mechanism(robot, contacts)
