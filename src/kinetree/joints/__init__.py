"""The joint types: `base.py` is the contract, then one file per type; every file without an underscore is imported."""

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from kinetree.joints.base import Joint, JointState
from kinetree.locks import importing

if TYPE_CHECKING:  # what the loop below finds, for type checkers
    from kinetree.joints._laws import check as check
    from kinetree.joints.cylindrical import Cylindrical as Cylindrical
    from kinetree.joints.fixed import Fixed as Fixed
    from kinetree.joints.free_flyer import FreeFlyer as FreeFlyer
    from kinetree.joints.helical import Helical as Helical
    from kinetree.joints.mimic import Mimic as Mimic
    from kinetree.joints.planar import Planar as Planar
    from kinetree.joints.prismatic import Prismatic as Prismatic
    from kinetree.joints.revolute import Continuous as Continuous
    from kinetree.joints.revolute import Revolute as Revolute
    from kinetree.joints.roll_pitch_yaw import RollPitchYaw as RollPitchYaw
    from kinetree.joints.spherical import Spherical as Spherical
    from kinetree.joints.universal import Universal as Universal

for _module in iter_modules(__path__):
    if not _module.name.startswith("_"):
        import_module(f"{__name__}.{_module.name}")
globals().update(Joint.registry)

__all__ = ["Joint", "JointState", "check"]
__all__ += Joint.registry


def __getattr__(name: str) -> Any:
    """Return `check`, imported at first use."""
    if name != "check":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with importing:
        from kinetree.joints._laws import check as check

    return check
