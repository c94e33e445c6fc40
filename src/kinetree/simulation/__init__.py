"""Simulation: many steps in time of a robot, or of thousands, as one native loop."""

from kinetree.simulation.choices import Controller, Forces, Record
from kinetree.simulation.events import Event, EventWarning
from kinetree.simulation.result import SimulationInterrupted
from kinetree.simulation.simulate import Simulation, simulate, simulation

__all__ = [
    "Controller",
    "Event",
    "EventWarning",
    "Forces",
    "Record",
    "Simulation",
    "SimulationInterrupted",
    "simulate",
    "simulation",
]
