"""MuJoCo as a second oracle: a URDF in MuJoCo, and the maps between its coordinates and kinetree's.

MuJoCo's free joint has q = (position, quaternion with w first), and in v the linear velocity of the origin in *world*
axes before the angular one in body axes; its linear acceleration is the ordinary one. Visuals are taken out of the
file, and mimic tags too, so that every joint moves by itself.
"""

from dataclasses import dataclass, field
from xml.etree import ElementTree as ET

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from kinetree.joints import FreeFlyer
from kinetree.model import Model

OPTIONS = '<mujoco><compiler fusestatic="false" discardvisual="true" balanceinertia="false"/></mujoco>'


def load(path, model):
    """Return the robot of this file in MuJoCo, with a free joint at its root where our model has one."""
    robot = ET.parse(path).getroot()
    for parent in list(robot.iter()):
        for child in [c for c in parent if c.tag in ("visual", "collision", "mimic", "gazebo", "transmission")]:
            parent.remove(child)
    if isinstance(model.bodies[0].joint, FreeFlyer):
        _float(robot, model.bodies[0].joint_name)
    robot.append(ET.fromstring(OPTIONS))
    theirs = mujoco.MjModel.from_xml_string(ET.tostring(robot, encoding="unicode"))
    theirs.opt.gravity[:] = list(model.gravity)
    return MuJoCo(model, theirs)


def _float(robot, joint_name):
    """Put a floating joint above the root link; a root link named "world" is the world to MuJoCo."""
    for element in robot.iter():
        for key in ("name", "link"):
            if element.get(key) == "world":
                element.set(key, "root link")
    children = {joint.find("child").get("link") for joint in robot.findall("joint")}
    (root,) = [link.get("name") for link in robot.findall("link") if link.get("name") not in children]
    ET.SubElement(robot, "link", name="world")
    joint = ET.SubElement(robot, "joint", name=joint_name, type="floating")
    ET.SubElement(joint, "parent", link="world")
    ET.SubElement(joint, "child", link=root)


@dataclass
class MuJoCo:
    """A robot in MuJoCo, spoken to in kinetree's coordinates (batches with one leading axis)."""

    ours: Model
    theirs: mujoco.MjModel = field(repr=False)

    def __post_init__(self):
        self.data = mujoco.MjData(self.theirs)
        self._index = np.empty(self.ours.nv, dtype=int)  # of our velocities in theirs
        self._q = np.empty(self.ours.nq, dtype=int)
        self.floating = False
        for body in self.ours.bodies:
            joint = self.theirs.joint(body.joint_name)
            q, v = joint.qposadr[0], joint.dofadr[0]
            if isinstance(body.joint, FreeFlyer):
                self.floating = True
                self._q[list(body.q_index)] = q + np.array([0, 1, 2, 4, 5, 6, 3])
                self._index[list(body.v_index)] = v + np.array([3, 4, 5, 0, 1, 2])
                self._base = list(body.q_index), list(body.v_index)
            else:
                self._q[list(body.q_index)], self._index[list(body.v_index)] = q, v

    def _axes(self, q):
        """Return T with (their velocities) = T (ours), but for the order: the base's linear part in world axes."""
        T = np.eye(self.ours.nv)
        if self.floating:
            linear = self._base[1][3:]
            T[np.ix_(linear, linear)] = Rotation.from_quat(q[self._base[0][3:]]).as_matrix()
        return T

    def _set(self, q, v, a):
        """Put the state into MuJoCo's data, and return T."""
        T, a = self._axes(q), a.copy()
        if self.floating:
            angular, linear = self._base[1][:3], self._base[1][3:]
            a[linear] += np.cross(v[angular], v[linear])  # the ordinary acceleration of the origin
        self.data.qpos[self._q], self.data.qvel[self._index], self.data.qacc[self._index] = q, T @ v, T @ a
        mujoco.mj_fwdPosition(self.theirs, self.data)
        mujoco.mj_fwdVelocity(self.theirs, self.data)
        return T

    def simulate(self, q, v, steps):
        """Return the state after so many of its steps, without constraints."""
        mujoco.mj_resetData(self.theirs, self.data)
        self._set(q, v, np.zeros(self.ours.nv))
        self.theirs.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        mujoco.mj_step(self.theirs, self.data, nstep=steps)
        q = self.data.qpos[self._q]
        return q, self._axes(q).T @ self.data.qvel[self._index]

    def inverse_dynamics(self, q, v, a):
        out = np.empty_like(v)
        force = np.empty(self.theirs.nv)
        for k in range(len(q)):
            T = self._set(q[k], v[k], a[k])
            mujoco.mj_rne(self.theirs, self.data, 1, force)
            out[k] = T.T @ force[self._index]
        return out

    def mass_matrix(self, q):
        n = self.ours.nv
        out = np.empty((len(q), n, n))
        M = np.empty((n, n))
        for k in range(len(q)):
            T = self._set(q[k], np.zeros(n), np.zeros(n))
            for column, e in zip(M, np.eye(n), strict=True):  # M is symmetric
                mujoco.mj_mulM(self.theirs, self.data, column, e)
            out[k] = T.T @ M[np.ix_(self._index, self._index)] @ T
        return out
