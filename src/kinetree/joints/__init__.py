"""The joint types: `base.py` is the contract, then one file per type; every file without an underscore is imported."""

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from kinetree.joints.base import Joint, JointState
from kinetree.locks import importing

if TYPE_CHECKING:  # what the loop below finds, for type checkers
    from kinetree.joints._laws import check
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

for _module in iter_modules(__path__):
    if not _module.name.startswith("_"):
        import_module(f"{__name__}.{_module.name}")
globals().update(Joint.registry)

__all__ = ["Continuous", "Cylindrical", "Fixed", "FreeFlyer", "Helical", "Joint", "JointState", "Mimic", "Planar"]
__all__ += ["Prismatic", "Revolute", "RollPitchYaw", "Spherical", "Universal", "check"]


def __getattr__(name: str) -> Any:
    """Return `check`, imported at first use."""
    if name != "check":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with importing:
        from kinetree.joints._laws import check

    return check
