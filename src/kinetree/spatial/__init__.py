"""Spatial algebra over any scalar: small typed values, angular part first."""

from kinetree.scalars.functions import Scalar, cos, select, sin, sqrt
from kinetree.spatial.inertia import ArticulatedInertia, Inertia
from kinetree.spatial.rotation import AxisRotation, GeneralRotation, Quaternion, Rotation
from kinetree.spatial.transform import Chain, Mobility, Transform
from kinetree.spatial.vector import Composite, Force, Mat3, Motion, Sym3, Vec3, at_rest

__all__ = ["ArticulatedInertia", "AxisRotation", "Chain", "Composite", "Force", "GeneralRotation", "Inertia", "Mat3"]
__all__ += ["Mobility", "Motion", "Quaternion", "Rotation", "Scalar", "Sym3", "Transform", "Vec3", "at_rest", "cos"]
__all__ += ["select", "sin", "sqrt"]
