"""Stamps as loggers of real arms make them: steps with measured quantiles, and as much alike their neighbours."""

from dataclasses import dataclass

import numpy as np

Array = np.ndarray

AT = np.array([0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999, 1.0])
LAGS = (1, 2, 3, 10)
ROUNDS = 100


@dataclass(frozen=True)
class Clock:
    """What was measured of one: quantiles of the steps and their mean (ms), autocorrelations at lags 1, 2, 3 and 10.

    All stamps are multiples of `unit` (ms), the steps mostly of `grain`; the robot has new values every `update` ms.
    """

    quantiles: tuple[float, ...]
    mean: float
    correlation: tuple[float, float, float, float]
    unit: float
    grain: float
    update: float

    def steps(self, count, seed):
        """Return steps (s) with these quantiles, arranged so that their autocorrelation is the measured one.

        The order is found by turns: a spectrum is imposed, whose logarithm is a sum of cosines, and the values are put
        back by rank (Schreiber and Schmitz, "Improved surrogate data for nonlinearity tests", 1996).
        """
        values = self._values(count)
        x, shape = np.random.default_rng(seed).permutation(values) - self.mean, np.zeros(len(LAGS))
        waves = np.cos(2.0 * np.pi * np.outer(np.fft.rfftfreq(count), LAGS))
        for _ in range(ROUNDS):
            wanted = np.exp(0.5 * waves @ shape + 1j * np.angle(np.fft.rfft(x)))
            x[np.argsort(np.fft.irfft(wanted, count), kind="stable")] = values - self.mean
            shape += self.correlation - autocorrelation(x)
        return np.asarray(1e-3 * (x + self.mean))

    def stamps(self, count, seed):
        """Return times (s) with these steps, from zero."""
        t = np.concatenate([[0.0], np.cumsum(self.steps(count - 1, seed))])
        return np.asarray(np.round(t / (1e-3 * self.unit)) * (1e-3 * self.unit))

    def _values(self, count):
        """Return sorted steps with these quantiles and, as nearly as these and the grain allow, this mean."""
        u = (np.arange(count) + 0.5) / count
        k = np.clip(np.searchsorted(AT, u, side="right") - 1, 0, len(AT) - 2)
        low, high = np.array(self.quantiles)[k], np.array(self.quantiles)[k + 1]
        along, bounds = (u - AT[k]) / (AT[k + 1] - AT[k]), [-5.0, 5.0]
        for _ in range(60):
            bend = sum(bounds) / 2.0
            x = np.round((low + (high - low) * along ** np.exp(bend)) / self.grain) * self.grain
            bounds[0 if x.mean() > self.mean else 1] = bend
        return np.asarray(x)


def autocorrelation(x):
    """Return the autocorrelations at the lags that were measured."""
    x = x - x.mean()
    return np.array([x[k:] @ x[:-k] for k in LAGS]) / (x @ x)


CLOCKS = {
    "1 kHz": Clock(
        (0.70, 0.80, 0.82, 0.90, 1.00, 1.10, 1.35, 1.60, 1.84, 8.81), 1.022, (0.41, 0.25, 0.14, -0.01), 1e-5, 1e-5, 1.0
    ),
    "95 Hz": Clock((10, 10, 10, 10, 10, 12, 12, 12, 12, 12), 10.69, (-0.53, 0.29, -0.14, -0.19), 1.0, 2.0, 2.0),
    "95 Hz, late": Clock((2, 10, 10, 10, 10, 12, 12, 12, 12, 12), 10.72, (-0.53, 0.35, -0.24, -0.16), 1.0, 2.0, 2.0),
    "95 Hz, jitter": Clock((9, 9, 10, 10, 10, 11, 12, 12, 13, 13), 10.51, (-0.35, -0.31, -0.03, -0.13), 1.0, 1.0, 2.0),
}
"""Measured on a logged Panda and a logged UR10e."""
