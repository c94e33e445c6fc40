"""Robots that need no file: `kinetree.load("panda")`, `kinetree info panda`; `kinetree.robots()` lists them.

Each is a minimal URDF beside this module, written anew from published figures: inertials, joints, limits and
the frames that people use, without meshes or shapes. `EMBEDDED` says for each where its figures come from and
under which licence they were published; `embedded/README.md` has the same at length.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pkgutil import get_data
from types import MappingProxyType
from typing import TYPE_CHECKING

from kinetree.errors import ModelError, unknown_name
from kinetree.locks import importing

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


@dataclass(frozen=True)
class EmbeddedRobot:
    """What is known of an embedded robot without reading it.

    Attributes
    ----------
    name : str
        What `kinetree.load` takes.
    floating : bool
        Whether it is loaded with a floating base unless the caller says otherwise.
    description : str
        One line for people.
    source : str
        Where the figures were published.
    licence : str
        The licence that the source states.
    """

    name: str
    floating: bool
    description: str
    source: str
    licence: str

    def __str__(self) -> str:
        return f"{self.description} ({self.licence})"


class Listing(dict[str, EmbeddedRobot]):
    """Embedded robots by name, which show one in each line."""

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:{width}}  {robot}" for name, robot in self.items())


_ROBOTS = (
    EmbeddedRobot(
        name="ur5",
        floating=False,
        description="Universal Robots UR5: arm, 6 joints",
        source="https://github.com/ros-industrial/universal_robot (kinetic-devel, ur_description)",
        licence="BSD-3-Clause",
    ),
    EmbeddedRobot(
        name="panda",
        floating=False,
        description="Franka Emika Panda: arm, 7 joints, hand with its fingers fixed",
        source="https://github.com/frankaemika/franka_ros (noetic-devel, franka_description)",
        licence="Apache-2.0",
    ),
    EmbeddedRobot(
        name="go2",
        floating=True,
        description="Unitree Go2: quadruped, 12 joints",
        source="https://github.com/unitreerobotics/unitree_ros (robots/go2_description)",
        licence="BSD-3-Clause",
    ),
    EmbeddedRobot(
        name="g1",
        floating=True,
        description="Unitree G1: humanoid, 29 joints, rubber hands",
        source="https://github.com/unitreerobotics/unitree_ros (robots/g1_description)",
        licence="BSD-3-Clause",
    ),
)
EMBEDDED: Mapping[str, EmbeddedRobot] = MappingProxyType({robot.name: robot for robot in _ROBOTS})


def robots() -> dict[str, EmbeddedRobot]:
    """Return the robots that `load` knows by name, without a file: name, description, source and licence of each.

    Examples
    --------
    >>> import kinetree as kt
    >>> list(kt.robots())
    ['ur5', 'panda', 'go2', 'g1']
    >>> kt.robots()
    ur5    Universal Robots UR5: arm, 6 joints (BSD-3-Clause)
    panda  Franka Emika Panda: arm, 7 joints, hand with its fingers fixed (Apache-2.0)
    go2    Unitree Go2: quadruped, 12 joints (BSD-3-Clause)
    g1     Unitree G1: humanoid, 29 joints, rubber hands (BSD-3-Clause)
    """
    return Listing(EMBEDDED)


def embedded_path(name: str) -> Traversable:
    """Return where the URDF of an embedded robot lies (a path, or an entry of an imported archive).

    Examples
    --------
    >>> embedded_path("panda").name
    'panda.urdf'
    """
    if name not in EMBEDDED:
        raise ModelError(unknown_name("embedded robot", name, EMBEDDED))
    with importing:
        from importlib.resources import files  # five milliseconds that most programs need not spend

    return files(__name__).joinpath(f"{name}.urdf")


def embedded_text(name: str) -> str:
    """Return the URDF of an embedded robot as text.

    Examples
    --------
    >>> embedded_text("ur5").count('type="revolute"')
    6
    """
    if name not in EMBEDDED:
        raise ModelError(unknown_name("embedded robot", name, EMBEDDED))
    return (get_data(__name__, f"{name}.urdf") or b"").decode()
