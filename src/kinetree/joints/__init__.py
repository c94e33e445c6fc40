"""The joint types: `base.py` is the contract, then one file per type; every file here is imported."""

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from kinetree.joints.base import Joint, JointState
from kinetree.joints.laws import check

if TYPE_CHECKING:  # what the loop below finds, for type checkers
    from kinetree.joints.cylindrical import Cylindrical
    from kinetree.joints.fixed import Fixed
    from kinetree.joints.free_flyer import FreeFlyer
    from kinetree.joints.helical import Helical
    from kinetree.joints.mimic import Mimic
    from kinetree.joints.planar import Planar
    from kinetree.joints.prismatic import Prismatic
    from kinetree.joints.revolute import Continuous, Revolute
    from kinetree.joints.roll_pitch_yaw import RollPitchYaw
    from kinetree.joints.spherical import Spherical
    from kinetree.joints.universal import Universal

for _module in iter_modules(__path__, f"{__name__}."):
    import_module(_module.name)
globals().update(Joint.registry)

__all__ = [
    "Continuous",
    "Cylindrical",
    "Fixed",
    "FreeFlyer",
    "Helical",
    "Joint",
    "JointState",
    "Mimic",
    "Planar",
    "Prismatic",
    "Revolute",
    "RollPitchYaw",
    "Spherical",
    "Universal",
    "check",
]
