"""The constraint types: `base.py` is the contract, then one file per type; every file without an underscore counts."""

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from kinetree.constraints.types.base import Constraint, Row

if TYPE_CHECKING:  # what the loop below finds, for type checkers
    from kinetree.constraints.types.contact import Contact
    from kinetree.constraints.types.gear import Gear
    from kinetree.constraints.types.loop import Loop
    from kinetree.constraints.types.rod import Rod
    from kinetree.constraints.types.weld import Weld
    from kinetree.constraints.types.wheel import Wheel

for _module in iter_modules(__path__):
    if not _module.name.startswith("_"):
        import_module(f"{__name__}.{_module.name}")
globals().update(Constraint.registry)

__all__ = ["Constraint", "Contact", "Gear", "Loop", "Rod", "Row", "Weld", "Wheel"]
