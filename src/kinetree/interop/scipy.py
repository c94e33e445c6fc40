"""Compiled functions as SciPy's optimisers and solvers take them: of one vector, with derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError, unknown_name
from kinetree.interop.operation import Operation, batch_axes, bound
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
        self.x = np.concatenate([arrays[k].ravel() for k in wrt])

    def __call__(self, x: Array) -> Any:
        """Return the results in one vector, or the only number."""
        return self._joined(self._operation.function(*self._at(x)))

    def jac(self, x: Array) -> Any:
        """Return the derivatives: a row for each entry of the results, or the gradient of the only number."""
        slopes = self._operation.derivatives(self._wrt).function(*self._at(x))
        blocks = iter(slopes if isinstance(slopes, tuple) else (slopes,))
        sizes = [self._operation.inputs[k].size for k in self._wrt]
        rows = [
            np.hstack([np.reshape(next(blocks), (port.size, n)) for n in sizes]) for port in self._operation.outputs
        ]
        return rows[0][0] if self._is_number else np.vstack(rows)

    def hess(self, x: Array, weights: Array | None = None) -> Array:
        """Return the second derivatives of the only number, or of the sum of the results with these weights."""
        ports = self._operation.outputs
        given = np.ones(1) if weights is None else np.asarray(weights, dtype=np.float64)
        if given.size != sum(port.size for port in ports) or (weights is None and not self._is_number):
            raise ArgumentError(f"{self._operation.spec.name}: hess takes a weight for each entry of the results")
        parts = np.split(given.ravel(), np.cumsum([port.size for port in ports])[:-1])
        bars = [np.reshape(part, port.shape) for part, port in zip(parts, ports, strict=True)]
        return self._operation.hessian(self._wrt).function(*self._at(x), *bars)  # type: ignore[no-any-return]

    def operator(self, x: Array) -> LinearOperator:
        """Return the Jacobian as a linear operator: products by jvp and vjp, without the matrix."""
        arrays, ports = self._at(x), self._operation.outputs
        forward, backward = (derivative(self._wrt).function for derivative in (self._operation.jvp, self._operation.vjp))
        sizes = [port.size for port in ports]

        def product(dx: Array) -> Array:
            return np.atleast_1d(self._joined(forward(*arrays, *self._parts(dx))))

        def transposed(weights: Array) -> Array:
            parts = np.split(np.ravel(weights), np.cumsum(sizes)[:-1])
            found = backward(*arrays, *(np.reshape(part, p.shape) for part, p in zip(parts, ports, strict=True)))
            return np.concatenate([np.ravel(part) for part in (found if isinstance(found, tuple) else (found,))])

        shape = sum(sizes), self.x.size
        return LinearOperator(shape, matvec=product, rmatvec=transposed, dtype=np.dtype(np.float64))

    @property
    def _is_number(self) -> bool:
        return len(self._operation.outputs) == 1 and self._operation.outputs[0].shape == ()

    def _parts(self, x: Array) -> list[Array]:
        """Return the arguments of which a vector is made."""
        ports = [self._operation.inputs[k] for k in self._wrt]
        if np.shape(x) not in ((self.x.size,), (self.x.size, 1)):
            raise ArgumentError(f"{self._operation.spec.name}: x has shape {np.shape(x)}, it must be ({self.x.size},)")
        parts = np.split(np.ravel(x), np.cumsum([port.size for port in ports])[:-1])
        return [np.reshape(part, port.shape) for part, port in zip(parts, ports, strict=True)]

    def _at(self, x: Array) -> list[Array]:
        new = dict(zip(self._wrt, self._parts(x), strict=True))
        return [new.get(k, array) for k, array in enumerate(self._arrays)]

    def _joined(self, results: Any) -> Any:
        if self._is_number:
            return results
        return np.concatenate([np.ravel(y) for y in (results if isinstance(results, tuple) else (results,))])


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
        ``f.x``, the first guess. A configuration counts nq entries, as these solvers know no other: derivatives
        by it lie in the tangent space of its unit quaternions.

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
    operation, values = bound(function, args, kwargs)
    names = [port.name for port in operation.named]
    chosen = names_of(f"{function.__name__}: wrt", [wrt] if isinstance(wrt, str) else wrt)
    for name in chosen:
        if name not in names:
            raise ArgumentError(f"{function.__name__}: wrt: {unknown_name('given argument', name, names)}")
    arrays = [np.asarray(x, dtype=np.float64) for x in values]
    if batch_axes(function, operation, arrays):
        raise ArgumentError(f"{function.__name__}: to_scipy takes the arguments of one state, without leading axes")
    return VectorFunction(operation, tuple(names.index(name) for name in chosen), arrays)
