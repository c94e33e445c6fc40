"""The functions of a robot as type checkers see them. Made by `python tools/make_signatures.py`."""

# mypy: disable-error-code="override, overload-overlap"

from collections.abc import Mapping, Sequence
from typing import Any, Generic, Literal, NamedTuple, Self, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.runtime import Function

_T = TypeVar("_T", bound=np.floating[Any])
_F32: TypeAlias = NDArray[np.float32]
_F64: TypeAlias = NDArray[np.float64]
_Wrenches: TypeAlias = ArrayLike | Mapping[str, ArrayLike]  # an array, or wrenches by the names of frames
_Number: TypeAlias = Any  # a NumPy scalar for one state, an array for many: as NumPy's own functions have it

class ForwardDynamicsFunction(Function):
    """Accelerations under the joint forces τ, ``a = M(q)⁻¹ (τ − h(q, v) + Jᵀ f_ext)``."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, tau: ArrayLike, f_ext: _Wrenches | None = None, *, f_ext_frame: Literal["body", "world"] = "body", out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, v: _F32, tau: _F32, f_ext: _F32 | None = None, *, f_ext_frame: Literal["body", "world"] = "body", out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: _Wrenches | None = None, *, f_ext_frame: Literal["body", "world"] = "body", out: _F64 | None = None) -> _F64: ...
    def bind(self, *, f_ext_frame: Literal["body", "world"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, f_ext_frame: Literal["body", "world"] = "body") -> None: ...

class CoriolisMatrixFunction(Function):
    """Coriolis matrix C(q, v), for which ``C v = h − g`` and ``Ṁ − 2C`` is skew-symmetric."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, v: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class MassMatrixFunction(Function):
    """Joint-space inertia matrix M(q)."""

    @overload
    def __call__(self, q: _F64, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class MassMatrixFactor(NamedTuple, Generic[_T]):
    """Factors of the mass matrix, ``M = Lᵀ diag(D) L``."""

    L: NDArray[_T]
    D: NDArray[_T]

class MassMatrixFactorFunction(Function):
    """Factors of the mass matrix, ``M = Lᵀ diag(D) L``."""

    @overload
    def __call__(self, q: _F64, *, out: Sequence[_F64] | None = None) -> MassMatrixFactor[np.float64]: ...
    @overload
    def __call__(self, q: _F32, *, out: Sequence[_F32] | None = None) -> MassMatrixFactor[np.float32]: ...
    @overload
    def __call__(self, q: ArrayLike, *, out: Sequence[_F64] | None = None) -> MassMatrixFactor[np.float64]: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class MassMatrixInverseFunction(Function):
    """Inverse of the joint-space inertia matrix, M(q)⁻¹; for one product M⁻¹ b, `solve_mass_matrix` is cheaper."""

    @overload
    def __call__(self, q: _F64, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class SolveMassMatrixFunction(Function):
    """Solution of ``M(q) x = b``."""

    @overload
    def __call__(self, q: _F64, b: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, b: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, b: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class HybridDynamics(NamedTuple, Generic[_T]):
    """Accelerations and joint forces, where one of the two is given at each joint."""

    a: NDArray[_T]
    tau: NDArray[_T]

class HybridDynamicsFunction(Function):
    """Accelerations and joint forces, where one of the two is given at each joint."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, a: ArrayLike, tau: ArrayLike, f_ext: _Wrenches | None = None, *, prescribed: Sequence[str] = (), method: Literal["articulated", "system"] = "articulated", f_ext_frame: Literal["body", "world"] = "body", out: Sequence[_F64] | None = None) -> HybridDynamics[np.float64]: ...
    @overload
    def __call__(self, q: _F32, v: _F32, a: _F32, tau: _F32, f_ext: _F32 | None = None, *, prescribed: Sequence[str] = (), method: Literal["articulated", "system"] = "articulated", f_ext_frame: Literal["body", "world"] = "body", out: Sequence[_F32] | None = None) -> HybridDynamics[np.float32]: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, tau: ArrayLike, f_ext: _Wrenches | None = None, *, prescribed: Sequence[str] = (), method: Literal["articulated", "system"] = "articulated", f_ext_frame: Literal["body", "world"] = "body", out: Sequence[_F64] | None = None) -> HybridDynamics[np.float64]: ...
    def bind(self, *, prescribed: Sequence[str] = ..., method: Literal["articulated", "system"] = ..., f_ext_frame: Literal["body", "world"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, prescribed: Sequence[str] = (), method: Literal["articulated", "system"] = "articulated", f_ext_frame: Literal["body", "world"] = "body") -> None: ...

class JointPhysicsRegressorFunction(Function):
    """Regressor of the joints' own resistance: armature, damping and Coulomb friction."""

    @overload
    def __call__(self, v: _F64, a: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, v: _F32, a: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, v: ArrayLike, a: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class JointReactionsFunction(Function):
    """Wrench that each joint transmits to its body."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, a: ArrayLike, f_ext: _Wrenches | None = None, *, f_ext_frame: Literal["body", "world"] = "body", out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, v: _F32, a: _F32, f_ext: _F32 | None = None, *, f_ext_frame: Literal["body", "world"] = "body", out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: _Wrenches | None = None, *, f_ext_frame: Literal["body", "world"] = "body", out: _F64 | None = None) -> _F64: ...
    def bind(self, *, f_ext_frame: Literal["body", "world"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, f_ext_frame: Literal["body", "world"] = "body") -> None: ...

class InverseDynamicsFunction(Function):
    """Joint forces for given accelerations, ``τ = M(q) a + h(q, v) − Jᵀ f_ext``."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, a: ArrayLike, f_ext: _Wrenches | None = None, *, f_ext_frame: Literal["body", "world"] = "body", out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, v: _F32, a: _F32, f_ext: _F32 | None = None, *, f_ext_frame: Literal["body", "world"] = "body", out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: _Wrenches | None = None, *, f_ext_frame: Literal["body", "world"] = "body", out: _F64 | None = None) -> _F64: ...
    def bind(self, *, f_ext_frame: Literal["body", "world"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, f_ext_frame: Literal["body", "world"] = "body") -> None: ...

class BiasForcesFunction(Function):
    """Joint forces at zero acceleration, ``h = C(q, v) v + g(q)``, with springs, and with friction if it is on."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, v: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class GravityForcesFunction(Function):
    """Joint forces that hold the robot at rest against gravity; springs in the joints do not count."""

    @overload
    def __call__(self, q: _F64, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class TaskSpaceDynamics(NamedTuple, Generic[_T]):
    """Equation of motion of a frame from its velocity, ``F = Λ(q) V̇ + η(q, V)``; V̇ is the rate of the numbers V."""

    Lambda: NDArray[_T]
    eta: NDArray[_T]

class TaskSpaceDynamicsFunction(Function):
    """Equation of motion of a frame from its velocity, ``F = Λ(q) V̇ + η(q, V)``; V̇ is the rate of the numbers V."""

    @overload
    def __call__(self, q: _F64, V: ArrayLike, damping: ArrayLike | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose", out: Sequence[_F64] | None = None) -> TaskSpaceDynamics[np.float64]: ...
    @overload
    def __call__(self, q: _F32, V: _F32, damping: np.float32 | _F32 | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose", out: Sequence[_F32] | None = None) -> TaskSpaceDynamics[np.float32]: ...
    @overload
    def __call__(self, q: ArrayLike, V: ArrayLike, damping: ArrayLike | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose", out: Sequence[_F64] | None = None) -> TaskSpaceDynamics[np.float64]: ...
    @overload
    def bind(self, *, frame: str, reference: Literal["body", "world", "aligned"] = ..., rows: Literal["pose", "position", "orientation"] = ...) -> BoundTaskSpaceDynamics: ...
    @overload
    def bind(self, *, reference: Literal["body", "world", "aligned"] = ..., rows: Literal["pose", "position", "orientation"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, frame: str, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose") -> None: ...

class BoundTaskSpaceDynamics(Function):
    """Equation of motion of a frame from its velocity, ``F = Λ(q) V̇ + η(q, V)``; V̇ is the rate of the numbers V."""

    @overload
    def __call__(self, q: _F64, V: ArrayLike, damping: ArrayLike | None = None, *, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose", out: Sequence[_F64] | None = None) -> TaskSpaceDynamics[np.float64]: ...
    @overload
    def __call__(self, q: _F32, V: _F32, damping: np.float32 | _F32 | None = None, *, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose", out: Sequence[_F32] | None = None) -> TaskSpaceDynamics[np.float32]: ...
    @overload
    def __call__(self, q: ArrayLike, V: ArrayLike, damping: ArrayLike | None = None, *, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose", out: Sequence[_F64] | None = None) -> TaskSpaceDynamics[np.float64]: ...
    def bind(self, *, reference: Literal["body", "world", "aligned"] = ..., rows: Literal["pose", "position", "orientation"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose") -> None: ...

class OperationalSpaceDynamics(NamedTuple, Generic[_T]):
    """Equation of motion of a frame, ``F = Λ V̇ + μ + p``, for any number of joints; V̇ is the rate of ``V = J v``."""

    Lambda: NDArray[_T]
    mu: NDArray[_T]
    p: NDArray[_T]

class OperationalSpaceDynamicsFunction(Function):
    """Equation of motion of a frame, ``F = Λ V̇ + μ + p``, for any number of joints; V̇ is the rate of ``V = J v``."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, damping: ArrayLike | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose", out: Sequence[_F64] | None = None) -> OperationalSpaceDynamics[np.float64]: ...
    @overload
    def __call__(self, q: _F32, v: _F32, damping: np.float32 | _F32 | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose", out: Sequence[_F32] | None = None) -> OperationalSpaceDynamics[np.float32]: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, damping: ArrayLike | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose", out: Sequence[_F64] | None = None) -> OperationalSpaceDynamics[np.float64]: ...
    @overload
    def bind(self, *, frame: str, reference: Literal["body", "world", "aligned"] = ..., rows: Literal["pose", "position", "orientation"] = ...) -> BoundOperationalSpaceDynamics: ...
    @overload
    def bind(self, *, reference: Literal["body", "world", "aligned"] = ..., rows: Literal["pose", "position", "orientation"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, frame: str, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose") -> None: ...

class BoundOperationalSpaceDynamics(Function):
    """Equation of motion of a frame, ``F = Λ V̇ + μ + p``, for any number of joints; V̇ is the rate of ``V = J v``."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, damping: ArrayLike | None = None, *, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose", out: Sequence[_F64] | None = None) -> OperationalSpaceDynamics[np.float64]: ...
    @overload
    def __call__(self, q: _F32, v: _F32, damping: np.float32 | _F32 | None = None, *, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose", out: Sequence[_F32] | None = None) -> OperationalSpaceDynamics[np.float32]: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, damping: ArrayLike | None = None, *, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose", out: Sequence[_F64] | None = None) -> OperationalSpaceDynamics[np.float64]: ...
    def bind(self, *, reference: Literal["body", "world", "aligned"] = ..., rows: Literal["pose", "position", "orientation"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose") -> None: ...

class OperationalInertiaFunction(Function):
    """Inertia of the robot as felt at a frame, ``Λ = (J M⁻¹ Jᵀ)⁻¹``."""

    @overload
    def __call__(self, q: _F64, damping: ArrayLike | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose", out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, damping: np.float32 | _F32 | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose", out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, damping: ArrayLike | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose", out: _F64 | None = None) -> _F64: ...
    @overload
    def bind(self, *, frame: str, reference: Literal["body", "world", "aligned"] = ..., rows: Literal["pose", "position", "orientation"] = ...) -> BoundOperationalInertia: ...
    @overload
    def bind(self, *, reference: Literal["body", "world", "aligned"] = ..., rows: Literal["pose", "position", "orientation"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, frame: str, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose") -> None: ...

class BoundOperationalInertia(Function):
    """Inertia of the robot as felt at a frame, ``Λ = (J M⁻¹ Jᵀ)⁻¹``."""

    @overload
    def __call__(self, q: _F64, damping: ArrayLike | None = None, *, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose", out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, damping: np.float32 | _F32 | None = None, *, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose", out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, damping: ArrayLike | None = None, *, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose", out: _F64 | None = None) -> _F64: ...
    def bind(self, *, reference: Literal["body", "world", "aligned"] = ..., rows: Literal["pose", "position", "orientation"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose") -> None: ...

class DynamicallyConsistentInverseFunction(Function):
    """Inverse of the Jacobian weighted by the inertia, ``J̄ = M⁻¹ Jᵀ Λ``."""

    @overload
    def __call__(self, q: _F64, damping: ArrayLike | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose", out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, damping: np.float32 | _F32 | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose", out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, damping: ArrayLike | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose", out: _F64 | None = None) -> _F64: ...
    @overload
    def bind(self, *, frame: str, reference: Literal["body", "world", "aligned"] = ..., rows: Literal["pose", "position", "orientation"] = ...) -> BoundDynamicallyConsistentInverse: ...
    @overload
    def bind(self, *, reference: Literal["body", "world", "aligned"] = ..., rows: Literal["pose", "position", "orientation"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, frame: str, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose") -> None: ...

class BoundDynamicallyConsistentInverse(Function):
    """Inverse of the Jacobian weighted by the inertia, ``J̄ = M⁻¹ Jᵀ Λ``."""

    @overload
    def __call__(self, q: _F64, damping: ArrayLike | None = None, *, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose", out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, damping: np.float32 | _F32 | None = None, *, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose", out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, damping: ArrayLike | None = None, *, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose", out: _F64 | None = None) -> _F64: ...
    def bind(self, *, reference: Literal["body", "world", "aligned"] = ..., rows: Literal["pose", "position", "orientation"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, reference: Literal["body", "world", "aligned"] = "body", rows: Literal["pose", "position", "orientation"] = "pose") -> None: ...

class NullSpaceProjectorFunction(Function):
    """Projector of joint forces, ``N = 1 − Jᵀ J̄ᵀ``: ``N τ`` does not accelerate the frame."""

    @overload
    def __call__(self, q: _F64, damping: ArrayLike | None = None, *, frame: str, rows: Literal["pose", "position", "orientation"] = "pose", out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, damping: np.float32 | _F32 | None = None, *, frame: str, rows: Literal["pose", "position", "orientation"] = "pose", out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, damping: ArrayLike | None = None, *, frame: str, rows: Literal["pose", "position", "orientation"] = "pose", out: _F64 | None = None) -> _F64: ...
    @overload
    def bind(self, *, frame: str, rows: Literal["pose", "position", "orientation"] = ...) -> BoundNullSpaceProjector: ...
    @overload
    def bind(self, *, rows: Literal["pose", "position", "orientation"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, frame: str, rows: Literal["pose", "position", "orientation"] = "pose") -> None: ...

class BoundNullSpaceProjector(Function):
    """Projector of joint forces, ``N = 1 − Jᵀ J̄ᵀ``: ``N τ`` does not accelerate the frame."""

    @overload
    def __call__(self, q: _F64, damping: ArrayLike | None = None, *, rows: Literal["pose", "position", "orientation"] = "pose", out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, damping: np.float32 | _F32 | None = None, *, rows: Literal["pose", "position", "orientation"] = "pose", out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, damping: ArrayLike | None = None, *, rows: Literal["pose", "position", "orientation"] = "pose", out: _F64 | None = None) -> _F64: ...
    def bind(self, *, rows: Literal["pose", "position", "orientation"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, rows: Literal["pose", "position", "orientation"] = "pose") -> None: ...

class ExternalWrenchFunction(Function):
    """External forces ``f_ext`` equivalent to a wrench on a frame, for every function that takes ``f_ext``."""

    @overload
    def __call__(self, q: _F64, wrench: ArrayLike, point: ArrayLike | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, wrench: _F32, point: _F32 | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, wrench: ArrayLike, point: ArrayLike | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    @overload
    def bind(self, *, frame: str, reference: Literal["body", "world", "aligned"] = ...) -> BoundExternalWrench: ...
    @overload
    def bind(self, *, reference: Literal["body", "world", "aligned"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, frame: str, reference: Literal["body", "world", "aligned"] = "body") -> None: ...

class BoundExternalWrench(Function):
    """External forces ``f_ext`` equivalent to a wrench on a frame, for every function that takes ``f_ext``."""

    @overload
    def __call__(self, q: _F64, wrench: ArrayLike, point: ArrayLike | None = None, *, reference: Literal["body", "world", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, wrench: _F32, point: _F32 | None = None, *, reference: Literal["body", "world", "aligned"] = "body", out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, wrench: ArrayLike, point: ArrayLike | None = None, *, reference: Literal["body", "world", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    def bind(self, *, reference: Literal["body", "world", "aligned"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, reference: Literal["body", "world", "aligned"] = "body") -> None: ...

class WrenchForcesFunction(Function):
    """Joint forces equivalent to a wrench on a frame: ``Jᵀ F`` for the J of the same reference, without forming J."""

    @overload
    def __call__(self, q: _F64, wrench: ArrayLike, point: ArrayLike | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, wrench: _F32, point: _F32 | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, wrench: ArrayLike, point: ArrayLike | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    @overload
    def bind(self, *, frame: str, reference: Literal["body", "world", "aligned"] = ...) -> BoundWrenchForces: ...
    @overload
    def bind(self, *, reference: Literal["body", "world", "aligned"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, frame: str, reference: Literal["body", "world", "aligned"] = "body") -> None: ...

class BoundWrenchForces(Function):
    """Joint forces equivalent to a wrench on a frame: ``Jᵀ F`` for the J of the same reference, without forming J."""

    @overload
    def __call__(self, q: _F64, wrench: ArrayLike, point: ArrayLike | None = None, *, reference: Literal["body", "world", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, wrench: _F32, point: _F32 | None = None, *, reference: Literal["body", "world", "aligned"] = "body", out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, wrench: ArrayLike, point: ArrayLike | None = None, *, reference: Literal["body", "world", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    def bind(self, *, reference: Literal["body", "world", "aligned"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, reference: Literal["body", "world", "aligned"] = "body") -> None: ...

class ForwardKinematicsFunction(Function):
    """Pose of every moving body in the world."""

    @overload
    def __call__(self, q: _F64, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class FramePlacementFunction(Function):
    """Pose of a frame in the world."""

    @overload
    def __call__(self, q: _F64, point: ArrayLike | None = None, *, frame: str, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, point: _F32 | None = None, *, frame: str, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, point: ArrayLike | None = None, *, frame: str, out: _F64 | None = None) -> _F64: ...
    @overload
    def bind(self, *, frame: str) -> BoundFramePlacement: ...
    @overload
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, frame: str) -> None: ...

class BoundFramePlacement(Function):
    """Pose of a frame in the world."""

    @overload
    def __call__(self, q: _F64, point: ArrayLike | None = None, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, point: _F32 | None = None, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, point: ArrayLike | None = None, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class FramePlacementsFunction(Function):
    """Pose of every frame in the world, in one call."""

    @overload
    def __call__(self, q: _F64, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class FrameVelocityFunction(Function):
    """Spatial velocity of a frame, ``J(q) v``, without the Jacobian."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, point: ArrayLike | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, v: _F32, point: _F32 | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, point: ArrayLike | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    @overload
    def bind(self, *, frame: str, reference: Literal["body", "world", "aligned"] = ...) -> BoundFrameVelocity: ...
    @overload
    def bind(self, *, reference: Literal["body", "world", "aligned"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, frame: str, reference: Literal["body", "world", "aligned"] = "body") -> None: ...

class BoundFrameVelocity(Function):
    """Spatial velocity of a frame, ``J(q) v``, without the Jacobian."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, point: ArrayLike | None = None, *, reference: Literal["body", "world", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, v: _F32, point: _F32 | None = None, *, reference: Literal["body", "world", "aligned"] = "body", out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, point: ArrayLike | None = None, *, reference: Literal["body", "world", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    def bind(self, *, reference: Literal["body", "world", "aligned"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, reference: Literal["body", "world", "aligned"] = "body") -> None: ...

class FrameAccelerationFunction(Function):
    """Acceleration of a frame; gravity is not included."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, a: ArrayLike, point: ArrayLike | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", kind: Literal["spatial", "classical"] = "spatial", out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, v: _F32, a: _F32, point: _F32 | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", kind: Literal["spatial", "classical"] = "spatial", out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, point: ArrayLike | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", kind: Literal["spatial", "classical"] = "spatial", out: _F64 | None = None) -> _F64: ...
    @overload
    def bind(self, *, frame: str, reference: Literal["body", "world", "aligned"] = ..., kind: Literal["spatial", "classical"] = ...) -> BoundFrameAcceleration: ...
    @overload
    def bind(self, *, reference: Literal["body", "world", "aligned"] = ..., kind: Literal["spatial", "classical"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, frame: str, reference: Literal["body", "world", "aligned"] = "body", kind: Literal["spatial", "classical"] = "spatial") -> None: ...

class BoundFrameAcceleration(Function):
    """Acceleration of a frame; gravity is not included."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, a: ArrayLike, point: ArrayLike | None = None, *, reference: Literal["body", "world", "aligned"] = "body", kind: Literal["spatial", "classical"] = "spatial", out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, v: _F32, a: _F32, point: _F32 | None = None, *, reference: Literal["body", "world", "aligned"] = "body", kind: Literal["spatial", "classical"] = "spatial", out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, point: ArrayLike | None = None, *, reference: Literal["body", "world", "aligned"] = "body", kind: Literal["spatial", "classical"] = "spatial", out: _F64 | None = None) -> _F64: ...
    def bind(self, *, reference: Literal["body", "world", "aligned"] = ..., kind: Literal["spatial", "classical"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, reference: Literal["body", "world", "aligned"] = "body", kind: Literal["spatial", "classical"] = "spatial") -> None: ...

class JacobianFunction(Function):
    """Jacobian of a frame: its spatial velocity is ``J(q) v``."""

    @overload
    def __call__(self, q: _F64, point: ArrayLike | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, point: _F32 | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, point: ArrayLike | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    @overload
    def bind(self, *, frame: str, reference: Literal["body", "world", "aligned"] = ...) -> BoundJacobian: ...
    @overload
    def bind(self, *, reference: Literal["body", "world", "aligned"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, frame: str, reference: Literal["body", "world", "aligned"] = "body") -> None: ...

class BoundJacobian(Function):
    """Jacobian of a frame: its spatial velocity is ``J(q) v``."""

    @overload
    def __call__(self, q: _F64, point: ArrayLike | None = None, *, reference: Literal["body", "world", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, point: _F32 | None = None, *, reference: Literal["body", "world", "aligned"] = "body", out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, point: ArrayLike | None = None, *, reference: Literal["body", "world", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    def bind(self, *, reference: Literal["body", "world", "aligned"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, reference: Literal["body", "world", "aligned"] = "body") -> None: ...

class JacobianRateFunction(Function):
    """Rate of the Jacobian of a frame, ``J̇(q, v)``, while the robot moves at v."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, point: ArrayLike | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, v: _F32, point: _F32 | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, point: ArrayLike | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    @overload
    def bind(self, *, frame: str, reference: Literal["body", "world", "aligned"] = ...) -> BoundJacobianRate: ...
    @overload
    def bind(self, *, reference: Literal["body", "world", "aligned"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, frame: str, reference: Literal["body", "world", "aligned"] = "body") -> None: ...

class BoundJacobianRate(Function):
    """Rate of the Jacobian of a frame, ``J̇(q, v)``, while the robot moves at v."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, point: ArrayLike | None = None, *, reference: Literal["body", "world", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, v: _F32, point: _F32 | None = None, *, reference: Literal["body", "world", "aligned"] = "body", out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, point: ArrayLike | None = None, *, reference: Literal["body", "world", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    def bind(self, *, reference: Literal["body", "world", "aligned"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, reference: Literal["body", "world", "aligned"] = "body") -> None: ...

class JacobianBiasFunction(Function):
    """Acceleration of a frame due to the velocity alone, ``J̇(q, v) v``."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, point: ArrayLike | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, v: _F32, point: _F32 | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, point: ArrayLike | None = None, *, frame: str, reference: Literal["body", "world", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    @overload
    def bind(self, *, frame: str, reference: Literal["body", "world", "aligned"] = ...) -> BoundJacobianBias: ...
    @overload
    def bind(self, *, reference: Literal["body", "world", "aligned"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, frame: str, reference: Literal["body", "world", "aligned"] = "body") -> None: ...

class BoundJacobianBias(Function):
    """Acceleration of a frame due to the velocity alone, ``J̇(q, v) v``."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, point: ArrayLike | None = None, *, reference: Literal["body", "world", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, v: _F32, point: _F32 | None = None, *, reference: Literal["body", "world", "aligned"] = "body", out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, point: ArrayLike | None = None, *, reference: Literal["body", "world", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    def bind(self, *, reference: Literal["body", "world", "aligned"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, reference: Literal["body", "world", "aligned"] = "body") -> None: ...

class IntegrateFunction(Function):
    """Return the configuration reached from q by the velocity dv held for a unit of time, or for dt."""

    @overload
    def __call__(self, q: _F64, dv: ArrayLike, dt: ArrayLike | None = None, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, dv: _F32, dt: np.float32 | _F32 | None = None, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, dv: ArrayLike, dt: ArrayLike | None = None, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class DifferenceFunction(Function):
    """Return the velocity that leads from q0 to q1 in a unit of time: the inverse of `integrate`, a logarithm."""

    @overload
    def __call__(self, q0: _F64, q1: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q0: _F32, q1: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q0: ArrayLike, q1: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class InterpolateFunction(Function):
    """Return the configuration at the part s of the way from q0 to q1: ``q0 ⊕ s (q1 ⊖ q0)``."""

    @overload
    def __call__(self, q0: _F64, q1: ArrayLike, s: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q0: _F32, q1: _F32, s: np.float32 | _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q0: ArrayLike, q1: ArrayLike, s: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class ManipulabilityFunction(Function):
    """Yoshikawa's measure of manipulability of a frame, ``√det(J Jᵀ)``: the product of the singular values of J."""

    @overload
    def __call__(self, q: _F64, *, frame: str, rows: Literal["pose", "position", "orientation"] = "pose", out: _F64 | None = None) -> _Number: ...
    @overload
    def __call__(self, q: _F32, *, frame: str, rows: Literal["pose", "position", "orientation"] = "pose", out: _F32 | None = None) -> _Number: ...
    @overload
    def __call__(self, q: ArrayLike, *, frame: str, rows: Literal["pose", "position", "orientation"] = "pose", out: _F64 | None = None) -> _Number: ...
    @overload
    def bind(self, *, frame: str, rows: Literal["pose", "position", "orientation"] = ...) -> BoundManipulability: ...
    @overload
    def bind(self, *, rows: Literal["pose", "position", "orientation"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, frame: str, rows: Literal["pose", "position", "orientation"] = "pose") -> None: ...

class BoundManipulability(Function):
    """Yoshikawa's measure of manipulability of a frame, ``√det(J Jᵀ)``: the product of the singular values of J."""

    @overload
    def __call__(self, q: _F64, *, rows: Literal["pose", "position", "orientation"] = "pose", out: _F64 | None = None) -> _Number: ...
    @overload
    def __call__(self, q: _F32, *, rows: Literal["pose", "position", "orientation"] = "pose", out: _F32 | None = None) -> _Number: ...
    @overload
    def __call__(self, q: ArrayLike, *, rows: Literal["pose", "position", "orientation"] = "pose", out: _F64 | None = None) -> _Number: ...
    def bind(self, *, rows: Literal["pose", "position", "orientation"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, rows: Literal["pose", "position", "orientation"] = "pose") -> None: ...

class RelativeJacobianFunction(Function):
    """Jacobian of a frame relative to another one: ``J(q) v`` is the twist of `frame` observed from `relative_to`."""

    @overload
    def __call__(self, q: _F64, point: ArrayLike | None = None, *, frame: str, relative_to: str, reference: Literal["body", "relative_to", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, point: _F32 | None = None, *, frame: str, relative_to: str, reference: Literal["body", "relative_to", "aligned"] = "body", out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, point: ArrayLike | None = None, *, frame: str, relative_to: str, reference: Literal["body", "relative_to", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    @overload
    def bind(self, *, frame: str, relative_to: str, reference: Literal["body", "relative_to", "aligned"] = ...) -> BoundRelativeJacobian: ...
    @overload
    def bind(self, *, frame: str = ..., reference: Literal["body", "relative_to", "aligned"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, frame: str, relative_to: str, reference: Literal["body", "relative_to", "aligned"] = "body") -> None: ...

class BoundRelativeJacobian(Function):
    """Jacobian of a frame relative to another one: ``J(q) v`` is the twist of `frame` observed from `relative_to`."""

    @overload
    def __call__(self, q: _F64, point: ArrayLike | None = None, *, reference: Literal["body", "relative_to", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, point: _F32 | None = None, *, reference: Literal["body", "relative_to", "aligned"] = "body", out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, point: ArrayLike | None = None, *, reference: Literal["body", "relative_to", "aligned"] = "body", out: _F64 | None = None) -> _F64: ...
    def bind(self, *, reference: Literal["body", "relative_to", "aligned"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, reference: Literal["body", "relative_to", "aligned"] = "body") -> None: ...

class RelativePlacementFunction(Function):
    """Pose of a frame in another frame."""

    @overload
    def __call__(self, q: _F64, point: ArrayLike | None = None, *, frame: str, relative_to: str, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, point: _F32 | None = None, *, frame: str, relative_to: str, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, point: ArrayLike | None = None, *, frame: str, relative_to: str, out: _F64 | None = None) -> _F64: ...
    @overload
    def bind(self, *, frame: str, relative_to: str) -> BoundRelativePlacement: ...
    @overload
    def bind(self, *, frame: str = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, frame: str, relative_to: str) -> None: ...

class BoundRelativePlacement(Function):
    """Pose of a frame in another frame."""

    @overload
    def __call__(self, q: _F64, point: ArrayLike | None = None, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, point: _F32 | None = None, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, point: ArrayLike | None = None, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class CenterOfMassFunction(Function):
    """Centre of mass of the moving bodies, in the world."""

    @overload
    def __call__(self, q: _F64, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class CenterOfMassVelocityFunction(Function):
    """Velocity of the centre of mass of the moving bodies, in the world's axes."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, v: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class CenterOfMassAccelerationFunction(Function):
    """Acceleration of the centre of mass of the moving bodies, in the world's axes; gravity is not included."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, a: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, v: _F32, a: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class CenterOfMassJacobianFunction(Function):
    """Jacobian of the centre of mass: ``J(q) v`` is its velocity in the world's axes."""

    @overload
    def __call__(self, q: _F64, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class KineticEnergyFunction(Function):
    """Kinetic energy, ``T = ½ vᵀ M(q) v``."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, *, out: _F64 | None = None) -> _Number: ...
    @overload
    def __call__(self, q: _F32, v: _F32, *, out: _F32 | None = None) -> _Number: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, *, out: _F64 | None = None) -> _Number: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class PotentialEnergyFunction(Function):
    """Potential energy of gravity and of springs in the joints, ``V = −Σ m_i g·c_i + Σ ½ k (q − q_rest)²``."""

    @overload
    def __call__(self, q: _F64, *, out: _F64 | None = None) -> _Number: ...
    @overload
    def __call__(self, q: _F32, *, out: _F32 | None = None) -> _Number: ...
    @overload
    def __call__(self, q: ArrayLike, *, out: _F64 | None = None) -> _Number: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class MechanicalEnergyFunction(Function):
    """Kinetic and potential energy together, ``Ė = τᵀ v``; constant where only gravity and springs act."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, *, out: _F64 | None = None) -> _Number: ...
    @overload
    def __call__(self, q: _F32, v: _F32, *, out: _F32 | None = None) -> _Number: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, *, out: _F64 | None = None) -> _Number: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class CentroidalMomentumFunction(Function):
    """Momentum of the robot about its centre of mass."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, v: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class CentroidalMomentumRateFunction(Function):
    """Rate of the momentum about the centre of mass: the wrench that gravity and contacts must exert there."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, a: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, v: _F32, a: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class CentroidalMomentumMatrixFunction(Function):
    """Centroidal momentum matrix A_G(q), ``h_G = A_G v``."""

    @overload
    def __call__(self, q: _F64, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class CentroidalMomentumMatrixRateFunction(Function):
    """Rate of the centroidal momentum matrix, Ȧ_G(q, v)."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, v: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class JointTorqueRegressorFunction(Function):
    """Joint forces as a linear function of the inertial parameters, ``inverse_dynamics(q, v, a) = Y φ``."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, a: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, v: _F32, a: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class MomentumRegressorFunction(Function):
    """Momentum of the robot about the world's origin as a linear function of the inertial parameters, ``h_0 = Y φ``."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, v: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class KineticEnergyRegressorFunction(Function):
    """Kinetic energy of the bodies as a linear function of the inertial parameters, ``T = Y·φ``."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, v: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class PotentialEnergyRegressorFunction(Function):
    """Potential energy of the bodies as a linear function of the inertial parameters, ``V = Y·φ``, without springs."""

    @overload
    def __call__(self, q: _F64, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class Step(NamedTuple, Generic[_T]):
    """Return the configuration and velocity a time dt later, under constant joint forces and wrenches."""

    q: NDArray[_T]
    v: NDArray[_T]

class StepFunction(Function):
    """Return the configuration and velocity a time dt later, under constant joint forces and wrenches."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, tau: ArrayLike, dt: ArrayLike, f_ext: _Wrenches | None = None, *, integrator: Literal["semi_implicit_euler", "euler", "implicit_euler", "rk4", "tsitouras", "variational"] = "semi_implicit_euler", limits: Literal["none", "position", "effort", "all"] = "none", f_ext_frame: Literal["body", "world"] = "body", out: Sequence[_F64] | None = None) -> Step[np.float64]: ...
    @overload
    def __call__(self, q: _F32, v: _F32, tau: _F32, dt: np.float32 | _F32, f_ext: _F32 | None = None, *, integrator: Literal["semi_implicit_euler", "euler", "implicit_euler", "rk4", "tsitouras", "variational"] = "semi_implicit_euler", limits: Literal["none", "position", "effort", "all"] = "none", f_ext_frame: Literal["body", "world"] = "body", out: Sequence[_F32] | None = None) -> Step[np.float32]: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: ArrayLike, f_ext: _Wrenches | None = None, *, integrator: Literal["semi_implicit_euler", "euler", "implicit_euler", "rk4", "tsitouras", "variational"] = "semi_implicit_euler", limits: Literal["none", "position", "effort", "all"] = "none", f_ext_frame: Literal["body", "world"] = "body", out: Sequence[_F64] | None = None) -> Step[np.float64]: ...
    def bind(self, *, integrator: Literal["semi_implicit_euler", "euler", "implicit_euler", "rk4", "tsitouras", "variational"] = ..., limits: Literal["none", "position", "effort", "all"] = ..., f_ext_frame: Literal["body", "world"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, integrator: Literal["semi_implicit_euler", "euler", "implicit_euler", "rk4", "tsitouras", "variational"] = "semi_implicit_euler", limits: Literal["none", "position", "effort", "all"] = "none", f_ext_frame: Literal["body", "world"] = "body") -> None: ...

class Functions:
    """The functions of a robot."""

    @property
    def forward_dynamics(self) -> ForwardDynamicsFunction:
        r"""Accelerations under the joint forces τ, ``a = M(q)⁻¹ (τ − h(q, v) + Jᵀ f_ext)``.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).
        tau : (..., nv) array
            Joint forces (N·m, N); for a floating base, the wrench on it.
        f_ext : (..., nb, 6) array, optional
            Wrench (n, f) exerted on each moving body (N·m, N), ordered as ``robot.body_names``; or a dict of wrenches (...,
            6) by the name of a body or frame, each in the axes of that frame about its origin.
        f_ext_frame : {"body", "world"}
            Axes and reference point of f_ext: each body's (of a dict, frame's) own, or the world's.

        Returns
        -------
        a : (..., nv) array
            True acceleration, which does not include gravity (rad/s², m/s²).

        Raises
        ------
        ModelError
            If a joint meets no inertia, so that M is singular at every configuration; the joint is named. At single
            configurations where M is singular, the result is NaN or enormous.

        References
        ----------
        RBDA Table 7.1, split as ``a = a_bias + Δa``: a first sweep as in Table 5.1 finds the forces at zero
        joint acceleration. With mimic joints, which couple branches, M is factorised instead (RBDA section 6.5).

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.forward_dynamics(q, v, robot.gravity_forces(q)).shape
        (7,)
        """

    @property
    def coriolis_matrix(self) -> CoriolisMatrixFunction:
        r"""Coriolis matrix C(q, v), for which ``C v = h − g`` and ``Ṁ − 2C`` is skew-symmetric.

        Of the matrices with this property it is ``Σ m Jᵀ J̇`` over all particles. Where velocities are the rates of
        coordinates, it consists of the Christoffel symbols.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).

        Returns
        -------
        C : (..., nv, nv) array
            Coriolis matrix: ``τ = M a + C v + g`` without springs and friction.

        References
        ----------
        Echeandia and Wensing, "Numerical methods to compute the Coriolis matrix and Christoffel symbols for
        rigid-body systems", 2021: composites of I and of ``B = ½ (v×* I − I v× + (I v)×̄*)``, where ``f×̄* v = v×* f``. Here
        the first half of B has the form of an inertia, and the second follows from the momentum.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.coriolis_matrix(q, v).shape
        (7, 7)
        """

    @property
    def mass_matrix(self) -> MassMatrixFunction:
        r"""Joint-space inertia matrix M(q).

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).

        Returns
        -------
        M : (..., nv, nv) array
            Symmetric; positive definite unless a massless body can move freely (kg·m², kg·m, kg).

        References
        ----------
        RBDA Table 6.2; armature is added on the diagonal. The columns of many joints are computed by loops.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.mass_matrix(q).shape
        (7, 7)
        """

    @property
    def mass_matrix_factor(self) -> MassMatrixFactorFunction:
        r"""Factors of the mass matrix, ``M = Lᵀ diag(D) L``.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).

        Returns
        -------
        L : (..., nv, nv) array
            Unit diagonal; row k has other entries only at the joints that carry joint k (and, with mimic joints, at those
            coupled to it). Lower triangular where joints are listed after those that carry them.
        D : (..., nv) array
            Positive: the inertia at each velocity while the joints that it carries move freely.

        Raises
        ------
        ModelError
            If a joint meets no inertia, so that M is singular at every configuration; the joint is named. At single
            configurations where M is singular, the result is NaN or enormous.

        References
        ----------
        RBDA section 6.5 and Table 6.3.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> L, D = robot.mass_matrix_factor(q)
        >>> bool(abs(L.T * D @ L - robot.mass_matrix(q)).max() < 1e-12)
        True
        """

    @property
    def mass_matrix_inverse(self) -> MassMatrixInverseFunction:
        r"""Inverse of the joint-space inertia matrix, M(q)⁻¹; for one product M⁻¹ b, `solve_mass_matrix` is cheaper.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).

        Returns
        -------
        Minv : (..., nv, nv) array
            M⁻¹, exactly symmetric.

        Raises
        ------
        ModelError
            If a joint meets no inertia, so that M is singular at every configuration; the joint is named. At single
            configurations where M is singular, the result is NaN or enormous.

        References
        ----------
        RBDA section 6.5 with the factors of Table 7.1: a row of ``L⁻¹`` in ``M = LᵀDL`` is the response of the
        recursion to a unit force at one joint. With mimic joints, which couple branches, M is factorised instead.
        The columns of many joints are computed by a loop.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.mass_matrix_inverse(q).shape
        (7, 7)
        """

    @property
    def solve_mass_matrix(self) -> SolveMassMatrixFunction:
        r"""Solution of ``M(q) x = b``.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        b : (..., nv) array
            Joint forces (N·m, N) or momenta.

        Returns
        -------
        x : (..., nv) array
            M⁻¹ b: the accelerations under the joint forces b at rest and without gravity.

        Raises
        ------
        ModelError
            If a joint meets no inertia, so that M is singular at every configuration; the joint is named. At single
            configurations where M is singular, the result is NaN or enormous.

        References
        ----------
        RBDA section 6.5 and Table 6.3; for many joints, Table 7.1 at rest.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> x = robot.solve_mass_matrix(q, robot.mass_matrix(q) @ a)
        >>> bool(abs(x - a).max() < 1e-9)
        True
        """

    @property
    def hybrid_dynamics(self) -> HybridDynamicsFunction:
        r"""Accelerations and joint forces, where one of the two is given at each joint.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).
        a : (..., nv) array
            True accelerations of the prescribed joints (rad/s², m/s²); the other entries are not read.
        tau : (..., nv) array
            Forces of the joints that are not prescribed (N·m, N); the other entries are not read.
        f_ext : (..., nb, 6) array, optional
            Wrench (n, f) exerted on each moving body (N·m, N), ordered as ``robot.body_names``; or a dict of wrenches (...,
            6) by the name of a body or frame, each in the axes of that frame about its origin.
        prescribed : sequence of str
            Names of joints with given accelerations: all is inverse, none is forward dynamics.
        method : {"articulated", "system"}
            The recursion, O(n), or M(q) factorised, as always with mimic joints.
        f_ext_frame : {"body", "world"}
            Axes and reference point of f_ext: each body's (of a dict, frame's) own, or the world's.

        Returns
        -------
        a : (..., nv) array
            True acceleration, which does not include gravity (rad/s², m/s²).
        tau : (..., nv) array
            Joint forces (N·m, N); for a floating base, the wrench on it.

        Raises
        ------
        ArgumentError
            If there is no joint of that name.

        References
        ----------
        RBDA section 9.2: the articulated-body recursion treats a prescribed joint as rigid, and its
        acceleration belongs to the bias that the first sweep finds.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> locked = robot.hybrid_dynamics(q, v, 0 * a, 0 * a, prescribed=["panda_joint4"])
        >>> bool(locked.a[3] == 0.0)  # the elbow does not accelerate; locked.tau[3] is the force that this takes
        True
        """

    @property
    def joint_physics_regressor(self) -> JointPhysicsRegressorFunction:
        r"""Regressor of the joints' own resistance: armature, damping and Coulomb friction.

        ``τ = Y_links φ + Y(v, a) [armature; damping; friction]``, each of length nv (`Robot.armature`, `Robot.damping`,
        `Robot.friction`). All three count, whether or not friction is turned on; `JointFriction` defines the smooth sign.
        Springs, which resist no motion, are not in it.

        Parameters
        ----------
        v : (..., nv) array
            Velocity (rad/s, m/s).
        a : (..., nv) array
            True acceleration, which does not include gravity (rad/s², m/s²).

        Returns
        -------
        Y : (..., nv, 3 nv) array
            Three diagonal blocks: the accelerations, the velocities, and the smooth signs of the velocities.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.joint_physics_regressor(v, a).shape
        (7, 21)
        """

    @property
    def joint_reactions(self) -> JointReactionsFunction:
        r"""Wrench that each joint transmits to its body.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).
        a : (..., nv) array
            True acceleration, which does not include gravity (rad/s², m/s²).
        f_ext : (..., nb, 6) array, optional
            Wrench (n, f) exerted on each moving body (N·m, N), ordered as ``robot.body_names``; or a dict of wrenches (...,
            6) by the name of a body or frame, each in the axes of that frame about its origin.
        f_ext_frame : {"body", "world"}
            Axes and reference point of f_ext: each body's (of a dict, frame's) own, or the world's.

        Returns
        -------
        f : (..., nb, 6) array
            Wrench (n, f) that the parent exerts on the body through the joint, about the body's origin in its axes (N·m,
            N): constraint forces and the joint's own force. The opposite wrench acts on the parent. ``Sᵀ f`` is the
            joint's force in `inverse_dynamics` without armature, springs and friction. For a robot at rest on its base f
            points upwards, since it bears the weight.

        References
        ----------
        RBDA Table 5.1: ``f_i = f_i^B − f_i^x + Σ_μ iXμ* f_μ`` over the children μ.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.joint_reactions(q, v, a).shape
        (7, 6)
        """

    @property
    def inverse_dynamics(self) -> InverseDynamicsFunction:
        r"""Joint forces for given accelerations, ``τ = M(q) a + h(q, v) − Jᵀ f_ext``.

        Armature adds ``I_rotor a`` at each joint, a spring ``k (q − q_rest)``, and friction what `Robot.with_friction`
        turned on.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).
        a : (..., nv) array
            True acceleration, which does not include gravity (rad/s², m/s²).
        f_ext : (..., nb, 6) array, optional
            Wrench (n, f) exerted on each moving body (N·m, N), ordered as ``robot.body_names``; or a dict of wrenches (...,
            6) by the name of a body or frame, each in the axes of that frame about its origin.
        f_ext_frame : {"body", "world"}
            Axes and reference point of f_ext: each body's (of a dict, frame's) own, or the world's.

        Returns
        -------
        tau : (..., nv) array
            Joint forces (N·m, N); for a floating base, the wrench on it.

        References
        ----------
        RBDA Table 5.1.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> tau = robot.inverse_dynamics(q, v, a)
        >>> bool(abs(robot.forward_dynamics(q, v, tau) - a).max() < 1e-9)
        True
        """

    @property
    def bias_forces(self) -> BiasForcesFunction:
        r"""Joint forces at zero acceleration, ``h = C(q, v) v + g(q)``, with springs, and with friction if it is on.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).

        Returns
        -------
        h : (..., nv) array
            Coriolis, centrifugal and gravity forces (N·m, N).

        References
        ----------
        RBDA eq. 6.2: ``C = ID(q, v, 0)``.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.bias_forces(q, v).shape
        (7,)
        """

    @property
    def gravity_forces(self) -> GravityForcesFunction:
        r"""Joint forces that hold the robot at rest against gravity; springs in the joints do not count.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).

        Returns
        -------
        g : (..., nv) array
            Gravity forces (N·m, N).

        References
        ----------
        RBDA Table 5.1 at zero velocity and acceleration.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.gravity_forces(q).shape
        (7,)
        """

    @property
    def task_space_dynamics(self) -> TaskSpaceDynamicsFunction:
        r"""Equation of motion of a frame from its velocity, ``F = Λ(q) V̇ + η(q, V)``; V̇ is the rate of the numbers V.

        With six joints, ``Λ = J⁻ᵀ M J⁻¹`` and ``η = J⁻ᵀ h(q, J⁻¹ V) − Λ J̇ J⁻¹ V``. With others, the dynamically consistent
        inverse replaces ``J⁻¹``: the joints move at V with the least kinetic energy. Where J loses rank, Λ and that inverse
        are pseudo-inverses (see `operational_inertia`): of V the part counts that the frame can have.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        V : (..., rows) array
            Spatial velocity of the frame, angular part first (rad/s, m/s); of its six numbers the `rows`.
        damping : (...) array, optional
            Number d, 1/√(kg·m²) and 1/√kg; ``(J M⁻¹ Jᵀ + d² 1)⁻¹`` then takes the place of the inverse. It is no square:
            the ``damping`` of `differential_inverse_kinematics` is one.
        frame : str
            Name of the frame (``robot.frame_names``).
        reference : {"body", "world", "aligned"}
            Axes, and the point of linear velocities and of moments: the frame's own (MR's body Jacobian); the world's, at
            the world's origin (the space Jacobian); or the world's axes at the frame's origin.
        rows : {"pose", "position", "orientation"}
            Rows of J, and entries of what belongs to them: all six; the last three, of the linear velocity; or the first
            three, of the angular velocity. Shapes have their number, 6 or 3.

        Returns
        -------
        Lambda : (..., rows, rows) array
            Inertia that a wrench at the frame acts against, symmetric (kg·m², kg·m, kg).
        eta : (..., rows) array
            Wrench at ``V̇ = 0``: velocity products and gravity (N·m, N). ``Jᵀ F`` are the joint forces.

        Raises
        ------
        ArgumentError
            If there is no frame of that name.
        ModelError
            If a joint meets no inertia, so that M is singular at every configuration; the joint is named. At single
            configurations where M is singular, the result is NaN or enormous.

        References
        ----------
        MR eqs. 8.89 to 8.91.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> [x.shape for x in robot.task_space_dynamics(q, [0, 0, 0, 0.1, 0, 0], frame="panda_hand")]
        [(6, 6), (6,)]
        """

    @property
    def operational_space_dynamics(self) -> OperationalSpaceDynamicsFunction:
        r"""Equation of motion of a frame, ``F = Λ V̇ + μ + p``, for any number of joints; V̇ is the rate of ``V = J v``.

        Where J loses rank, Λ is a pseudo-inverse (see `operational_inertia`), and the equation holds for the directions in
        which the frame can accelerate; in the others F, μ and p have no part.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).
        damping : (...) array, optional
            Number d, 1/√(kg·m²) and 1/√kg; ``(J M⁻¹ Jᵀ + d² 1)⁻¹`` then takes the place of the inverse. It is no square:
            the ``damping`` of `differential_inverse_kinematics` is one.
        frame : str
            Name of the frame (``robot.frame_names``).
        reference : {"body", "world", "aligned"}
            Axes, and the point of linear velocities and of moments: the frame's own (MR's body Jacobian); the world's, at
            the world's origin (the space Jacobian); or the world's axes at the frame's origin.
        rows : {"pose", "position", "orientation"}
            Rows of J, and entries of what belongs to them: all six; the last three, of the linear velocity; or the first
            three, of the angular velocity. Shapes have their number, 6 or 3.

        Returns
        -------
        Lambda : (..., rows, rows) array
            Inertia that a wrench at the frame acts against, symmetric (kg·m², kg·m, kg).
        mu : (..., rows) array
            Velocity products ``J̄ᵀ C v − Λ J̇ v`` (N·m, N), with springs, and joint friction if it is on.
        p : (..., rows) array
            Gravity ``J̄ᵀ g`` (N·m, N).

        Raises
        ------
        ArgumentError
            If there is no frame of that name.
        ModelError
            If a joint meets no inertia, so that M is singular at every configuration; the joint is named. At single
            configurations where M is singular, the result is NaN or enormous.

        References
        ----------
        Khatib, "A unified approach for motion and force control of robot manipulators: the operational space
        formulation", IEEE Journal of Robotics and Automation 3(1), 1987.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> [x.shape for x in robot.operational_space_dynamics(q, v, frame="panda_hand")]
        [(6, 6), (6,), (6,)]
        """

    @property
    def operational_inertia(self) -> OperationalInertiaFunction:
        r"""Inertia of the robot as felt at a frame, ``Λ = (J M⁻¹ Jᵀ)⁻¹``.

        Where J loses rank, as that of an arm of fewer joints than rows always does, it is the Moore–Penrose pseudo-inverse
        ``(J M⁻¹ Jᵀ)⁺``: no inertia in directions in which the frame cannot move. What is orthogonal to these directions
        depends on the units, where rows of rad and of m are mixed.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        damping : (...) array, optional
            Number d, 1/√(kg·m²) and 1/√kg; ``(J M⁻¹ Jᵀ + d² 1)⁻¹`` then takes the place of the inverse. It is no square:
            the ``damping`` of `differential_inverse_kinematics` is one.
        frame : str
            Name of the frame (``robot.frame_names``).
        reference : {"body", "world", "aligned"}
            Axes, and the point of linear velocities and of moments: the frame's own (MR's body Jacobian); the world's, at
            the world's origin (the space Jacobian); or the world's axes at the frame's origin.
        rows : {"pose", "position", "orientation"}
            Rows of J, and entries of what belongs to them: all six; the last three, of the linear velocity; or the first
            three, of the angular velocity. Shapes have their number, 6 or 3.

        Returns
        -------
        Lambda : (..., rows, rows) array
            Inertia that a wrench at the frame acts against, symmetric (kg·m², kg·m, kg).

        Raises
        ------
        ArgumentError
            If there is no frame of that name.
        ModelError
            If a joint meets no inertia, so that M is singular at every configuration; the joint is named. At single
            configurations where M is singular, the result is NaN or enormous.

        Notes
        -----
        Singular values of ``J M^-½``, with the rows of J as they are, in rad and in m, count relative to the largest: as
        zero below 0.7e-8 of it (in float32 1.7e-4), as they are above 1.1e-8 (2.4e-4), the roots of the rounding. Where
        none lies between 0.7e-8 and 1e-7, Λ has a relative error of less than 1e-9, exactly at singularities too. Near
        them Λ is large: it grows with the square of the inverse of the smallest singular value that counts. `damping`
        bounds it by 1/d².

        References
        ----------
        Khatib 1987; with six joints, MR eq. 8.90. Damping: Nakamura and Hanafusa, "Inverse kinematic solutions
        with singularity robustness for robot manipulator control", Journal of Dynamic Systems, Measurement, and Control
        108(3), 1986.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.operational_inertia(q, frame="panda_hand").shape
        (6, 6)
        """

    @property
    def dynamically_consistent_inverse(self) -> DynamicallyConsistentInverseFunction:
        r"""Inverse of the Jacobian weighted by the inertia, ``J̄ = M⁻¹ Jᵀ Λ``.

        Of all v with ``J v = V``, ``J̄ V`` has the least kinetic energy; ``J̄ᵀ τ`` is the frame's wrench equivalent to τ.
        Where J loses rank (see `operational_inertia`), ``J̄ = M^-½ (J M^-½)⁺``: of all v that leave the least
        ``‖J v − V‖``, in the units of the rows, ``J̄ V`` has the least kinetic energy, and ``J J̄`` is the orthogonal
        projector onto the velocities that the frame can have.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        damping : (...) array, optional
            Number d, 1/√(kg·m²) and 1/√kg; ``(J M⁻¹ Jᵀ + d² 1)⁻¹`` then takes the place of the inverse. It is no square:
            the ``damping`` of `differential_inverse_kinematics` is one.
        frame : str
            Name of the frame (``robot.frame_names``).
        reference : {"body", "world", "aligned"}
            Axes, and the point of linear velocities and of moments: the frame's own (MR's body Jacobian); the world's, at
            the world's origin (the space Jacobian); or the world's axes at the frame's origin.
        rows : {"pose", "position", "orientation"}
            Rows of J, and entries of what belongs to them: all six; the last three, of the linear velocity; or the first
            three, of the angular velocity. Shapes have their number, 6 or 3.

        Returns
        -------
        J_bar : (..., nv, rows) array
            ``J̄``, for which ``J J̄ = 1`` where J has full rank.

        Raises
        ------
        ArgumentError
            If there is no frame of that name.
        ModelError
            If a joint meets no inertia, so that M is singular at every configuration; the joint is named. At single
            configurations where M is singular, the result is NaN or enormous.

        References
        ----------
        Khatib 1987.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.dynamically_consistent_inverse(q, frame="panda_hand").shape
        (7, 6)
        """

    @property
    def null_space_projector(self) -> NullSpaceProjectorFunction:
        r"""Projector of joint forces, ``N = 1 − Jᵀ J̄ᵀ``: ``N τ`` does not accelerate the frame.

        Its transpose projects velocities and accelerations: ``J Nᵀ = 0``. Both hold where J loses rank too, and near
        there; a singular value that counts as zero (see `operational_inertia`) is what then remains of ``J Nᵀ``. With
        damping, N is no projector: it leaves a part of the forces along directions that are nearly singular.

        There is no `reference`, as N is the same in all of them; with ``rows="position"`` or damping it is that of "body"
        and "aligned", whose rows are of the frame's origin.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        damping : (...) array, optional
            Number d, 1/√(kg·m²) and 1/√kg; ``(J M⁻¹ Jᵀ + d² 1)⁻¹`` then takes the place of the inverse. It is no square:
            the ``damping`` of `differential_inverse_kinematics` is one.
        frame : str
            Name of the frame (``robot.frame_names``).
        rows : {"pose", "position", "orientation"}
            Rows of J, and entries of what belongs to them: all six; the last three, of the linear velocity; or the first
            three, of the angular velocity. Shapes have their number, 6 or 3.

        Returns
        -------
        N : (..., nv, nv) array
            Projector, ``N N = N``; zero where the frame can move in as many directions as there are joints.

        Raises
        ------
        ArgumentError
            If there is no frame of that name.
        ModelError
            If a joint meets no inertia, so that M is singular at every configuration; the joint is named. At single
            configurations where M is singular, the result is NaN or enormous.

        References
        ----------
        Khatib 1987.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> N = robot.null_space_projector(q, frame="panda_hand")
        >>> bool(abs(robot.jacobian(q, frame="panda_hand") @ N.T).max() < 1e-12)
        True
        """

    @property
    def external_wrench(self) -> ExternalWrenchFunction:
        r"""External forces ``f_ext`` equivalent to a wrench on a frame, for every function that takes ``f_ext``.

        Add the results for several wrenches. With the reference "body" the result does not depend on q.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        wrench : (..., 6) array
            Moment and force (n, f) exerted *on* the robot (N·m, N): the negative of MR's ``F_tip``.
        point : (..., 3) array, optional
            Point fixed to the frame, in its axes (m), in place of the frame's origin. What refers to the world's origin
            (``reference="world"``) does all the same.
        frame : str
            Name of the frame (``robot.frame_names``).
        reference : {"body", "world", "aligned"}
            Axes, and the point of linear velocities and of moments: the frame's own (MR's body Jacobian); the world's, at
            the world's origin (the space Jacobian); or the world's axes at the frame's origin.

        Returns
        -------
        f_ext : (..., nb, 6) array
            Wrenches in body axes about each body's origin (``f_ext_frame="body"``), zero except for the body that
            carries the frame; all zero for a frame that is fixed to the world.

        Raises
        ------
        ArgumentError
            If there is no frame of that name.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> push = robot.external_wrench(q, [0, 0, 0, 10, 0, 0], frame="panda_hand", reference="aligned")
        >>> robot.inverse_dynamics(q, v, a, push).shape
        (7,)
        """

    @property
    def wrench_forces(self) -> WrenchForcesFunction:
        r"""Joint forces equivalent to a wrench on a frame: ``Jᵀ F`` for the J of the same reference, without forming J.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        wrench : (..., 6) array
            Moment and force (n, f) (N·m, N). If it is exerted on the robot, the result adds to the joint forces; if it is
            wanted at the frame, the result is the joint forces that produce it.
        point : (..., 3) array, optional
            Point fixed to the frame, in its axes (m), in place of the frame's origin. What refers to the world's origin
            (``reference="world"``) does all the same.
        frame : str
            Name of the frame (``robot.frame_names``).
        reference : {"body", "world", "aligned"}
            Axes, and the point of linear velocities and of moments: the frame's own (MR's body Jacobian); the world's, at
            the world's origin (the space Jacobian); or the world's axes at the frame's origin.

        Returns
        -------
        tau : (..., nv) array
            Joint forces (N·m, N); for a floating base, the wrench on it.

        Raises
        ------
        ArgumentError
            If there is no frame of that name.

        References
        ----------
        MR eq. 5.26. From the frame to the base: ``τ_i = S_iᵀ f_i``, ``f_λ = λXi* f_i`` (RBDA Table 5.1).

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.wrench_forces(q, [0, 0, 0, 0, 0, -20], frame="panda_hand").shape
        (7,)
        """

    @property
    def forward_kinematics(self) -> ForwardKinematicsFunction:
        r"""Pose of every moving body in the world.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).

        Returns
        -------
        placements : (..., nb, 4, 4) array
            Homogeneous transforms (columns: axes, origin in m); order: ``robot.body_names``.

        References
        ----------
        RBDA section 4.5: ``iX0 = iXλ λX0``.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.forward_kinematics(q).shape
        (7, 4, 4)
        """

    @property
    def frame_placement(self) -> FramePlacementFunction:
        r"""Pose of a frame in the world.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        point : (..., 3) array, optional
            Point fixed to the frame, in its axes (m), in place of the frame's origin. What refers to the world's origin
            (``reference="world"``) does all the same.
        frame : str
            Name of the frame (``robot.frame_names``).

        Returns
        -------
        placement : (..., 4, 4) array
            Homogeneous transform: columns are axes and origin (m), in the world or `relative_to`.

        Raises
        ------
        ArgumentError
            If there is no frame of that name.

        References
        ----------
        RBDA section 4.5: ``iX0 = iXλ λX0``, along the path from the base to the frame.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.frame_placement(robot.neutral(), frame="panda_link8")[:3, 3].round(3)
        array([0.088, 0.   , 0.926])
        """

    @property
    def frame_placements(self) -> FramePlacementsFunction:
        r"""Pose of every frame in the world, in one call.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).

        Returns
        -------
        placements : (..., nframes, 4, 4) array
            Homogeneous transforms (columns: axes, origin in m); order: ``robot.frame_names``.

        References
        ----------
        RBDA section 4.5: ``iX0 = iXλ λX0``.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> placements = dict(zip(robot.frame_names, robot.frame_placements(q), strict=True))
        >>> bool((placements["panda_hand"] == robot.frame_placement(q, frame="panda_hand")).all())
        True
        """

    @property
    def frame_velocity(self) -> FrameVelocityFunction:
        r"""Spatial velocity of a frame, ``J(q) v``, without the Jacobian.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).
        point : (..., 3) array, optional
            Point fixed to the frame, in its axes (m), in place of the frame's origin. What refers to the world's origin
            (``reference="world"``) does all the same.
        frame : str
            Name of the frame (``robot.frame_names``).
        reference : {"body", "world", "aligned"}
            Axes, and the point of linear velocities and of moments: the frame's own (MR's body Jacobian); the world's, at
            the world's origin (the space Jacobian); or the world's axes at the frame's origin.

        Returns
        -------
        velocity : (..., 6) array
            Angular, then linear velocity (rad/s, m/s).

        Raises
        ------
        ArgumentError
            If there is no frame of that name.

        References
        ----------
        RBDA Table 5.1: ``v_i = iXλ v_λ + S_i ν_i``.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.frame_velocity(q, v, frame="panda_hand").shape
        (6,)
        """

    @property
    def frame_acceleration(self) -> FrameAccelerationFunction:
        r"""Acceleration of a frame; gravity is not included.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).
        a : (..., nv) array
            True acceleration, which does not include gravity (rad/s², m/s²).
        point : (..., 3) array, optional
            Point fixed to the frame, in its axes (m), in place of the frame's origin. What refers to the world's origin
            (``reference="world"``) does all the same.
        frame : str
            Name of the frame (``robot.frame_names``).
        reference : {"body", "world", "aligned"}
            Axes, and the point of linear velocities and of moments: the frame's own (MR's body Jacobian); the world's, at
            the world's origin (the space Jacobian); or the world's axes at the frame's origin.
        kind : {"spatial", "classical"}
            The spatial acceleration, which transforms like a velocity, or the classical one, whose linear part is that of
            the point, ``v̇ + ω × v``. With "aligned", ``J a + J̇ v`` is the classical one, else the spatial one.

        Returns
        -------
        acceleration : (..., 6) array
            Angular, then linear acceleration (rad/s², m/s²).

        Raises
        ------
        ArgumentError
            If there is no frame of that name.

        References
        ----------
        RBDA Table 5.1: ``a_i = iXλ a_λ + S_i ν̇_i + c_J + v_i × v_J``; section 2.11 on the two kinds.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.frame_acceleration(q, v, a, frame="panda_hand").shape
        (6,)
        """

    @property
    def jacobian(self) -> JacobianFunction:
        r"""Jacobian of a frame: its spatial velocity is ``J(q) v``.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        point : (..., 3) array, optional
            Point fixed to the frame, in its axes (m), in place of the frame's origin. What refers to the world's origin
            (``reference="world"``) does all the same.
        frame : str
            Name of the frame (``robot.frame_names``).
        reference : {"body", "world", "aligned"}
            Axes, and the point of linear velocities and of moments: the frame's own (MR's body Jacobian); the world's, at
            the world's origin (the space Jacobian); or the world's axes at the frame's origin.

        Returns
        -------
        J : (..., 6, nv) array
            Three rows of angular, three of linear velocity; zero for joints that do not move the frame.

        Raises
        ------
        ArgumentError
            If there is no frame of that name.

        References
        ----------
        RBDA eq. 4.15; MR eqs. 5.11 and 5.18.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> J = robot.jacobian(robot.neutral(), frame="panda_link8", reference="world")
        >>> J[[1, 3], 1].round(3)  # the second joint's axis is parallel to y, 0.333 m above the base
        array([ 1.   , -0.333])
        """

    @property
    def jacobian_rate(self) -> JacobianRateFunction:
        r"""Rate of the Jacobian of a frame, ``J̇(q, v)``, while the robot moves at v.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).
        point : (..., 3) array, optional
            Point fixed to the frame, in its axes (m), in place of the frame's origin. What refers to the world's origin
            (``reference="world"``) does all the same.
        frame : str
            Name of the frame (``robot.frame_names``).
        reference : {"body", "world", "aligned"}
            Axes, and the point of linear velocities and of moments: the frame's own (MR's body Jacobian); the world's, at
            the world's origin (the space Jacobian); or the world's axes at the frame's origin.

        Returns
        -------
        dJ : (..., 6, nv) array
            Rate of every entry; the product with v alone is `jacobian_bias`, at much lower cost.

        Raises
        ------
        ArgumentError
            If there is no frame of that name.

        References
        ----------
        RBDA section 2.10: the column ``J_k = X S_k`` moves with body i, and the reference moves too, so
        ``J̇_k = X S̊_k + (v_i − v_ref) × J_k``.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.jacobian_rate(q, v, frame="panda_hand").shape
        (6, 7)
        """

    @property
    def jacobian_bias(self) -> JacobianBiasFunction:
        r"""Acceleration of a frame due to the velocity alone, ``J̇(q, v) v``.

        ``J a + J̇ v`` is the spatial acceleration for "body" and "world"; for "aligned", whose reference moves with the
        frame's origin, it is the classical one.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).
        point : (..., 3) array, optional
            Point fixed to the frame, in its axes (m), in place of the frame's origin. What refers to the world's origin
            (``reference="world"``) does all the same.
        frame : str
            Name of the frame (``robot.frame_names``).
        reference : {"body", "world", "aligned"}
            Axes, and the point of linear velocities and of moments: the frame's own (MR's body Jacobian); the world's, at
            the world's origin (the space Jacobian); or the world's axes at the frame's origin.

        Returns
        -------
        dJ_v : (..., 6) array
            Angular, then linear acceleration (rad/s², m/s²).

        Raises
        ------
        ArgumentError
            If there is no frame of that name.

        References
        ----------
        RBDA Table 5.1: the recursion of the accelerations at ``ν̇ = 0``.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.jacobian_bias(q, v, frame="panda_hand").shape
        (6,)
        """

    @property
    def integrate(self) -> IntegrateFunction:
        r"""Return the configuration reached from q by the velocity dv held for a unit of time, or for dt.

        The exponential of each joint's group: SO(3) for a spherical joint, SE(3) for a free-flyer, SE(2) for a planar one.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        dv : (..., nv) array
            Velocity times duration (rad, m), in body axes for joints of several degrees of freedom; with dt the velocity.
        dt : (...) array, optional
            Duration (s).

        Returns
        -------
        q_next : (..., nq) array
            Configuration with unit quaternions; NaN where a quaternion of q has norm zero.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.integrate(robot.neutral(), [0.1, 0, 0, 0, 0, 0, 0])
        array([0.1, 0. , 0. , 0. , 0. , 0. , 0. ])
        >>> robot.integrate(robot.neutral(), [0.1, 0, 0, 0, 0, 0, 0], 0.5)
        array([0.05, 0.  , 0.  , 0.  , 0.  , 0.  , 0.  ])
        """

    @property
    def difference(self) -> DifferenceFunction:
        r"""Return the velocity that leads from q0 to q1 in a unit of time: the inverse of `integrate`, a logarithm.

        Parameters
        ----------
        q0 : (..., nq) array
            Configuration to start from.
        q1 : (..., nq) array
            Configuration to reach.

        Returns
        -------
        dv : (..., nv) array
            The shortest, if there are several: rotations are of at most half a turn. NaN where a quaternion has norm zero.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("go2")
        >>> q, v, _ = robot.random_state(seed=0)
        >>> bool(abs(robot.difference(q, robot.integrate(q, 0.1 * v)) - 0.1 * v).max() < 1e-14)
        True
        """

    @property
    def interpolate(self) -> InterpolateFunction:
        r"""Return the configuration at the part s of the way from q0 to q1: ``q0 ⊕ s (q1 ⊖ q0)``.

        The way is the geodesic of each joint's group: constant velocities lead from q0 at ``s = 0`` to q1 at ``s = 1``,
        orientations turn about a fixed axis the short way round, a free-flyer follows a screw. Beyond 0 and 1 it goes on.

        Parameters
        ----------
        q0 : (..., nq) array
            Configuration to start from.
        q1 : (..., nq) array
            Configuration to reach.
        s : (...) array
            Part of the way, from 0 at q0 to 1 at q1.

        Returns
        -------
        q_next : (..., nq) array
            Configuration with unit quaternions; NaN where a quaternion of q has norm zero.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.interpolate(robot.neutral(), [1, 0, 0, 0, 0, 0, 0], [0.0, 0.25, 1.0])[:, 0]
        array([0.  , 0.25, 1.  ])
        """

    @property
    def manipulability(self) -> ManipulabilityFunction:
        r"""Yoshikawa's measure of manipulability of a frame, ``√det(J Jᵀ)``: the product of the singular values of J.

        It is 0 where J loses rank, but for rounding: at a singularity with six joints, and at every configuration of an arm
        of fewer joints than rows. Such an arm needs the `rows` that it is made for.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        frame : str
            Name of the frame (``robot.frame_names``).
        rows : {"pose", "position", "orientation"}
            Rows of J, and entries of what belongs to them: all six; the last three, of the linear velocity; or the first
            three, of the angular velocity. Shapes have their number, 6 or 3.

        Returns
        -------
        w : (...) array
            Not negative, the same for all axes in which J may be given. Its unit is that of the rows multiplied: m³ for the
            pose and the position of an arm of revolute joints, rad being 1.

        Raises
        ------
        ArgumentError
            If there is no frame of that name.

        References
        ----------
        Yoshikawa, "Manipulability of robotic mechanisms", International Journal of Robotics Research 4(2),
        1985.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> straight, bent = [0.0] * 7, [0, 0.3, 0, -1.5, 0, 1.8, 0.8]
        >>> robot.manipulability([straight, bent], frame="panda_hand").round(6)
        array([0.      , 0.094873])
        """

    @property
    def relative_jacobian(self) -> RelativeJacobianFunction:
        r"""Jacobian of a frame relative to another one: ``J(q) v`` is the twist of `frame` observed from `relative_to`.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        point : (..., 3) array, optional
            Point fixed to the frame, in its axes (m), in place of the frame's origin. What refers to the world's origin
            (``reference="world"``) does all the same.
        frame : str
            Name of the frame (``robot.frame_names``).
        relative_to : str
            Name of the frame from which `frame` is observed.
        reference : {"body", "relative_to", "aligned"}
            Axes, and the point whose relative velocity the last three rows give: those of `frame`; those of
            `relative_to`, which takes the role of the world; or the axes of `relative_to` with the origin of `frame`.

        Returns
        -------
        J : (..., 6, nv) array
            Three rows of angular, three of linear velocity; zero for joints that move both frames or neither. In body axes
            ``J_frame − X J_relative_to``, with X the transform from `relative_to` to `frame`.

        Raises
        ------
        ArgumentError
            If there is no frame of that name.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.relative_jacobian(q, frame="panda_hand", relative_to="panda_link2").shape
        (6, 7)
        """

    @property
    def relative_placement(self) -> RelativePlacementFunction:
        r"""Pose of a frame in another frame.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        point : (..., 3) array, optional
            Point fixed to the frame, in its axes (m), in place of the frame's origin. What refers to the world's origin
            (``reference="world"``) does all the same.
        frame : str
            Name of the frame (``robot.frame_names``).
        relative_to : str
            Name of the frame from which `frame` is observed.

        Returns
        -------
        placement : (..., 4, 4) array
            Homogeneous transform: columns are axes and origin (m), in the world or `relative_to`.

        Raises
        ------
        ArgumentError
            If there is no frame of that name.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.relative_placement(q, frame="panda_hand", relative_to="panda_link2").shape
        (4, 4)
        """

    @property
    def center_of_mass(self) -> CenterOfMassFunction:
        r"""Centre of mass of the moving bodies, in the world.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).

        Returns
        -------
        c : (..., 3) array
            Position in the world (m); links fixed to the world do not count.

        Raises
        ------
        ModelError
            If the moving bodies have no mass.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.center_of_mass(q).shape
        (3,)
        """

    @property
    def center_of_mass_velocity(self) -> CenterOfMassVelocityFunction:
        r"""Velocity of the centre of mass of the moving bodies, in the world's axes.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).

        Returns
        -------
        dc : (..., 3) array
            Velocity (m/s): the linear momentum divided by the mass.

        Raises
        ------
        ModelError
            If the moving bodies have no mass.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.center_of_mass_velocity(q, v).shape
        (3,)
        """

    @property
    def center_of_mass_acceleration(self) -> CenterOfMassAccelerationFunction:
        r"""Acceleration of the centre of mass of the moving bodies, in the world's axes; gravity is not included.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).
        a : (..., nv) array
            True acceleration, which does not include gravity (rad/s², m/s²).

        Returns
        -------
        ddc : (..., 3) array
            Acceleration (m/s²).

        Raises
        ------
        ModelError
            If the moving bodies have no mass.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.center_of_mass_acceleration(q, v, a).shape
        (3,)
        """

    @property
    def center_of_mass_jacobian(self) -> CenterOfMassJacobianFunction:
        r"""Jacobian of the centre of mass: ``J(q) v`` is its velocity in the world's axes.

        A joint moves the subtree that it carries as one body: column k is that subtree's linear momentum at unit velocity,
        divided by the mass of the robot.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).

        Returns
        -------
        J : (..., 3, nv) array
            Velocity of the centre of mass at unit velocity of each joint.

        Raises
        ------
        ModelError
            If the moving bodies have no mass.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.center_of_mass_jacobian(q).shape
        (3, 7)
        """

    @property
    def kinetic_energy(self) -> KineticEnergyFunction:
        r"""Kinetic energy, ``T = ½ vᵀ M(q) v``.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).

        Returns
        -------
        T : (...) array
            Energy of the bodies and, by their armature, of the rotors (J).

        References
        ----------
        RBDA section 2.13, ``T = Σ ½ v_iᵀ I_i v_i``; armature adds ``½ I_rotor v²``.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> bool(abs(robot.kinetic_energy(q, v) - v @ robot.mass_matrix(q) @ v / 2) < 1e-12)
        True
        """

    @property
    def potential_energy(self) -> PotentialEnergyFunction:
        r"""Potential energy of gravity and of springs in the joints, ``V = −Σ m_i g·c_i + Σ ½ k (q − q_rest)²``.

        Its gradient is `gravity_forces` without springs, and with them `bias_forces` at rest.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).

        Returns
        -------
        V : (...) array
            Energy of the moving bodies (J), without springs zero when their centre of mass is at the world's origin.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.potential_energy(q).shape
        ()
        """

    @property
    def mechanical_energy(self) -> MechanicalEnergyFunction:
        r"""Kinetic and potential energy together, ``Ė = τᵀ v``; constant where only gravity and springs act.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).

        Returns
        -------
        E : (...) array
            Sum of `kinetic_energy` and `potential_energy` (J).

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> float(robot.mechanical_energy(q, 0 * v) - robot.potential_energy(q))
        0.0
        """

    @property
    def centroidal_momentum(self) -> CentroidalMomentumFunction:
        r"""Momentum of the robot about its centre of mass.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).

        Returns
        -------
        h : (..., 6) array
            h_G: angular momentum about the centre of mass (N·m·s), then linear momentum (N·s), in the world's axes. The
            momentum of the rotors that armature stands for is not included.

        Raises
        ------
        ModelError
            If the moving bodies have no mass.

        References
        ----------
        Orin, Goswami and Lee, "Centroidal dynamics of a humanoid robot", 2013: ``h_G = A_G v``.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.centroidal_momentum(q, v).shape
        (6,)
        """

    @property
    def centroidal_momentum_rate(self) -> CentroidalMomentumRateFunction:
        r"""Rate of the momentum about the centre of mass: the wrench that gravity and contacts must exert there.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).
        a : (..., nv) array
            True acceleration, which does not include gravity (rad/s², m/s²).

        Returns
        -------
        h_dot : (..., 6) array
            ``A_G a + Ȧ_G v``: moment about the centre of mass (N·m), force (N), in the world's axes.

        Raises
        ------
        ModelError
            If the moving bodies have no mass.

        References
        ----------
        Orin, Goswami and Lee 2013; computed as the sum of the bodies' net wrenches (RBDA Table 5.1).

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.centroidal_momentum_rate(q, v, a).shape
        (6,)
        """

    @property
    def centroidal_momentum_matrix(self) -> CentroidalMomentumMatrixFunction:
        r"""Centroidal momentum matrix A_G(q), ``h_G = A_G v``.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).

        Returns
        -------
        A_G : (..., 6, nv) array
            Angular rows first, about the centre of mass, in the world's axes.

        Raises
        ------
        ModelError
            If the moving bodies have no mass.

        References
        ----------
        Orin, Goswami and Lee, "Centroidal dynamics of a humanoid robot", 2013: column i is ``Xᵀ Ic_i S_i``.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.centroidal_momentum_matrix(q).shape
        (6, 7)
        """

    @property
    def centroidal_momentum_matrix_rate(self) -> CentroidalMomentumMatrixRateFunction:
        r"""Rate of the centroidal momentum matrix, Ȧ_G(q, v).

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).

        Returns
        -------
        A_G_dot : (..., 6, nv) array
            Rate of A_G, with the same rows and axes.

        Raises
        ------
        ModelError
            If the moving bodies have no mass.

        References
        ----------
        Wensing and Orin, "Improved computation of the humanoid centroidal dynamics", 2016; here column i is the
        rate of ``Xᵀ Ic_i S_i``, with ``v×* I − I v×`` (RBDA section 2.14) summed over the bodies that joint i carries.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.centroidal_momentum_matrix_rate(q, v).shape
        (6, 7)
        """

    @property
    def joint_torque_regressor(self) -> JointTorqueRegressorFunction:
        r"""Joint forces as a linear function of the inertial parameters, ``inverse_dynamics(q, v, a) = Y φ``.

        Row k is zero for the bodies that joint k does not carry. Armature and friction, which are no parameters of the
        bodies, add the product with `joint_physics_regressor`; springs add ``k (q − q_rest)``.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).
        a : (..., nv) array
            True acceleration, which does not include gravity (rad/s², m/s²).

        Returns
        -------
        Y : (..., nv, 10 nb) array
            Regressor for φ = ``robot.inertial_parameters``: ten per body, ordered as ``robot.body_names``, (m, m c_x, m
            c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz), about the body frame's origin in its axes.

        References
        ----------
        Atkeson, An and Hollerbach, "Estimation of inertial parameters of manipulator loads and links", 1986:
        with body i's wrench ``f_i = A_i φ_i``, ``Y_ki = (iXj S_k)ᵀ A_i`` for the joints k that carry i.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> tau = robot.joint_torque_regressor(q, v, a) @ robot.inertial_parameters
        >>> bool(abs(tau - robot.inverse_dynamics(q, v, a)).max() < 1e-9)
        True
        """

    @property
    def momentum_regressor(self) -> MomentumRegressorFunction:
        r"""Momentum of the robot about the world's origin as a linear function of the inertial parameters, ``h_0 = Y φ``.

        Rows: angular momentum (N·m·s), then linear momentum (N·s), in the world's axes. About the centre of mass
        (`centroidal_momentum`) it would not be linear.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).

        Returns
        -------
        Y : (..., 6, 10 nb) array
            Regressor for φ = ``robot.inertial_parameters``: ten per body, ordered as ``robot.body_names``, (m, m c_x, m
            c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz), about the body frame's origin in its axes.

        References
        ----------
        RBDA sections 2.12 and 2.13: ``h_0 = Σ iX0ᵀ I_i v_i``.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.momentum_regressor(q, v).shape
        (6, 70)
        """

    @property
    def kinetic_energy_regressor(self) -> KineticEnergyRegressorFunction:
        r"""Kinetic energy of the bodies as a linear function of the inertial parameters, ``T = Y·φ``.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).

        Returns
        -------
        Y : (..., 10 nb) array
            Regressor for φ = ``robot.inertial_parameters``: ten per body, ordered as ``robot.body_names``, (m, m c_x, m
            c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz), about the body frame's origin in its axes.

        References
        ----------
        RBDA section 2.13, ``T = Σ ½ v_iᵀ I_i v_i``; armature adds ``½ I_rotor v²`` at each joint.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.kinetic_energy_regressor(q, v).shape
        (70,)
        """

    @property
    def potential_energy_regressor(self) -> PotentialEnergyRegressorFunction:
        r"""Potential energy of the bodies as a linear function of the inertial parameters, ``V = Y·φ``, without springs.

        ``V = −Σ (m_i g·r_i + g·(m c)_i)``, with g and the heights of the origins propagated outwards in body coordinates.
        It is zero for the moments of inertia.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).

        Returns
        -------
        Y : (..., 10 nb) array
            Regressor for φ = ``robot.inertial_parameters``: ten per body, ordered as ``robot.body_names``, (m, m c_x, m
            c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz), about the body frame's origin in its axes.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> robot.potential_energy_regressor(q).shape
        (70,)
        """

    @property
    def step(self) -> StepFunction:
        r"""Return the configuration and velocity a time dt later, under constant joint forces and wrenches.

        `simulate` takes many steps, with controllers and events.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).
        tau : (..., nv) array
            Joint forces (N·m, N); for a floating base, the wrench on it.
        dt : (...) array
            Duration (s).
        f_ext : (..., nb, 6) array, optional
            Wrench (n, f) exerted on each moving body (N·m, N), ordered as ``robot.body_names``; or a dict of wrenches (...,
            6) by the name of a body or frame, each in the axes of that frame about its origin.
        integrator : {"semi_implicit_euler", "euler", "implicit_euler", "rk4", "tsitouras", "variational"}
            The method: semi-implicit (symplectic) Euler, first order and one acceleration a step; explicit Euler; the
            classical Runge–Kutta method, fourth order and four accelerations a step; implicit Euler, which takes the
            joints' friction at the new velocity and is stable however stiff that is; or the variational midpoint rule,
            second order and symmetric in time, whose energy does not drift: it iterates, at about ten times the cost.
        limits : {"none", "position", "effort", "all"}
            Which limits of the joints count: stops at the ends of their range, stiff springs with dampers; the largest
            joint forces of tau.
        f_ext_frame : {"body", "world"}
            Axes and reference point of f_ext: each body's (of a dict, frame's) own, or the world's.

        Returns
        -------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).

        Raises
        ------
        ModelError
            If a joint meets no inertia, so that M is singular at every configuration; the joint is named. At single
            configurations where M is singular, the result is NaN or enormous.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> q, v, a = robot.random_state(seed=0)
        >>> after = robot.step(robot.neutral(), [0.0] * 7, [0.0] * 7, 1e-3)
        >>> bool(abs(after.v - 1e-3 * robot.forward_dynamics(robot.neutral(), [0.0] * 7, [0.0] * 7)).max() < 1e-15)
        True
        """
