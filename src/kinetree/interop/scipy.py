"""Compiled functions as SciPy's optimisers and solvers take them: of one vector, with derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError, listed, unknown_name
from kinetree.graph import Port
from kinetree.interop.operation import Operation, bound
from kinetree.options import names_of
from kinetree.runtime.function import Function

try:
    from scipy.sparse.linalg import LinearOperator
except ImportError as error:
    raise ArgumentError("to_scipy needs the package scipy: pip install 'kinetree[scipy]'") from error

Array = np.ndarray[Any, np.dtype[np.float64]]


class VectorFunction:
    """A function of one vector, whose other arguments are fixed; see `Function.to_scipy`.

    Attributes
    ----------
    x : array
        The vector of the arguments that it was made with: a first guess.
    """

    def __init__(self, operation: Operation, wrt: tuple[int, ...], arrays: Sequence[Array]) -> None:
        self._operation, self._wrt, self._arrays = operation, wrt, list(arrays)
        self._moved, self._results = [operation.inputs[k] for k in wrt], operation.outputs
        self._is_number = [port.shape for port in self._results] == [()]
        self.x = _joined([arrays[k] for k in wrt])

    def __call__(self, x: Array) -> Any:
        """Return the results in one vector, or the only number."""
        y = _joined(self._run(self._operation, x))
        return y[0] if self._is_number else y

    def jac(self, x: Array) -> Array:
        """Return the derivatives: a row for each entry of the results, or the gradient of the only number."""
        blocks = iter(self._run(self._operation.derivatives(self._wrt), x))
        J = np.block([[np.reshape(next(blocks), (y.size, x.size)) for x in self._moved] for y in self._results])
        return J[0] if self._is_number else J

    def hess(self, x: Array, weights: Array | None = None) -> Array:
        """Return the second derivatives of the only number, or of the sum of the results with these weights."""
        if weights is None and not self._is_number:
            raise ArgumentError(f"{self._operation.spec.name}: hess takes a weight for each entry of the results")
        given = self._split(np.ones(1) if weights is None else weights, self._results, "weights")
        return self._run(self._operation.hessian(self._wrt), x, given)[0]

    def operator(self, x: Array) -> LinearOperator:
        """Return the Jacobian as a linear operator: products by jvp and vjp, without the matrix."""
        forward, backward = self._operation.jvp(tuple(sorted(self._wrt))), self._operation.vjp(self._wrt)
        order = sorted(range(len(self._wrt)), key=self._wrt.__getitem__)  # in which rates are taken
        return LinearOperator(
            (sum(port.size for port in self._results), self.x.size),
            matvec=lambda dx: _joined(self._run(forward, x, [self._split(dx, self._moved, "dx")[k] for k in order])),
            rmatvec=lambda bar: _joined(self._run(backward, x, self._split(bar, self._results, "weights"))),
            dtype=np.dtype(np.float64),
        )

    def _run(self, operation: Operation, x: Array, further: Sequence[Array] = ()) -> Sequence[Array]:
        new = dict(zip(self._wrt, self._split(x, self._moved, "x"), strict=True))
        found = operation.function(*(new.get(k, array) for k, array in enumerate(self._arrays)), *further)
        return found if isinstance(found, tuple) else (found,)

    def _split(self, x: Array, ports: Sequence[Port], name: str) -> list[Array]:
        """Return the arrays of which a vector is made."""
        n = sum(port.size for port in ports)
        if np.size(x) != n:
            raise ArgumentError(f"{self._operation.spec.name}: {name} has {np.size(x)} entries, it must have {n}")
        parts = np.split(np.ravel(x), np.cumsum([port.size for port in ports])[:-1])
        return [np.reshape(part, port.shape) for part, port in zip(parts, ports, strict=True)]


def _joined(arrays: Sequence[Any]) -> Array:
    return np.concatenate([np.ravel(array) for array in arrays])


def to_scipy(function: Function, *args: object, wrt: str | Sequence[str], **kwargs: object) -> VectorFunction:
    """Return this function as one of a vector, for `scipy.optimize` and iterative solvers.

    Parameters
    ----------
    *args, **kwargs
        A call for one state: the values of the arguments that stay, and a first guess of the others; and options.
    wrt : str or sequence of str
        The arguments of which the vector is made, one after another.

    Returns
    -------
    VectorFunction
        ``f(x)``, ``f.jac(x)``, ``f.hess(x)`` or, of several results, ``f.hess(x, weights)`` as
        `scipy.optimize.NonlinearConstraint` wants it, ``f.operator(x)``: the Jacobian as a `LinearOperator`; and
        ``f.x``, the first guess. A configuration counts nq entries, as these solvers know no other.

    Raises
    ------
    ArgumentError
        If SciPy is missing, and for wrong arguments.

    Examples
    --------
    The configuration of the least potential energy, from the neutral one:

    >>> from scipy.optimize import minimize
    >>> import kinetree as kt
    >>> robot = kt.load("panda")
    >>> energy = robot.potential_energy.to_scipy(robot.neutral(), wrt="q")
    >>> found = minimize(energy, energy.x, jac=energy.jac, hess=energy.hess, method="trust-exact")
    >>> bool(abs(robot.gravity_forces(found.x)).max() < 1e-6)
    True
    """
    operation, arrays, lead, _, names = bound(function, args, kwargs, lambda _, x: np.array(x))
    arrays = [x.astype(np.float64) for x in arrays]
    chosen = tuple(dict.fromkeys(names_of(f"{function.__name__}: wrt", [wrt] if isinstance(wrt, str) else wrt)))
    if not chosen:
        raise ArgumentError(f"{function.__name__}: wrt names no argument; given are {listed(names)}")
    for name in chosen:
        if name not in names:
            raise ArgumentError(f"{function.__name__}: wrt: {unknown_name('given argument', name, names)}")
    if lead:
        raise ArgumentError(f"{function.__name__}: to_scipy takes the arguments of one state, without leading axes")
    return VectorFunction(operation, tuple(names.index(name) for name in chosen), arrays)
