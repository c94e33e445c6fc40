"""How far to trust an estimate: residuals on motions that were not used, whether they are noise, what is correlated."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from kinetree.errors import ArgumentError, listed
from kinetree.identification.estimation import identify
from kinetree.identification.estimators.contract import NO_SUMS, correlations
from kinetree.identification.fit import Fit
from kinetree.identification.log import Log, motion_of, motions_in
from kinetree.identification.parameters.base import BaseParameters
from kinetree.identification.parameters.terms import JointTerms
from kinetree.logs.samples import Filter
from kinetree.motions.extremes import plain
from kinetree.robot import Robot
from kinetree.tables import Cells, number
from kinetree.validation import Array

LAGS = 20  # autocorrelations that are looked at
LEVEL = 0.01  # residuals are called white unless noise would be as correlated in less than this part of all cases
STRONG = 0.95  # correlations of two estimates from which on they are strongly correlated
EXACT = 1e-6  # residuals below this part of the spread of the forces are rounding, whatever they look like
TINY = float(np.finfo(float).tiny)
KEPT = 1 << 17  # samples of which measured and predicted forces are kept


class Compared(NamedTuple):
    """Measured and predicted joint forces of one motion.

    Attributes
    ----------
    t : (n,) array or None
        Times (s), where the motion has them.
    measured, predicted : (n, nv) arrays
        Less what is known: of measured wrenches, and of what joints do and is not estimated.
    """

    t: Array | None
    measured: Array
    predicted: Array


class Validation(NamedTuple):
    """What a fit says of recorded motions: the result of `validate`.

    Attributes
    ----------
    fit : Fit
    motions : tuple of Compared
        The first 131072 samples, for pictures.
    rms : (nv,) array
        Root mean square of the residuals (N·m, N).
    relative : (nv,) array
        The same by the standard deviation of the measured forces: 1 is as good as knowing their mean.
    before : (nv,) array
        The same of the robot before, with its own values for all that is estimated.
    autocorrelation : (lags, nv) array
        Of the residuals with those 1, 2, … samples later; within ±`bound` for 95 of 100 lags of noise.
    bound : float
    p : (nv,) array
        Of Ljung and Box's test: in which part of all cases noise would be as correlated as this or more; 1 where
        there is only rounding.
    size : int
        Number of samples.
    """

    fit: Fit
    motions: tuple[Compared, ...]
    rms: Array
    relative: Array
    before: Array
    autocorrelation: Array
    bound: float
    p: Array
    size: int

    @property
    def white(self) -> Array:
        """Whether the residuals of each joint look like noise (nv,), at a level of 1 %."""
        return np.asarray(self.p >= LEVEL)

    def table(self) -> Cells:
        """Return a row a joint: the size of the residuals, and whether they are white."""
        columns = zip(self.fit.base.robot.v_names, self.rms, self.relative, self.before, self.white, strict=True)
        rows = [(name, number(x), f"{y:.3f}", f"{z:.3f}", "yes" if w else "no") for name, x, y, z, w in columns]
        return Cells({"joint": "left", **dict.fromkeys(("rms", "relative", "before", "white"), "right")}, rows)

    def to_dict(self) -> dict[str, Any]:
        """Return its figures for each joint, for JSON."""
        names = ("rms", "relative", "before", "white", "p")
        return dict(plain({"samples": self.size} | {name: getattr(self, name) for name in names}))

    def __repr__(self) -> str:
        worst = f"relative residuals up to {self.relative.max(initial=0.0):.3g}"
        return f"<Validation of {self.fit.base.robot.name!r}: {self.size} samples, {worst}>"

    def __str__(self) -> str:
        return str(self.table())


def validate(
    fit: Fit, log: Any, *, filter: Filter | None = None, consistent: bool = True, lags: int = LAGS
) -> Validation:
    """Return how far an estimate is from recorded motions, best from some that were not used.

    Whether residuals are white is decided by Ljung and Box's test, whose χ² distribution is approximated as Wilson and
    Hilferty do. Residuals of real gears seldom are: the model lacks something, and `Fit.correlation_time` counts it.

    Parameters
    ----------
    fit : Fit, which the method ``fit.validate(log)`` is not given
    log
        As in `Robot.identify`; samples in the order of time.
    filter : Filter, optional
        How recordings are filtered, see `Recording.filtered`.
    consistent : bool
        As in `Fit.predict`.
    lags : int
        How many autocorrelations are looked at; a quarter of the samples of the longest motion at most.

    Returns
    -------
    Validation

    Raises
    ------
    ArgumentError
        If the log does not fit the robot, or has no sample.

    References
    ----------
    Ljung and Box, "On a measure of lack of fit in time series models", Biometrika 65(2), 1978.

    Examples
    --------
    >>> import numpy as np
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> rng = np.random.default_rng(0)
    >>> def recorded(seed):
    ...     q, v, a = robot.random_state(seed, 400)
    ...     return q, v, a, robot.inverse_dynamics(q, v, a) + rng.normal(size=(400, 6))
    >>> fit = robot.identify(recorded(0), [])
    >>> found = fit.validate(recorded(1))
    >>> bool(abs(found.rms - 1.0).max() < 0.15), bool(found.white.all())
    (True, True)
    """
    if type(lags) is not int or lags < 1:
        raise ArgumentError(f"lags is {lags!r}: one lag is the least")
    values, before, nv = fit.estimates(consistent), fit.base.of(), fit.base.robot.nv
    rows, kept, sums, n, found = fit.rows.at(values), list[Compared](), np.zeros((5, nv)), 0, NO_SUMS
    for motion in rows.log(log, filter).motions(rows.robot):
        each, room = list[tuple[Any, ...]](), max(KEPT - n, 0)
        for piece in motion:
            Y, tau = rows.of(piece)
            models = (rows.predicted(Y, x) for x in (values, values[: len(before)], before))
            each.append((np.zeros(0) if piece.t is None else piece.t, tau, *models))
        if not each:
            continue
        t, known, whole, model, old = map(np.concatenate, zip(*each, strict=True))
        e, tau = known - whole, known - whole + model
        there = (e != 0.0) | (tau != 0.0)  # others were not measured, or are friction at rest
        sums += [x.sum(axis=0) for x in (there, e * e, (tau - old) ** 2, tau, tau * tau)]
        kept += [Compared(t[:room] if len(t) else None, tau[:room], model[:room])] * (room > 0)
        n, found = n + len(tau), correlations(found, e, e != 0.0)
    if not n:
        raise ArgumentError("the log has no samples")
    found = np.pad(found, ((0, 0), (0, 1), (0, 0)))  # one sample has no lag
    counts = np.maximum(sums[0], 1.0)
    rms, old = np.sqrt(sums[1:3] / counts)
    spread = np.sqrt(np.maximum(sums[4] / counts - (sums[3] / counts) ** 2, 0.0))
    products, both, pairs = found[:, : 1 + min(lags, max(1, (found.shape[1] - 1) // 4))]
    mean = 0.5 * both[0] / counts
    covariances = products - mean * both + pairs * mean**2
    rho = covariances[1:] / np.maximum(covariances[0], TINY)
    weights = n * (n + 2.0) / (n - np.arange(1, len(rho) + 1)[:, None]) if n > len(rho) else np.zeros((len(rho), 1))
    p = np.array([_chi_squared_tail(float(x), len(rho)) for x in (weights * rho**2).sum(axis=0)])
    p[rms < EXACT * spread.max()] = 1.0
    return Validation(fit, tuple(kept), rms, _over(rms, spread), _over(old, spread), rho, 1.96 / math.sqrt(n), p, n)


def _over(rms: Array, spread: Array) -> Array:
    """Return how large residuals are beside forces: infinite where these do not change."""
    return np.divide(rms, spread, out=np.where(rms > 0.0, np.inf, 0.0), where=spread > 0.0)


def _chi_squared_tail(x: float, freedom: int) -> float:
    """Return how probable it is that χ² of so many degrees of freedom is above x."""
    small = 2.0 / (9.0 * freedom)
    z = ((x / freedom) ** (1.0 / 3.0) - (1.0 - small)) / math.sqrt(small)
    return 0.5 * math.erfc(z / math.sqrt(2.0))


def cross_validate(
    robot: Robot,
    motions: Iterable[Any],
    terms: JointTerms | BaseParameters = ("armature", "damping", "friction"),
    *,
    filter: Filter | None = None,
    **choices: Any,
) -> tuple[Validation, ...]:
    """Return for each motion what a fit to all the others says of it.

    Parameters
    ----------
    robot : Robot
    motions : sequence of logs
        Two or more.
    terms, filter, **choices
        Those of `Robot.identify`.

    Raises
    ------
    ArgumentError
        If there are fewer than two motions, or as `Robot.identify` raises it.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> def recorded(seed):
    ...     q, v, a = robot.random_state(seed, 100)
    ...     return q, v, a, robot.inverse_dynamics(q, v, a)
    >>> found = kt.identification.cross_validate(robot, [recorded(0), recorded(1)], [])
    >>> [float(one.relative.max().round(6)) for one in found]
    [0.0, 0.0]
    """
    motions = [*motions] if isinstance(motions, Iterator) else motions() if callable(motions) else motions
    log = Log(motions, filter, smoothing=choices.get("smoothing")).given
    next(motions_in(log), None)  # refuses what is no log
    every = [*log] if motion_of(log) is None else []
    if len(every) < 2:
        raise ArgumentError("cross-validation needs two motions or more: cut a long one in two")
    found = []
    for k, motion in enumerate(every):
        fit = identify(robot, [*every[:k], *every[k + 1 :]], terms, **choices)
        found.append(validate(fit, motion))
    return tuple(found)


def correlated(fit: Fit, least: float = STRONG) -> list[tuple[str, str, float]]:
    """Return pairs of base parameters with estimates that are correlated so much or more, the most first.

    Only together are they well determined; a motion in which they act differently separates them.
    """
    rho = np.triu(fit.correlation, 1)
    pairs = sorted(np.argwhere(np.abs(rho) >= least).tolist(), key=lambda ij: -abs(rho[ij[0], ij[1]]))
    names = fit.base.names
    return [
        (names[i], names[j], float(rho[i, j])) for i, j in pairs if not {names[i], names[j]} & set(fit.unidentifiable)
    ]


def verdict(fit: Fit, training: Validation | None, validation: Validation | None) -> list[str]:
    """Return the verdict on an estimate, in a sentence each."""
    names, found, seen = fit.base.robot.v_names, list[str](), validation if validation is not None else training

    def of(there: Iterable[Any]) -> str:
        return listed([name for name, is_there in zip(names, there, strict=True) if is_there])

    if validation is not None and (there := np.isfinite(validation.relative + fit.noise)).any():
        relative = np.where(there, validation.relative, np.nan)
        worst = int(np.nanargmax(relative))
        found.append(
            f"On motions that were not used the residuals are {number(np.nanmin(relative), 2)} to "
            f"{number(relative[worst], 2)} of the spread of the forces, most at {names[worst]}."
        )
        if bad := of((validation.relative > 0.5) & (validation.relative < np.inf)):
            found.append(f"More than half of the forces of {bad} is not explained.")
    over = training is not None and validation is not None and validation.rms > 1.5 * training.rms
    if validation is not None and (worse := of(over & (validation.relative > EXACT))):
        found.append(
            f"The residuals of {worse} are more than 1.5 times as large as on the motions used: other motions need "
            "parameters that these did not determine."
        )
    if seen is not None and (coloured := of(seen.p < LEVEL)):
        found.append(
            f"The residuals of {coloured} are not white: the model lacks something. The standard deviations "
            "count correlated samples as fewer."
        )
    if fit.unidentifiable:
        found.append(f"Not identifiable from these data: {listed(fit.unidentifiable)}; they stay as they were.")
    if pairs := correlated(fit):
        shown = "; ".join(f"{a} and {b} ({rho:+.3f})" for a, b, rho in pairs[:5])
        more = f"; and {len(pairs) - 5} pairs more" if len(pairs) > 5 else ""
        found.append(f"Strongly correlated: {shown}{more}.")
    return found
