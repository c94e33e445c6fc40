"""Robots and recorded motions in files, for tests of the command line."""

from __future__ import annotations

from typing import Any

import numpy as np

import kinetree as kt
from kinetree.logs.columns import Coordinates

SWING = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="swing" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
<dynamics damping="0.1"/><limit lower="-2" upper="2" effort="3" velocity="5"/></joint></robot>"""

ARM = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="swing" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" effort="8" velocity="5"/></joint>
<link name="hand"><inertial><origin xyz="0 0 -0.1"/><mass value="0.2"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="wheel" type="continuous"><parent link="upper"/><child link="hand"/><origin xyz="0 0 -0.8"/>
<axis xyz="1 0 0"/><limit effort="2" velocity="4"/></joint></robot>"""

LINK = '<link name="{0}"><visual><geometry><mesh filename="package://{0}.stl"/></geometry></visual><!-- {0} -->\n'
LINK += '<inertial><origin xyz="0.1 0 {1}"/><mass value="{2}"/>'
LINK += '<inertia ixx="{3}" iyy="{3}" izz="{3}" ixy="0" ixz="0" iyz="0"/></inertial></link>\n'
JOINT = '<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/><origin xyz="0.3 0 0"/>'
JOINT += '<axis xyz="{3}"/><limit lower="-2" upper="2" effort="99" velocity="9"/></joint>\n'
LEG = '<robot name="arm"><link name="a"/>' + LINK.format("b", 0.05, 2, 0.02) + LINK.format("c", 0.2, 1, 0.01)
LEG += JOINT.format("hip", "a", "b", "0 1 0") + JOINT.format("knee", "b", "c", "1 0 0") + "</robot>"
N = 400


def real() -> kt.Robot:
    """Return the robot of `LEG` as it is: with a tool, and with damping."""
    tool = kt.Inertia(0.8, [0.0, 0.1, 0.0], np.diag([0.02, 0.01, 0.02]))
    return kt.load(LEG).attach(tool, "c").with_joint_physics(damping=0.4).with_friction()


def recorded(robot: kt.Robot, seed: int) -> dict[str, Any]:
    """Return a log of random states with noisy forces."""
    q, v, a = robot.random_state(seed, N)
    noise = np.random.default_rng(seed).normal(size=v.shape)
    return {"t": 0.01 * np.arange(N), "q": q, "v": v, "a": a, "tau": robot.inverse_dynamics(q, v, a) + 0.02 * noise}


def write_csv(path: Any, robot: kt.Robot, t: Any = None, **arrays: Any) -> None:
    """Write the arrays q, v, a, … in canonical columns."""
    names = Coordinates.of(robot)
    head = ([] if t is None else ["t"]) + [f"{x}.{n}" for x in arrays for n in names.names(x)]
    columns = ([] if t is None else [np.asarray(t)[:, None]]) + list(arrays.values())
    np.savetxt(path, np.hstack(columns), delimiter=",", header=",".join(head), comments="", fmt="%.17g")
