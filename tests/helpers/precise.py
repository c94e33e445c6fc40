"""Sixty digits: the pages over mpmath numbers, as the truth that rounding errors are measured against."""

import mpmath

from kinetree.algorithms import crba, rnea
from kinetree.algorithms.kinematics.frames import jacobian

mp = mpmath.mp.clone()
mp.dps = 60


class Precise:
    """A number of sixty digits that is no `numbers.Real`, so that nothing takes it for a float."""

    __slots__ = ("x",)

    def __init__(self, x):
        self.x = mp.mpf(x)

    def __add__(self, b):
        return self if _is(b, 0.0) else _precise(self.x + _number(b))

    __radd__ = __add__

    def __sub__(self, b):
        return self if _is(b, 0.0) else _precise(self.x - _number(b))

    def __rsub__(self, b):
        return _precise(_number(b) - self.x)

    def __mul__(self, b):
        if _is(b, 0.0):
            return 0.0  # most of a robot's numbers are zeros and ones: this is three times as fast
        return self if _is(b, 1.0) else _precise(self.x * _number(b))

    __rmul__ = __mul__

    def __truediv__(self, b):
        return _precise(self.x / _number(b))

    def __rtruediv__(self, b):
        return _precise(_number(b) / self.x)

    def __neg__(self):
        return _precise(-self.x)

    def sin(self):
        return _precise(mp.sin(self.x))

    def cos(self):
        return _precise(mp.cos(self.x))

    def sqrt(self):
        return _precise(mp.sqrt(self.x))


def _precise(x):
    made = Precise.__new__(Precise)
    made.x = x
    return made


def _is(b, value):
    return isinstance(b, float) and b == value


def _number(b):
    return b.x if isinstance(b, Precise) else b


class Truth:
    """What a model's functions are at one state (q, v, w), to sixty digits.

    M and h are those of the pages; the forward dynamics and the inverse are solved from these two, by LU.
    """

    def __init__(self, model, q, v, w):
        # zeros and ones are exact in any arithmetic, and tell the algorithms which axes and placements are simple
        model = model.with_numbers([x if x in (0.0, 1.0, -1.0) else Precise(x) for x in model.numbers])
        qs, vs, ws = ([Precise(x) for x in row.tolist()] for row in (q, v, w))
        self._model, self._q = model, qs
        self.inverse_dynamics = _column(rnea(model, qs, vs, ws))
        self.mass_matrix = mp.matrix([[_number(x) for x in row] for row in crba(model, qs)])
        h = _column(rnea(model, qs, vs, [0.0] * model.nv))
        self.mass_matrix_inverse = self.mass_matrix**-1
        self.forward_dynamics = self.mass_matrix_inverse * (_column(ws) - h)

    def jacobian(self, frame):
        return mp.matrix([[_number(x) for x in row] for row in jacobian(self._model, self._q, frame=frame)])


def _column(entries):
    return mp.matrix([_number(x) for x in entries])


def error(result, truth):
    """Return the largest error of an entry against the largest entry, in units of the rounding of float64."""
    entries = result.ravel().tolist()
    worst = max(abs(mp.mpf(x) - y) for x, y in zip(entries, truth, strict=True))
    return float(worst / max(abs(y) for y in truth) / 2**-52)
