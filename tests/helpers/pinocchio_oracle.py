"""Pinocchio as an oracle: the same robot in both libraries, and the maps between their coordinates.

Pinocchio's free-flyer and planar joint have v = (linear, angular), and its continuous and planar joints have (cos θ,
sin θ) in q; it numbers the joints in its own order. Its joint frames and kinetree's are the same.
"""

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pinocchio as pin

from helpers import dense
from helpers.joints import MOVING
from kinetree.joints import Planar
from kinetree.model import WORLD, Model
from kinetree.spatial import Inertia, Sym3


def se3(X):
    return pin.SE3(np.array(X.placement, dtype=float))


def pin_inertia(I):
    """Return Pinocchio's inertia: mass, centre of mass, and the inertia about it, each number rounded once."""
    if I.m == 0.0:
        return pin.Inertia.Zero()
    m, *h, xx, xy, yy, xz, yz, zz = map(Fraction, I)
    c = [x / m for x in h]
    offset = Inertia.from_com(m, c, [[0, 0, 0], [0, 0, 0], [0, 0, 0]]).I
    about_com = Sym3(xx, xy, yy, xz, yz, zz) - offset
    return pin.Inertia(I.m, np.array(c, dtype=float), dense.matrix(about_com.rows).astype(float))


def revolute(axis):
    """Return Pinocchio's joint about this axis, of the type that its own loader takes."""
    aligned = {(1.0, 0.0, 0.0): pin.JointModelRX, (0.0, 1.0, 0.0): pin.JointModelRY, (0.0, 0.0, 1.0): pin.JointModelRZ}
    return aligned[axis]() if axis in aligned else pin.JointModelRevoluteUnaligned(np.array(axis))


JOINTS = {
    "Revolute": lambda joint: revolute(joint.axis),
    "Continuous": lambda joint: revolute(joint.axis),
    "Prismatic": lambda joint: pin.JointModelPrismaticUnaligned(np.array(joint.axis)),
    "Helical": lambda joint: pin.JointModelHelicalUnaligned(np.array(joint.axis), joint.pitch),
    "Spherical": lambda joint: pin.JointModelSpherical(),
    "Planar": lambda joint: pin.JointModelPlanar(),
    "FreeFlyer": lambda joint: pin.JointModelFreeFlyer(),
}
"""How Pinocchio makes the joint types that it has too."""

SHARED = tuple(j for j in MOVING if type(j).__name__ in JOINTS and (not isinstance(j, Planar) or j == Planar()))
"""The example joints that Pinocchio can have: its plane is always that of x and y."""

# Where our velocities are in theirs, for the joints that order them otherwise: linear first, ours angular first.
V_ORDER = {"FreeFlyer": [3, 4, 5, 0, 1, 2], "Planar": [1, 2, 0]}


def depth_first(model):
    """Return the bodies subtree by subtree: Pinocchio's mass matrix is wrong in any other order."""
    order = []
    stack = [WORLD]
    while stack:
        i = stack.pop()
        order.append(i)
        stack.extend(k for k, body in enumerate(model.bodies) if body.parent == i)
    return order[1:]


def build(model):
    """Return the same tree, built in Pinocchio joint by joint."""
    theirs = pin.Model()
    theirs.name = model.name
    index = {WORLD: 0}
    for i in depth_first(model):
        body = model.bodies[i]
        index[i] = theirs.addJoint(
            index[body.parent], JOINTS[type(body.joint).__name__](body.joint), se3(body.X_T), body.joint_name
        )
        theirs.appendBodyToJoint(index[i], pin_inertia(body.inertia), pin.SE3.Identity())
    theirs.gravity = pin.Motion(np.array([*model.gravity]), np.zeros(3))
    oracle = Oracle(model, theirs)
    rotor = np.concatenate([body.armature for body in model.bodies])
    theirs.armature = oracle.to_pin_v(rotor[np.argsort(np.concatenate([b.v_index for b in model.bodies]))])
    return oracle


