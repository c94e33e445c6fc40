"""The compiled functions of inverse kinematics as type checkers see them; a test holds them to their arguments."""

# mypy: disable-error-code="override, overload-overlap"

from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, Self, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.runtime import Function

_T = TypeVar("_T", bound=np.floating[Any])
_F32: TypeAlias = NDArray[np.float32]
_F64: TypeAlias = NDArray[np.float64]
_N32: TypeAlias = np.float32 | _F32
_Number: TypeAlias = Any  # a NumPy scalar for one state, an array for many: as NumPy's own functions have it

class Step(NamedTuple, Generic[_T]):
    """What a differential step leads to."""

    q: NDArray[_T]
    v: NDArray[_T]
    position_error: _Number
    orientation_error: _Number

class Found(NamedTuple, Generic[_T]):
    """What the solver found."""

    q: NDArray[_T]
    converged: _Number
    position_error: _Number
    orientation_error: _Number
    iterations: _Number
    attempts: _Number

class _WithoutOptions(Function):
    def bind(self) -> Self: ...
    def warmup(
        self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True
    ) -> None: ...

class StepFunction(_WithoutOptions):
    """A differential step for the pose of one frame."""

    @overload
    def __call__(
        self,
        q: _F64,
        target: ArrayLike,
        dt: ArrayLike,
        weights: ArrayLike | None = None,
        posture: ArrayLike | None = None,
        gain: ArrayLike | None = None,
        damping: ArrayLike | None = None,
        error_damping: ArrayLike | None = None,
        *,
        out: Sequence[_F64] | None = None,
    ) -> Step[np.float64]: ...
    @overload
    def __call__(
        self,
        q: _F32,
        target: _F32,
        dt: _N32,
        weights: _F32 | None = None,
        posture: _F32 | None = None,
        gain: _N32 | None = None,
        damping: _N32 | None = None,
        error_damping: _N32 | None = None,
        *,
        out: Sequence[_F32] | None = None,
    ) -> Step[np.float32]: ...
    @overload
    def __call__(
        self,
        q: ArrayLike,
        target: ArrayLike,
        dt: ArrayLike,
        weights: ArrayLike | None = None,
        posture: ArrayLike | None = None,
        gain: ArrayLike | None = None,
        damping: ArrayLike | None = None,
        error_damping: ArrayLike | None = None,
        *,
        out: Sequence[_F64] | None = None,
    ) -> Step[np.float64]: ...

class SolverFunction(_WithoutOptions):
    """The solver for the pose of one frame."""

    @overload
    def __call__(
        self,
        q0: _F64,
        target: ArrayLike,
        weights: ArrayLike | None = None,
        position_tolerance: ArrayLike | None = None,
        orientation_tolerance: ArrayLike | None = None,
        max_iterations: ArrayLike | None = None,
        restarts: ArrayLike | None = None,
        seed: ArrayLike | None = None,
        dt: ArrayLike | None = None,
        *,
        out: Sequence[_F64] | None = None,
    ) -> Found[np.float64]: ...
    @overload
    def __call__(
        self,
        q0: _F32,
        target: _F32,
        weights: _F32 | None = None,
        position_tolerance: _N32 | None = None,
        orientation_tolerance: _N32 | None = None,
        max_iterations: _N32 | None = None,
        restarts: _N32 | None = None,
        seed: _N32 | None = None,
        dt: _N32 | None = None,
        *,
        out: Sequence[_F32] | None = None,
    ) -> Found[np.float32]: ...
    @overload
    def __call__(
        self,
        q0: ArrayLike,
        target: ArrayLike,
        weights: ArrayLike | None = None,
        position_tolerance: ArrayLike | None = None,
        orientation_tolerance: ArrayLike | None = None,
        max_iterations: ArrayLike | None = None,
        restarts: ArrayLike | None = None,
        seed: ArrayLike | None = None,
        dt: ArrayLike | None = None,
        *,
        out: Sequence[_F64] | None = None,
    ) -> Found[np.float64]: ...

class StepFunctionByKind(_WithoutOptions):
    """A differential step for a dict of frames, whose targets are ``target_<frame>``: names are not checked."""

    @overload
    def __call__(
        self, q: _F32, *targets_and_dt: _N32, out: Sequence[_F32] | None = None, **named: _N32 | None
    ) -> Step[np.float32]: ...
    @overload
    def __call__(
        self, q: ArrayLike, *targets_and_dt: ArrayLike, out: Sequence[_F64] | None = None, **named: ArrayLike | None
    ) -> Step[np.float64]: ...

class SolverFunctionByKind(_WithoutOptions):
    """The solver for a dict of frames, whose targets are ``target_<frame>``: names are not checked."""

    @overload
    def __call__(
        self, q0: _F32, *targets: _N32, out: Sequence[_F32] | None = None, **named: _N32 | None
    ) -> Found[np.float32]: ...
    @overload
    def __call__(
        self, q0: ArrayLike, *targets: ArrayLike, out: Sequence[_F64] | None = None, **named: ArrayLike | None
    ) -> Found[np.float64]: ...
