"""Estimates of Panda's parameters beside FIGAROH's: regressor, base parameters, weighted least squares.

The same log, the same model, rotors and friction included. FIGAROH (from PyPI) is measured where it is installed.
"""

from __future__ import annotations

import logging
import time
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin

import kinetree as kt
from benchmarks.machine import Section
from benchmarks.timing import Timing, interleaved
from kinetree.identification import BaseParameters
from kinetree.identification.parameters.grouping import group
from kinetree.identification.triangle import on_one_thread

TERMS = ("armature", "damping", "friction")
SMOOTHING = 1e-9
"""So small that friction has the sign of the velocity, as FIGAROH's."""

MANY = 1_000_000

Array = np.ndarray
Log = tuple[Array, Array, Array, Array]


class Figaroh:
    """FIGAROH 1.0 by its own functions: regressor, columns without effect, double QR, weighted least squares."""

    def __init__(self, robot: kt.Robot) -> None:
        from figaroh.identification import parameter
        from figaroh.identification.base_identification import BaseIdentification
        from figaroh.tools import qrdecomposition, regressor

        logging.disable(logging.WARNING)
        model = pin.buildModelFromXML(robot.to_urdf(lenient=True))
        self.way, self.regressor, self.qr = BaseIdentification, regressor, qrdecomposition
        self.robot = SimpleNamespace(model=model, data=model.createData())
        blocks = dict.fromkeys(("is_joint_torques", "has_friction", "has_actuator_inertia"), True)
        rest = dict.fromkeys(("is_external_wrench", "has_joint_offset"), False)
        self.choices: dict[str, Any] = {**blocks, **rest, "force_torque": None, "act_idxv": list(range(robot.nv))}
        self.standard = parameter.get_standard_parameters(model, self.choices)
        self.standard |= parameter.add_standard_additional_parameters(model, self.choices)

    def predict(self, log: Log) -> Array:
        """Return the forces (n, nv) that it predicts by what it estimates."""
        W, phi = self.estimate(log)
        return (W @ phi).reshape(-1, len(log[0])).T

    @on_one_thread  # as kinetree: more threads are slower where others use the processors too
    def estimate(self, log: Log) -> tuple[Array, Array]:
        """Return the regressor of the base parameters, and these."""
        q, v, a, tau = log
        W = self.regressor.build_regressor_basic(self.robot, q, v, a, self.choices)
        without, names = self.regressor.get_index_eliminate(W, self.standard, tol_e=1e-3)
        reduced = self.regressor.build_regressor_reduced(W, without)
        flat = tau.T.ravel()
        found = self.qr.QRDecomposer(tolerance=1e-6).double_decomposition(flat, reduced, names, self.standard)
        state = SimpleNamespace(phi_base=found[3])
        state._compute_wls_standard_deviations = partial(self.way._compute_wls_standard_deviations, state)
        _, variances = self.way._calculate_joint_variances(state, found[0], flat, q.shape[1])
        return found[0], self.way._solve_weighted_least_squares(state, found[0], flat, variances)[0]


def recorded(robot: kt.Robot, count: int) -> Log:
    """Return random states, with the forces of the robot with rotors and friction, and noise."""
    q, v, a = robot.random_state(0, count)
    real = robot.with_joint_physics(armature=0.1, damping=0.5, friction=0.4).with_friction(smoothing=SMOOTHING)
    return q, v, a, real.inverse_dynamics(q, v, a) + 0.1 * np.random.default_rng(0).normal(size=v.shape)


def anew(robot: kt.Robot, log: Log) -> object:
    """Estimate with base parameters that are found anew, too; the regressor is compiled already."""
    group.cache_clear()
    base = BaseParameters(robot, dict.fromkeys(TERMS), "known", SMOOTHING, 1e-6)
    return robot.identify(log, base, bodies=None, check=False)


def check(robot: kt.Robot, peer: Figaroh, log: Log) -> None:
    """Raise RuntimeError where the two do not predict the same."""
    fit = robot.identify(log, TERMS, smoothing=SMOOTHING, bodies=None, check=False)
    ours, theirs = fit.predict(*log[:3], consistent=False), peer.predict(log)
    off = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
    if not off < 1e-3:  # FIGAROH's weights are of one round, and kinetree's of as many as change anything
        raise RuntimeError(f"the predictions are {off:.1e} apart")


def run(rounds: int) -> Section:
    robot = kt.load("panda")
    section = Section("Identification of Panda", "Milliseconds an estimate of 62 base parameters, from n samples.")
    try:
        peer = Figaroh(robot)
    except ImportError:
        peer = None
    for count in (1000, 10_000):
        log = recorded(robot, count)
        choices = {"smoothing": SMOOTHING, "check": False}
        thunks: dict[str, Any] = {
            "kinetree": partial(robot.identify, log, TERMS, bodies=None, **choices),
            "kinetree, base parameters anew": partial(anew, robot, log),
            "kinetree, with bodies that can exist": partial(robot.identify, log, TERMS, **choices),
        }
        if peer is not None:
            check(robot, peer, log)
            thunks["FIGAROH"] = partial(peer.estimate, log)
        section.compare({"n": str(count)}, "kinetree", interleaved(thunks, min(rounds, 5)), 1, "ms")
    log, spent = recorded(robot, MANY), []
    for _ in range(min(rounds, 5)):
        start = time.perf_counter()
        robot.identify(log, TERMS, smoothing=SMOOTHING, check=False)
        spent.append(time.perf_counter() - start)
    many = {"kinetree, with bodies that can exist": Timing(tuple(spent))}
    section.compare({"n": str(MANY)}, "kinetree, with bodies that can exist", many, 1, "ms")
    return section