@dataclass
class Oracle:
    """A robot in Pinocchio, spoken to in kinetree's coordinates (batches with one leading axis)."""

    ours: Model
    theirs: pin.Model = field(repr=False)

    def __post_init__(self):
        self.data = self.theirs.createData()
        to_pin = np.empty(self.theirs.nv, dtype=int)  # where each of their velocities is in ours
        for body, joint in self.joints():
            k = np.array(body.v_index)
            to_pin[joint.idx_v : joint.idx_v + joint.nv] = k[V_ORDER.get(type(body.joint).__name__, slice(None))]
        self._v = to_pin
        self._back = np.argsort(to_pin)

    def joints(self):
        names = list(self.theirs.names)
        return [(body, self.theirs.joints[names.index(body.joint_name)]) for body in self.ours.bodies]

    def to_pin_q(self, q):
        out = np.empty((*q.shape[:-1], self.theirs.nq))
        for body, joint in self.joints():
            ours = q[..., list(body.q_index)]
            if joint.nq == ours.shape[-1] + 1:  # an angle is a point on the circle there
                angle = ours[..., -1:]
                ours = np.concatenate([ours[..., :-1], np.cos(angle), np.sin(angle)], axis=-1)
            out[..., joint.idx_q : joint.idx_q + joint.nq] = ours
        return out

    def to_pin_v(self, v):
        return v[..., self._v]

    def from_pin_v(self, v):
        return np.asarray(v)[..., self._back]

    def inverse_dynamics(self, q, v, a):
        rows = zip(self.to_pin_q(q), self.to_pin_v(v), self.to_pin_v(a), strict=True)
        return self.from_pin_v(np.array([pin.rnea(self.theirs, self.data, *row) for row in rows]))

    def forward_dynamics(self, q, v, tau):
        rows = zip(self.to_pin_q(q), self.to_pin_v(v), self.to_pin_v(tau), strict=True)
        return self.from_pin_v(np.array([pin.aba(self.theirs, self.data, *row) for row in rows]))

    def mass_matrix(self, q):
        M = np.array([np.array(pin.crba(self.theirs, self.data, row)) for row in self.to_pin_q(q)])
        M = np.triu(M) + np.swapaxes(np.triu(M, 1), -1, -2)
        return M[:, self._back][:, :, self._back]

    def mass_matrix_inverse(self, q):
        M = np.array([np.array(pin.computeMinverse(self.theirs, self.data, row)) for row in self.to_pin_q(q)])
        M = np.triu(M) + np.swapaxes(np.triu(M, 1), -1, -2)
        return M[:, self._back][:, :, self._back]

    def jacobian(self, q, frame):
        """Return the Jacobian (n, 6, nv) of a body (of its frame) in its own coordinates, angular rows first."""
        index = self.theirs.getJointId(next(b.joint_name for b in self.ours.bodies if b.name == frame))
        J = np.array([pin.computeJointJacobian(self.theirs, self.data, row, index) for row in self.to_pin_q(q)])
        return self.from_pin_v(J[:, [3, 4, 5, 0, 1, 2]])

    def poses(self, q):
        """Return the poses (n, nb, 4, 4) of the bodies, in our order."""
        names = list(self.theirs.names)
        out = []
        for row in self.to_pin_q(q):
            pin.forwardKinematics(self.theirs, self.data, row)
            out.append([self.data.oMi[names.index(b.joint_name)].homogeneous.copy() for b in self.ours.bodies])
        return np.array(out)

    def integrate(self, q, dv):
        """Return Pinocchio's q ⊕ dv, in its own coordinates."""
        rows = zip(self.to_pin_q(q), self.to_pin_v(dv), strict=True)
        return np.array([pin.integrate(self.theirs, *row) for row in rows])

    def difference(self, q0, q1):
        rows = zip(self.to_pin_q(q0), self.to_pin_q(q1), strict=True)
        return self.from_pin_v(np.array([pin.difference(self.theirs, *row) for row in rows]))


def constrained_dynamics(oracle, kind, frames, q, v, tau):
    """Return Pinocchio's accelerations with one or two frames held each, and the data of its constraints."""
    held, data = rigid(oracle, kind, frames)
    pin.initConstraintDynamics(oracle.theirs, oracle.data, held, data)
    state = (x[0] for x in (oracle.to_pin_q(q[None]), oracle.to_pin_v(v[None]), oracle.to_pin_v(tau[None])))
    settings = pin.ProximalSettings(1e-14, 1e-12, 20)
    found = pin.constraintDynamics(oracle.theirs, oracle.data, *state, held, data, settings)
    return oracle.from_pin_v(found[None])[0], data


def rigid(oracle, kind, frames):
    """Return Pinocchio's constraints that hold one frame, or two together, and their data."""
    found, data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for names in frames:
        ends = [oracle.ours.frame(name) for name in names]
        at = [(oracle.theirs.getJointId(oracle.ours.bodies[end.body].joint_name), se3(end.X)) for end in ends]
        arguments = (x for pair in at for x in pair)
        found.append(pin.RigidConstraintModel(kind, oracle.theirs, *arguments, pin.ReferenceFrame.LOCAL))
    for constraint in found:
        data.append(constraint.createData())
    return found, data
