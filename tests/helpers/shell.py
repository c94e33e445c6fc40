"""Files for tests of the command line."""

import numpy as np

from kinetree.logs.columns import Coordinates

SWING = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="swing" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
<dynamics damping="0.1"/><limit lower="-2" upper="2" effort="3" velocity="5"/></joint></robot>"""

WHEEL = SWING.replace('<dynamics damping="0.1"/>', "").replace('effort="3"', 'effort="8"')
WHEEL = WHEEL.replace(
    "</robot>",
    """<link name="hand"><inertial><origin xyz="0 0 -0.1"/><mass value="0.2"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="wheel" type="continuous"><parent link="upper"/><child link="hand"/><origin xyz="0 0 -0.8"/>
<axis xyz="1 0 0"/><limit effort="2" velocity="4"/></joint></robot>""",
)

LINK = '<link name="{0}"><visual><geometry><mesh filename="package://{0}.stl"/></geometry></visual><!-- {0} -->\n'
LINK += '<inertial><origin xyz="0.1 0 {1}"/><mass value="{2}"/>'
LINK += '<inertia ixx="{3}" iyy="{3}" izz="{3}" ixy="0" ixz="0" iyz="0"/></inertial></link>\n'
JOINT = '<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/><origin xyz="0.3 0 0"/>'
JOINT += '<axis xyz="{3}"/><limit lower="-2" upper="2" effort="99" velocity="9"/></joint>\n'
KNEE = '<robot name="arm"><link name="a"/>' + LINK.format("b", 0.05, 2, 0.02) + LINK.format("c", 0.2, 1, 0.01)
KNEE += JOINT.format("hip", "a", "b", "0 1 0") + JOINT.format("knee", "b", "c", "1 0 0") + "</robot>"


def read_csv(path):
    """Return a CSV as a dictionary of columns."""
    with open(path) as file:
        names = file.readline().strip().split(",")
        return dict(zip(names, np.loadtxt(file, delimiter=",", ndmin=2).T, strict=True))


def read(path, robot, name):
    """Return the columns v, a or tau of a CSV, (n, nv)."""
    table = read_csv(path)
    return np.stack([table[f"{name}.{x}"] for x in Coordinates.of(robot).v], axis=1)


def write_csv(path, robot, t=None, **arrays):
    """Write the arrays q, v, a, … in canonical columns."""
    names = Coordinates.of(robot)
    head = ([] if t is None else ["t"]) + [f"{x}.{n}" for x in arrays for n in names.names(x)]
    columns = ([] if t is None else [np.asarray(t)[:, None]]) + list(arrays.values())
    np.savetxt(path, np.hstack(columns), delimiter=",", header=",".join(head), comments="", fmt="%.17g")
