"""Compiled functions as CasADi's: expressions of its symbols, or C code that it calls."""

from __future__ import annotations

import functools
import secrets
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kinetree.backends.c.names import c_name
from kinetree.errors import ArgumentError
from kinetree.interop.c_external import external_source
from kinetree.interop.operation import Operation, matrix_shape, variant_of
from kinetree.interop.symbolic import ARITHMETIC, Library
from kinetree.options import names_of, text
from kinetree.output import check_output, whole_file
from kinetree.runtime.function import Function

try:
    import casadi as ca
except ImportError as error:
    raise ArgumentError("to_casadi needs the package casadi: pip install 'kinetree[casadi]'") from error


FLAGS = ["-O2", "-march=native", "-ffp-contract=off"]
"""Of the C compiler: with fused multiply-adds, but only those that are written, so that bits are those of kinetree."""


def to_casadi(
    function: Function,
    name: str | None = None,
    *,
    external: str | Path | None = None,
    optional: Sequence[str] = (),
    **options: object,
) -> Any:
    """Return this function as a `casadi.Function` of one state, by names, for `Opti`, `nlpsol`, acados and the like.

    Parameters
    ----------
    name : str, optional
        In CasADi; that of this function if not given.
    external : path, optional
        A file of C to be written, ``….c``: CasADi compiles it, with the C compiler of the system, and calls it. It has
        the Jacobian too, with its sparsity, from kinetree's own derivatives, and needs no kinetree; there are no second
        derivatives, so Ipopt needs ``ipopt.hessian_approximation="limited-memory"``. If not given, the function is
        one of CasADi's expressions (`SX`), which CasADi differentiates by itself, as often as it likes.
    optional : sequence of str
        The optional arguments that it takes.
    **options
        As in the call. They are fixed.

    Returns
    -------
    casadi.Function
        Vectors are columns, numbers are 1 by 1, and of arrays with more than two axes all but the first are one. With
        respect to a configuration it is differentiated by its nq entries.

    Raises
    ------
    ArgumentError
        If CasADi is missing, or for a name, an argument or an option that cannot be.

    Examples
    --------
    >>> import casadi as ca
    >>> import kinetree as kt
    >>> robot = kt.load("panda")
    >>> f = robot.inverse_dynamics.to_casadi()
    >>> f
    Function(inverse_dynamics:(q[7],v[7],a[7])->(tau[7]) SXFunction)
    >>> M = f.jacobian()  # and so on
    """
    name = function.__name__ if name is None else text(f"{function.__name__}: name", name)
    if not ca.Function.check_name(name):
        raise ArgumentError(f"{function.__name__}: {name!r} cannot be the name of a function in CasADi")
    operation, inputs = variant_of(function, names_of(f"{function.__name__}: optional", optional), options)
    names = [port.name for port in inputs], [port.name for port in operation.named.outputs]
    if external is not None:
        check_output(str(external), None, (".c",))
        if c_name(name, is_function=True) != name:
            raise ArgumentError(f"{function.__name__}: {name!r} cannot be the name of a function in C")
        source = external_source(operation, name, *names).encode()
        with whole_file(Path(external)) as file:
            file.write(source)
        path = Path(_folder().name, f"{secrets.token_hex(8)}.c")  # a path that CasADi can hand to a shell
        path.write_bytes(source)
        how = {"compiler": "cc", "compiler_flags": FLAGS, "directory": f"{_folder().name}/"}
        return ca.external(name, ca.Importer(str(path), "shell", how))
    return _expressions(operation, name, *names)


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Return the place of what CasADi compiles: else it would be where the process works."""
    return tempfile.TemporaryDirectory(prefix="kinetree-casadi-")


def _expressions(operation: Operation, name: str, inputs: list[str], outputs: list[str]) -> Any:
    """Return the function of symbols."""
    symbols = [ca.SX.sym(n, *matrix_shape(port)) for n, port in zip(inputs, operation.inputs, strict=True)]
    entries = [ca.vertsplit(ca.vec(x.T)) for x in symbols]
    found = iter(_CASADI.evaluate(operation.program, entries))
    results = []
    for port in operation.outputs:
        rows, columns = matrix_shape(port)
        own = [next(found) for _ in range(port.size)]
        results.append(ca.sparsify(ca.reshape(ca.vertcat(*own), columns, rows).T))
    return ca.Function(name, symbols, results, inputs, outputs)


def _select(relation: Any) -> Any:
    return lambda a, b, x, y: ca.if_else(relation(a, b), x, y)


_CASADI = Library(
    "CasADi",
    ca.SX,
    {
        **ARITHMETIC,
        **{"abs": ca.fabs, "sqrt": ca.sqrt, "sin": ca.sin, "cos": ca.cos},
        **{"select_lt": _select(ca.lt), "select_le": _select(ca.le)},
        **{"rint": lambda a: a - ca.remainder(a, 1), "floor": ca.floor, "ceil": ca.ceil, "copysign": ca.copysign},
        **{"trunc": lambda a: ca.if_else(a < 0, ca.ceil(a), ca.floor(a)), "exp": ca.exp, "expm1": ca.expm1},
        **{"sinh": ca.sinh, "cosh": ca.cosh, "tanh": ca.tanh, "log": ca.log, "log1p": ca.log1p},
        **{"cbrt": lambda a: ca.copysign(ca.fabs(a) ** (1 / 3), a), "arcsin": ca.asin, "arccos": ca.acos},
        **{"arctan": ca.atan, "arctan2": ca.atan2, "hypot": ca.hypot, "fmod": ca.fmod},
    },
)
