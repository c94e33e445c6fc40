"""The joint types: `base.py` is the contract, then one file a type."""

from kinetree.joints.base import Joint, JointState
from kinetree.joints.fixed import Fixed
from kinetree.joints.free_flyer import FreeFlyer
from kinetree.joints.prismatic import Prismatic
from kinetree.joints.revolute import Continuous, Revolute
from kinetree.joints.spherical import Spherical

__all__ = ["Continuous", "Fixed", "FreeFlyer", "Joint", "JointState", "Prismatic", "Revolute", "Spherical"]
