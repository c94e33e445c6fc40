"""The result of an identification: estimates, how far to trust them, and the robot that has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from kinetree.identification.equations import NINE
from kinetree.identification.estimators.contract import Equations, Solution
from kinetree.identification.newton import Consistent
from kinetree.identification.nonlinear import Nonlinear
from kinetree.identification.signatures import ReportAndValidation
from kinetree.lazy import cached_property, lazy_method
from kinetree.logs.findings import Findings
from kinetree.motions.extremes import plain
from kinetree.signatures import friendly_call_errors
from kinetree.tables import Cells, number
from kinetree.validation import Array, real_array

if TYPE_CHECKING:
    from rich.console import JustifyMethod

    from kinetree import Robot  # with all methods

RENAMED = {"residual": "validate(log)", "untold": "unidentifiable"}


class HeldLoad(NamedTuple):
    """What was estimated of a load whose mass alone was known.

    Attributes
    ----------
    link : str
        The body that held it.
    mass : float
        That was given (kg).
    values, std : (9,) arrays
        (m c_x, m c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz) in the link's axes and about its origin, and standard
        deviations, infinite of unidentifiable ones.
    consistent : (9,) array
        The values that go with physically consistent bodies, and so with `Fit.robot`.
    """

    link: str
    mass: float
    values: Array
    std: Array
    consistent: Array

    def __str__(self) -> str:
        """Return a line."""
        x, y, z = (self.values[:3] / self.mass).tolist()
        return f"load of {number(self.mass)} kg on {self.link}: centre of mass at {number(x)}, {number(y)}, {number(z)}"


class Fit(ReportAndValidation):
    """Estimated parameters of a robot, with their uncertainty: the result of `Robot.identify`.

    Attributes
    ----------
    base : BaseParameters
        Which parameters they are.
    values, std : (n,) arrays
        The estimates and their standard deviations, infinite of unidentifiable ones.
    covariance : (n, n) array
        Of the identifiable directions.
    noise : (nv,) array
        Standard deviation of the noise of each joint force (N·m, N), NaN where none was measured.
    correlation_time : (nv,) array
        Integrated autocorrelation time of each joint's residuals, in samples: so many count as one, since what a model
        lacks, it lacks for a while.
    count : int
        Number of samples.
    cutoffs : tuple of Cutoff
        Of the filters that made them, each once; none where they were not made by `kinetree.identification.prepare`.
    parameters : (N,) array
        All parameters: of physically consistent bodies, or a representative of `values` where that was turned off.
    gap : float
        By how much at most half the squared, weighted distance of the consistent parameters could be less; NaN where
        it was turned off.
    stribeck_speed, stribeck_std : (nv,) array or None
        The speeds at which friction has fallen to half, and their standard deviations where they were estimated:
        infinite of those that the data do not identify, or that are at an end of what is looked at, from a hundredth
        of the joint's greatest speed up to it.
    motor_constants : MotorConstants or None
        Those that were estimated, with their standard deviations.
    held_loads : tuple of HeldLoad
        What was estimated of loads whose masses alone were known.
    checks : Findings
        What the plausibility checks of the log and the estimate have found.
    rows : RegressionModel
        From samples to equations.
    """

    checks = Findings()

    if not TYPE_CHECKING:  # of modules above, imported at first use
        report = lazy_method("kinetree.identification.report", "report", friendly_call_errors)
        validate = lazy_method("kinetree.identification.validation", "validate", friendly_call_errors)

        def __getattr__(self, name):
            if name in RENAMED:
                raise AttributeError(f"'Fit' object has no attribute {name!r}: it is {RENAMED[name]}")
            return self.__getattribute__(name)  # raises again what a property has raised

    def __init__(self, equations: Equations, solution: Solution, consistent: Consistent) -> None:
        rows, factors = equations.model, equations.factors
        self.rows, self.base, self.stribeck_speed, self.count = rows, rows.base, rows.stribeck_speed, factors.count
        n = self.base.dimension
        self.cutoffs = tuple(sorted(equations.log.cutoffs))
        self.values, self.covariance = solution.values[:n], solution.covariance[:n, :n]
        self.noise = np.where(factors.counts > 0.0, solution.noise, np.nan)
        self.parameters, self.gap = consistent
        self.correlation_time = solution.times
        self.motor_constants = self.stribeck_std = None
        if isinstance(rows, Nonlinear):
            self.motor_constants = rows.motor_constants(solution, self.consistent_values)
            self.stribeck_std = rows.speed_deviations(solution)
        self.solution, self.std = solution, solution.std[:n]
        self.held_loads: tuple[HeldLoad, ...] = ()
        if rows.loads:
            columns = solution.values[n:], solution.std[n:], solution.others(self.consistent_values)
            nines = zip(*(x[: NINE * len(rows.loads)].reshape(-1, NINE) for x in columns), strict=True)
            names, each = rows.robot.body_names, zip(rows.loads, nines, strict=True)
            self.held_loads = tuple(HeldLoad(names[load.body], load.mass, *nine) for load, nine in each)

    @property
    def unidentifiable(self) -> tuple[str, ...]:
        """The base parameters that the data do not determine, or only together with others of these."""
        return tuple(name for name, s in zip(self.base.names, self.std, strict=True) if np.isinf(s))

    @property
    def filtered(self) -> str:
        """The cut-off frequencies of the samples: the least and the greatest."""
        return " to ".join(map(str, dict.fromkeys([*self.cutoffs[:1], *self.cutoffs[-1:]])))

    @property
    def correlation(self) -> Array:
        """Correlation of the estimates (n, n)."""
        s = np.sqrt(np.diag(self.covariance))
        s[s == 0.0] = 1.0
        return np.asarray(self.covariance / np.outer(s, s))

    def estimates(self, consistent: bool = True) -> Array:
        """Return base parameters, the nine of each load of known mass, logarithms of speeds, and motor constants."""
        near = self.consistent_values
        return np.append(near, self.solution.others(near)) if consistent else self.solution.values

    @property
    def consistent_values(self) -> Array:
        """Base parameters of `parameters`, and so of `robot`."""
        return self.base.projection @ self.parameters

    @cached_property
    def robot(self) -> Robot:
        """The robot with these parameters: one like any other, whose friction counts if it was estimated.

        An offset has no place in a robot unless the stiffness of a spring was estimated too, and is where that one
        rests; other terms and columns of your own have none. `predict` counts them all.
        """
        return cast("Robot", self.base.robot_with(self.parameters))

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, consistent: bool = True) -> Array:
        """Return the joint forces (..., nv) of these motions, by all that was estimated.

        Parameters
        ----------
        q : (..., nq) array-like
        v, a : (..., nv) array-like
        consistent : bool
            Whether by the parameters of physically consistent bodies, or by `values`.
        """
        robot = self.base.robot
        arrays = real_array("q", q, robot.nq), real_array("v", v, robot.nv), real_array("a", a, robot.nv)
        speeds = [] if self.stribeck_speed is None else [self.stribeck_speed]
        tau = self.base.regressor(*arrays, *speeds) @ (self.consistent_values if consistent else self.values)
        return np.asarray(tau if self.rows.rest is None else tau + self.rows.rest.inverse_dynamics(*arrays))

    def table(self, names: Sequence[str] | None = None) -> Cells:
        """Return a row a base parameter: estimate, standard deviation, the value before, and that of `robot`.

        Parameters
        ----------
        names : sequence of str, optional
            What they are called; `BaseParameters.names` if not given.
        """
        columns = self.values, self.std, self.base.of(), self.consistent_values
        cells = [[number(float(x)) for x in column] for column in columns]
        sides: dict[str, JustifyMethod] = {"parameter": "left", "estimate": "right", "std": "right", "before": "right"}
        rows = list(zip(names or self.base.names, *cells, strict=True))
        return Cells(
            sides | {"consistent": "right"}, rows, ("consistent", "before"), set(np.flatnonzero(np.isinf(self.std)))
        )

    def of_joints(self) -> dict[str, list[float | None]]:
        """Return motor constants and Stribeck speeds that were estimated, for each entry of v; {} without any.

        They are None of a joint that has none. Armature, damping and friction are base parameters: see `table`.
        """
        columns: dict[str, dict[str, float]] = {}
        v_names = self.base.robot.v_names
        if (found := self.motor_constants) is not None:
            for name, own in (("motor_constant", found.values), ("motor_constant_std", found.std)):
                columns[name] = dict(zip(found.joints, own.tolist(), strict=True))
        if self.stribeck_std is not None and self.stribeck_speed is not None:
            sliding = [k for term, k in self.base.places if term == "stribeck"]
            for name, own in (("stribeck_speed", self.stribeck_speed), ("stribeck_std", self.stribeck_std)):
                columns[name] = {v_names[k]: float(own[k]) for k in sliding}
        return {name: [own.get(joint) for joint in v_names] for name, own in columns.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the estimates for JSON: of joints, of base parameters, and of loads."""
        joints = {"name": self.base.robot.v_names, "noise": self.noise, "correlation_time": self.correlation_time}
        joints |= self.of_joints()
        numbers = self.values, self.std, self.base.of(), self.consistent_values
        columns = ("parameter", "estimate", "std", "before", "consistent"), (self.base.combinations, *numbers)
        loads = [{"link": x.link, "mass": x.mass, "values": x.values, "std": x.std} for x in self.held_loads]
        found = {
            "robot": self.base.robot.name,
            "samples": self.count,
            "joints": [dict(zip(joints, row, strict=True)) for row in zip(*joints.values(), strict=True)],
            "parameters": [dict(zip(columns[0], row, strict=True)) for row in zip(*columns[1], strict=True)],
            "unidentifiable": self.unidentifiable,
            "held_loads": loads,
        }
        return dict(plain(found))

    def __str__(self) -> str:
        """Return the table, and what else was estimated."""
        noise = zip(self.base.robot.v_names, self.noise.tolist(), strict=True)
        lines = [
            f"{self.base.robot.name}: {self.base.dimension} base parameters from {self.count} samples",
            str(self.table()),
            "noise: " + ", ".join(f"{name} {number(s)}" for name, s in noise),
        ]
        lines += [f"cut-off: {self.filtered}"] * bool(self.cutoffs)
        lines += [] if self.motor_constants is None else [str(self.motor_constants)]
        lines += map(str, self.held_loads)
        lines += [f"not identifiable from these data: {', '.join(self.unidentifiable)}"] * bool(self.unidentifiable)
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Fit of {self.base.robot.name!r}: {self.base.dimension} base parameters from {self.count} samples>"
