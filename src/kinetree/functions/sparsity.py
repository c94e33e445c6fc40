"""Matrices of derivatives as their non-zeros, and where these are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ArgumentError
from kinetree.functions.derivative_kinds import recorded_results
from kinetree.graph import Port, Program
from kinetree.options import names_of
from kinetree.runtime.spec import FunctionSpec, Variant, result_type

if TYPE_CHECKING:
    from kinetree.runtime.function import Function


@dataclass(frozen=True, eq=False)
class Sparsity:
    """The places of a matrix whose entries are not known to be zero, in compressed columns (CSC).

    Functions that return such matrices as non-zeros have them in this order: ``Function.derivatives`` and
    ``Function.hessian`` with ``form="nonzeros"``. `Function.sparsity` makes it.

    Attributes
    ----------
    shape : tuple of int
        (m, n); a result or input of several axes counts as its entries, flat.
    indptr : (n + 1,) int32 array
        Where each column begins, and where the last one ends.
    indices : (nnz,) int32 array
        The row of each entry.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("go2")
    >>> there = robot.inverse_dynamics.sparsity(wrt="a")
    >>> there.shape, there.nnz, there.mask[6:9, 6:12].astype(int).tolist()
    ((18, 18), 196, [[1, 1, 1, 0, 0, 0], [1, 1, 1, 0, 0, 0], [1, 1, 1, 0, 0, 0]])
    >>> q, v, a = robot.random_state(seed=0)
    >>> M = there.dense(robot.inverse_dynamics.derivatives(q, v, a, wrt="a", form="nonzeros"))
    >>> bool(abs(M - robot.mass_matrix(q)).max() < 1e-12)
    True
    """

    shape: tuple[int, int]
    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]

    @classmethod
    def of(cls, mask: Any) -> Sparsity:
        """Return that of a boolean matrix."""
        there = np.asarray(mask, dtype=bool)
        columns, rows = np.nonzero(there.T)
        starts = np.searchsorted(columns, np.arange(there.shape[1] + 1))
        return cls((there.shape[0], there.shape[1]), starts.astype(np.int32), rows.astype(np.int32))

    @property
    def nnz(self) -> int:
        """How many entries there are."""
        return len(self.indices)

    @property
    def columns(self) -> NDArray[np.int32]:
        """The column (nnz,) of each entry; with `indices`, their rows, these are triplets."""
        return np.repeat(np.arange(self.shape[1], dtype=np.int32), np.diff(self.indptr))

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Where they are, as a boolean matrix."""
        return np.asarray(self.dense(np.ones(self.nnz)) > 0.0)

    def dense(self, nonzeros: Any) -> NDArray[np.floating[Any]]:
        """Return the matrix (..., m, n) with these entries (..., nnz)."""
        values = np.asarray(nonzeros)
        whole: NDArray[np.floating[Any]] = np.zeros((*values.shape[:-1], *self.shape), values.dtype)
        whole[..., self.indices, self.columns] = values
        return whole

    def to_c(self, name: str) -> str:
        """Return it as constants in C, ``NAME_indptr`` and ``NAME_indices``."""
        text = [f"/* {self.nnz} non-zeros of {self.shape[0]} rows and {self.shape[1]} columns. */"]
        for part, entries in (("indptr", self.indptr), ("indices", self.indices)):
            numbers = ", ".join(map(str, entries)) or "0"
            text.append(f"static const int {name}_{part}[{len(entries) or 1}] = {{\n{fill(numbers, 100)}\n}};")
        return "\n".join([*text, ""])


def sparsity(
    function: Function,
    wrt: str | Sequence[str] = (),
    *,
    of: str = "derivatives",
    optional: Sequence[str] = (),
    **options: object,
) -> Any:
    """Return where the matrices of a function's derivatives have entries that are not known to be zero.

    That is known from the function's structure and the robot, for all states.

    Parameters
    ----------
    wrt : str or sequence of str
        The inputs, all required ones if not given.
    of : {"derivatives", "hessian"}
        Of the Jacobians, or of the lower triangle of the Hessian.
    optional : sequence of str
        Optional arguments that calls give besides those in `wrt`.
    **options
        As in the call.

    Returns
    -------
    Sparsity or named tuple
        One for each array that ``form="nonzeros"`` returns, with its name.

    Raises
    ------
    ArgumentError
        For an input or an option that there is not.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("panda")
    >>> by_q, by_v, by_a = robot.inverse_dynamics.sparsity()
    >>> by_q.nnz, by_v.nnz, by_a.nnz
    (42, 49, 49)
    >>> robot.inverse_dynamics.sparsity(wrt=("q", "v"), of="hessian").nnz
    91
    """
    if of not in ("derivatives", "hessian"):
        raise ArgumentError(f"{function.__name__}: sparsity: of is {of!r}, it must be 'derivatives' or 'hessian'")
    derivative = getattr(function, of)
    names = names_of(f"{function.__name__}: wrt", [wrt] if isinstance(wrt, str) else wrt)
    given = [
        *names_of(f"{function.__name__}: optional", optional),
        *(name for name in names if name in function.spec.optional),
    ]
    chosen = {"wrt": wrt, "form": "nonzeros", **options}
    variant = derivative._variant("float64", tuple(dict.fromkeys(given)), chosen)
    patterns = derivative.spec.of(variant.optional, variant.options).patterns
    if len(patterns) == 1:
        return next(iter(patterns.values()))
    return result_type(f"{function.__name__}_sparsity", tuple(patterns))(*patterns.values())


def only_nonzeros(
    spec: FunctionSpec, usual: FunctionSpec | None, columns: Sequence[int], symmetric: bool
) -> FunctionSpec:
    """Return the function of the non-zeros of the matrices that this one returns last, of so many columns each.

    Where they are says `usual`, if given, which returns nothing else; of symmetric ones the lower triangles are left.
    """
    variant = Variant((), (), "float64")
    whole = spec.trace(variant)
    places = whole if usual is None else usual.trace(variant)
    first = len(whole.outputs) - len(places.outputs)
    outputs, results, patterns = [*whole.outputs[:first]], [*whole.results[:first]], {}
    for port, found, there, n in zip(
        whole.outputs[first:], whole.results[first:], places.results, columns, strict=True
    ):
        nodes = np.array(found, dtype=int).reshape(-1, n)
        zero = [op == "const" and payload == 0.0 for op, _, payload in (places.graph.nodes[i] for i in there)]
        mask = ~np.array(zero, dtype=bool).reshape(nodes.shape)
        mask = np.tril(mask) if symmetric else mask
        patterns[port.name] = Sparsity.of(mask)
        outputs.append(Port(port.name, (patterns[port.name].nnz,)))
        results.append(tuple(map(int, nodes.T[mask.T])))
    program = Program(whole.graph, whole.inputs, tuple(outputs), tuple(results))
    return replace(
        spec.with_program(program, "nonzeros"),
        patterns=patterns,
        evaluate=lambda arguments, _: recorded_results(program, arguments),
    )
