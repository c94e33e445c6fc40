"""Single states of trajectories: samples, events, and ends from which a simulation goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kinetree.signatures import told
from kinetree.validation import Array


@told
class State(NamedTuple):
    """One sample of a trajectory: the time (s), q (..., nq) and v (..., nv)."""

    t: float
    q: Array
    v: Array


class Happened(NamedTuple):
    """An event of a robot: its name, the index of the robot (empty if there is one only), time (s), q and v."""

    time: float
    name: str
    robot: tuple[int, ...]
    q: Array
    v: Array


class End(NamedTuple):
    """What a simulation carries at its end: another one that begins with its trajectory goes on as if it were one.

    Attributes
    ----------
    t : float
    q, v : (..., nq), (..., nv) arrays
    controller : dict of array
        The controller's own state.
    memory : (n, …) array
        What the integrator carries.
    acting : str
        A digest of all that acts on the robot: where it is another, the integrator begins anew.
    """

    t: float
    q: Array
    v: Array
    controller: Mapping[str, Array]
    memory: Array
    acting: str
