"""The functions of a mechanism as type checkers see them. Made by `python tools/make_signatures.py`."""

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

class Assemble(NamedTuple, Generic[_T]):
    """Close a mechanism: the configuration in which all constraints hold, found from q0 on."""

    q: NDArray[_T]
    converged: _Number
    residual: NDArray[_T]
    iterations: _Number

class AssembleFunction(Function):
    """Close a mechanism: the configuration in which all constraints hold, found from q0 on."""

    @overload
    def __call__(self, q0: _F64, active: ArrayLike | None = None, tolerance: ArrayLike | None = None, max_iterations: ArrayLike | None = None, restarts: ArrayLike | None = None, *, fixed: Sequence[str] = (), out: Sequence[_F64] | None = None) -> Assemble[np.float64]: ...
    @overload
    def __call__(self, q0: _F32, active: _F32 | None = None, tolerance: np.float32 | _F32 | None = None, max_iterations: np.float32 | _F32 | None = None, restarts: np.float32 | _F32 | None = None, *, fixed: Sequence[str] = (), out: Sequence[_F32] | None = None) -> Assemble[np.float32]: ...
    @overload
    def __call__(self, q0: ArrayLike, active: ArrayLike | None = None, tolerance: ArrayLike | None = None, max_iterations: ArrayLike | None = None, restarts: ArrayLike | None = None, *, fixed: Sequence[str] = (), out: Sequence[_F64] | None = None) -> Assemble[np.float64]: ...
    def bind(self, *, fixed: Sequence[str] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, fixed: Sequence[str] = ()) -> None: ...

class ContactDynamics(NamedTuple, Generic[_T]):
    """Accelerations under the joint forces τ where contacts push only and slide, and the constraints' forces f."""

    a: NDArray[_T]
    f: NDArray[_T]
    iterations: _Number
    primal: _Number
    dual: _Number
    complementarity: _Number

class ContactDynamicsFunction(Function):
    """Accelerations under the joint forces τ where contacts push only and slide, and the constraints' forces f."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, tau: ArrayLike, f_ext: _Wrenches | None = None, active: ArrayLike | None = None, friction: ArrayLike | None = None, compliance: ArrayLike | None = None, f_start: ArrayLike | None = None, tolerance: ArrayLike | None = None, max_iterations: ArrayLike | None = None, drift: ArrayLike | None = None, *, f_ext_frame: Literal["body", "world"] = "body", solver: Literal["auto", "pgs", "admm"] = "auto", out: Sequence[_F64] | None = None) -> ContactDynamics[np.float64]: ...
    @overload
    def __call__(self, q: _F32, v: _F32, tau: _F32, f_ext: _F32 | None = None, active: _F32 | None = None, friction: _F32 | None = None, compliance: _F32 | None = None, f_start: _F32 | None = None, tolerance: np.float32 | _F32 | None = None, max_iterations: np.float32 | _F32 | None = None, drift: _F32 | None = None, *, f_ext_frame: Literal["body", "world"] = "body", solver: Literal["auto", "pgs", "admm"] = "auto", out: Sequence[_F32] | None = None) -> ContactDynamics[np.float32]: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: _Wrenches | None = None, active: ArrayLike | None = None, friction: ArrayLike | None = None, compliance: ArrayLike | None = None, f_start: ArrayLike | None = None, tolerance: ArrayLike | None = None, max_iterations: ArrayLike | None = None, drift: ArrayLike | None = None, *, f_ext_frame: Literal["body", "world"] = "body", solver: Literal["auto", "pgs", "admm"] = "auto", out: Sequence[_F64] | None = None) -> ContactDynamics[np.float64]: ...
    def bind(self, *, f_ext_frame: Literal["body", "world"] = ..., solver: Literal["auto", "pgs", "admm"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, f_ext_frame: Literal["body", "world"] = "body", solver: Literal["auto", "pgs", "admm"] = "auto") -> None: ...

class ContactImpulse(NamedTuple, Generic[_T]):
    """Velocity after an impact in which contacts push only and slide, and the impulses."""

    v_next: NDArray[_T]
    impulse: NDArray[_T]
    iterations: _Number
    primal: _Number
    dual: _Number
    complementarity: _Number

class ContactImpulseFunction(Function):
    """Velocity after an impact in which contacts push only and slide, and the impulses."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, active: ArrayLike | None = None, restitution: ArrayLike | None = None, friction: ArrayLike | None = None, compliance: ArrayLike | None = None, f_start: ArrayLike | None = None, tolerance: ArrayLike | None = None, max_iterations: ArrayLike | None = None, drift: ArrayLike | None = None, *, solver: Literal["auto", "pgs", "admm"] = "auto", out: Sequence[_F64] | None = None) -> ContactImpulse[np.float64]: ...
    @overload
    def __call__(self, q: _F32, v: _F32, active: _F32 | None = None, restitution: _F32 | None = None, friction: _F32 | None = None, compliance: _F32 | None = None, f_start: _F32 | None = None, tolerance: np.float32 | _F32 | None = None, max_iterations: np.float32 | _F32 | None = None, drift: _F32 | None = None, *, solver: Literal["auto", "pgs", "admm"] = "auto", out: Sequence[_F32] | None = None) -> ContactImpulse[np.float32]: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, active: ArrayLike | None = None, restitution: ArrayLike | None = None, friction: ArrayLike | None = None, compliance: ArrayLike | None = None, f_start: ArrayLike | None = None, tolerance: ArrayLike | None = None, max_iterations: ArrayLike | None = None, drift: ArrayLike | None = None, *, solver: Literal["auto", "pgs", "admm"] = "auto", out: Sequence[_F64] | None = None) -> ContactImpulse[np.float64]: ...
    def bind(self, *, solver: Literal["auto", "pgs", "admm"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, solver: Literal["auto", "pgs", "admm"] = "auto") -> None: ...

class ContactInverseDynamics(NamedTuple, Generic[_T]):
    """Joint forces τ for given accelerations, where contacts push only and hold what friction can hold."""

    tau: NDArray[_T]
    f: NDArray[_T]
    missing: NDArray[_T]
    iterations: _Number

class ContactInverseDynamicsFunction(Function):
    """Joint forces τ for given accelerations, where contacts push only and hold what friction can hold."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, a: ArrayLike, f_ext: _Wrenches | None = None, active: ArrayLike | None = None, friction: ArrayLike | None = None, force_weights: ArrayLike | None = None, torque_weight: ArrayLike | None = None, f_min: ArrayLike | None = None, tau_max: ArrayLike | None = None, tolerance: ArrayLike | None = None, max_iterations: ArrayLike | None = None, *, f_ext_frame: Literal["body", "world"] = "body", out: Sequence[_F64] | None = None) -> ContactInverseDynamics[np.float64]: ...
    @overload
    def __call__(self, q: _F32, v: _F32, a: _F32, f_ext: _F32 | None = None, active: _F32 | None = None, friction: _F32 | None = None, force_weights: _F32 | None = None, torque_weight: np.float32 | _F32 | None = None, f_min: _F32 | None = None, tau_max: _F32 | None = None, tolerance: np.float32 | _F32 | None = None, max_iterations: np.float32 | _F32 | None = None, *, f_ext_frame: Literal["body", "world"] = "body", out: Sequence[_F32] | None = None) -> ContactInverseDynamics[np.float32]: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: _Wrenches | None = None, active: ArrayLike | None = None, friction: ArrayLike | None = None, force_weights: ArrayLike | None = None, torque_weight: ArrayLike | None = None, f_min: ArrayLike | None = None, tau_max: ArrayLike | None = None, tolerance: ArrayLike | None = None, max_iterations: ArrayLike | None = None, *, f_ext_frame: Literal["body", "world"] = "body", out: Sequence[_F64] | None = None) -> ContactInverseDynamics[np.float64]: ...
    def bind(self, *, f_ext_frame: Literal["body", "world"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, f_ext_frame: Literal["body", "world"] = "body") -> None: ...

class ForwardDynamics(NamedTuple, Generic[_T]):
    """Accelerations under the joint forces τ, and the constraints' forces f."""

    a: NDArray[_T]
    f: NDArray[_T]

class ForwardDynamicsFunction(Function):
    """Accelerations under the joint forces τ, and the constraints' forces f."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, tau: ArrayLike, f_ext: _Wrenches | None = None, active: ArrayLike | None = None, drift: ArrayLike | None = None, *, f_ext_frame: Literal["body", "world"] = "body", out: Sequence[_F64] | None = None) -> ForwardDynamics[np.float64]: ...
    @overload
    def __call__(self, q: _F32, v: _F32, tau: _F32, f_ext: _F32 | None = None, active: _F32 | None = None, drift: _F32 | None = None, *, f_ext_frame: Literal["body", "world"] = "body", out: Sequence[_F32] | None = None) -> ForwardDynamics[np.float32]: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: _Wrenches | None = None, active: ArrayLike | None = None, drift: ArrayLike | None = None, *, f_ext_frame: Literal["body", "world"] = "body", out: Sequence[_F64] | None = None) -> ForwardDynamics[np.float64]: ...
    def bind(self, *, f_ext_frame: Literal["body", "world"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, f_ext_frame: Literal["body", "world"] = "body") -> None: ...

class HybridDynamics(NamedTuple, Generic[_T]):
    """Accelerations, joint forces and the constraints' forces f, where one of the first two is given at each joint."""

    a: NDArray[_T]
    tau: NDArray[_T]
    f: NDArray[_T]

class HybridDynamicsFunction(Function):
    """Accelerations, joint forces and the constraints' forces f, where one of the first two is given at each joint."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, a: ArrayLike, tau: ArrayLike, f_ext: _Wrenches | None = None, active: ArrayLike | None = None, drift: ArrayLike | None = None, *, prescribed: Sequence[str] = (), f_ext_frame: Literal["body", "world"] = "body", out: Sequence[_F64] | None = None) -> HybridDynamics[np.float64]: ...
    @overload
    def __call__(self, q: _F32, v: _F32, a: _F32, tau: _F32, f_ext: _F32 | None = None, active: _F32 | None = None, drift: _F32 | None = None, *, prescribed: Sequence[str] = (), f_ext_frame: Literal["body", "world"] = "body", out: Sequence[_F32] | None = None) -> HybridDynamics[np.float32]: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, tau: ArrayLike, f_ext: _Wrenches | None = None, active: ArrayLike | None = None, drift: ArrayLike | None = None, *, prescribed: Sequence[str] = (), f_ext_frame: Literal["body", "world"] = "body", out: Sequence[_F64] | None = None) -> HybridDynamics[np.float64]: ...
    def bind(self, *, prescribed: Sequence[str] = ..., f_ext_frame: Literal["body", "world"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, prescribed: Sequence[str] = (), f_ext_frame: Literal["body", "world"] = "body") -> None: ...

class ConstraintWrenchesFunction(Function):
    """Wrenches that constraints exert on the bodies, as every function of the tree takes them."""

    @overload
    def __call__(self, q: _F64, f: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, f: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, f: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class ConstraintForcesFunction(Function):
    """Joint forces equivalent to the constraints' forces, ``Jᵀ f``."""

    @overload
    def __call__(self, q: _F64, f: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, f: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, f: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class Impulse(NamedTuple, Generic[_T]):
    """Velocity after an impact in which constraints begin to act, and their impulses."""

    v_next: NDArray[_T]
    impulse: NDArray[_T]

class ImpulseFunction(Function):
    """Velocity after an impact in which constraints begin to act, and their impulses."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, active: ArrayLike | None = None, restitution: ArrayLike | None = None, drift: ArrayLike | None = None, *, out: Sequence[_F64] | None = None) -> Impulse[np.float64]: ...
    @overload
    def __call__(self, q: _F32, v: _F32, active: _F32 | None = None, restitution: _F32 | None = None, drift: _F32 | None = None, *, out: Sequence[_F32] | None = None) -> Impulse[np.float32]: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, active: ArrayLike | None = None, restitution: ArrayLike | None = None, drift: ArrayLike | None = None, *, out: Sequence[_F64] | None = None) -> Impulse[np.float64]: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class ProjectVelocityFunction(Function):
    """Velocity nearest to v that the constraints allow: of those with ``J v⁺ = 0``, that of least ``T(v⁺ − v)``."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, active: ArrayLike | None = None, drift: ArrayLike | None = None, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, v: _F32, active: _F32 | None = None, drift: _F32 | None = None, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, active: ArrayLike | None = None, drift: ArrayLike | None = None, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class InverseDynamics(NamedTuple, Generic[_T]):
    """Joint forces for given accelerations, at the actuated joints alone, and the constraints' forces f."""

    tau: NDArray[_T]
    f: NDArray[_T]
    missing: NDArray[_T]

class InverseDynamicsFunction(Function):
    """Joint forces for given accelerations, at the actuated joints alone, and the constraints' forces f."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, a: ArrayLike, f_ext: _Wrenches | None = None, active: ArrayLike | None = None, *, least: Literal["force", "torque"] = "force", f_ext_frame: Literal["body", "world"] = "body", out: Sequence[_F64] | None = None) -> InverseDynamics[np.float64]: ...
    @overload
    def __call__(self, q: _F32, v: _F32, a: _F32, f_ext: _F32 | None = None, active: _F32 | None = None, *, least: Literal["force", "torque"] = "force", f_ext_frame: Literal["body", "world"] = "body", out: Sequence[_F32] | None = None) -> InverseDynamics[np.float32]: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: _Wrenches | None = None, active: ArrayLike | None = None, *, least: Literal["force", "torque"] = "force", f_ext_frame: Literal["body", "world"] = "body", out: Sequence[_F64] | None = None) -> InverseDynamics[np.float64]: ...
    def bind(self, *, least: Literal["force", "torque"] = ..., f_ext_frame: Literal["body", "world"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, least: Literal["force", "torque"] = "force", f_ext_frame: Literal["body", "world"] = "body") -> None: ...

class CompleteVelocityFunction(Function):
    """All velocities from the independent ones, ``J v = 0``."""

    @overload
    def __call__(self, q: _F64, v_independent: ArrayLike, drift: ArrayLike | None = None, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, v_independent: _F32, drift: _F32 | None = None, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, v_independent: ArrayLike, drift: ArrayLike | None = None, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class CompleteAccelerationFunction(Function):
    """All accelerations from the independent ones, ``J a + γ = 0``, at a velocity that the constraints allow."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, a_independent: ArrayLike, drift: ArrayLike | None = None, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, v: _F32, a_independent: _F32, drift: _F32 | None = None, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, a_independent: ArrayLike, drift: ArrayLike | None = None, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class VelocityMapFunction(Function):
    """Map from the independent velocities to all, ``v = G ẏ``."""

    @overload
    def __call__(self, q: _F64, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class ReducedMassMatrixFunction(Function):
    """Mass matrix of the independent velocities, ``GᵀMG``."""

    @overload
    def __call__(self, q: _F64, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class ReducedBiasFunction(Function):
    """Bias forces of the independent velocities, ``Gᵀ(M g + h)`` where ``a = G ÿ + g``."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, f_ext: _Wrenches | None = None, drift: ArrayLike | None = None, *, f_ext_frame: Literal["body", "world"] = "body", out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, v: _F32, f_ext: _F32 | None = None, drift: _F32 | None = None, *, f_ext_frame: Literal["body", "world"] = "body", out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, f_ext: _Wrenches | None = None, drift: ArrayLike | None = None, *, f_ext_frame: Literal["body", "world"] = "body", out: _F64 | None = None) -> _F64: ...
    def bind(self, *, f_ext_frame: Literal["body", "world"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, f_ext_frame: Literal["body", "world"] = "body") -> None: ...

class ConstraintJacobianFunction(Function):
    """Jacobian of the constraints: ``J(q) v = 0`` is what they allow."""

    @overload
    def __call__(self, q: _F64, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class ConstraintBiasFunction(Function):
    """Acceleration along the constraints' rows due to the velocity alone, ``γ = J̇ v``."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, v: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class ConstraintErrorFunction(Function):
    """How far positions are from what the constraints say, row by row; its rate is ``J v`` where it is zero."""

    @overload
    def __call__(self, q: _F64, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class DelassusMatrixFunction(Function):
    """Inverse inertia that the constraints' forces meet: a force f accelerates along the rows by ``G f``."""

    @overload
    def __call__(self, q: _F64, *, out: _F64 | None = None) -> _F64: ...
    @overload
    def __call__(self, q: _F32, *, out: _F32 | None = None) -> _F32: ...
    @overload
    def __call__(self, q: ArrayLike, *, out: _F64 | None = None) -> _F64: ...
    def bind(self) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True) -> None: ...

class ConstraintInertiaFunction(Function):
    """Inertia that acts against accelerations along the constraints' rows: the pseudo-inverse of `delassus_matrix`."""

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
    def __call__(self, q: _F64, v: ArrayLike, tau: ArrayLike, dt: ArrayLike, f_ext: _Wrenches | None = None, active: ArrayLike | None = None, restitution: ArrayLike | None = None, friction: ArrayLike | None = None, slots: ArrayLike | None = None, drift: ArrayLike | None = None, *, integrator: Literal["semi_implicit_euler", "euler", "rk4", "tsitouras", "implicit_euler"] = "semi_implicit_euler", limits: Literal["none", "position", "effort", "all"] = "none", f_ext_frame: Literal["body", "world"] = "body", contacts: Literal["solved", "stick"] = "solved", out: Sequence[_F64] | None = None) -> Step[np.float64]: ...
    @overload
    def __call__(self, q: _F32, v: _F32, tau: _F32, dt: np.float32 | _F32, f_ext: _F32 | None = None, active: _F32 | None = None, restitution: _F32 | None = None, friction: _F32 | None = None, slots: _F32 | None = None, drift: _F32 | None = None, *, integrator: Literal["semi_implicit_euler", "euler", "rk4", "tsitouras", "implicit_euler"] = "semi_implicit_euler", limits: Literal["none", "position", "effort", "all"] = "none", f_ext_frame: Literal["body", "world"] = "body", contacts: Literal["solved", "stick"] = "solved", out: Sequence[_F32] | None = None) -> Step[np.float32]: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: ArrayLike, f_ext: _Wrenches | None = None, active: ArrayLike | None = None, restitution: ArrayLike | None = None, friction: ArrayLike | None = None, slots: ArrayLike | None = None, drift: ArrayLike | None = None, *, integrator: Literal["semi_implicit_euler", "euler", "rk4", "tsitouras", "implicit_euler"] = "semi_implicit_euler", limits: Literal["none", "position", "effort", "all"] = "none", f_ext_frame: Literal["body", "world"] = "body", contacts: Literal["solved", "stick"] = "solved", out: Sequence[_F64] | None = None) -> Step[np.float64]: ...
    def bind(self, *, integrator: Literal["semi_implicit_euler", "euler", "rk4", "tsitouras", "implicit_euler"] = ..., limits: Literal["none", "position", "effort", "all"] = ..., f_ext_frame: Literal["body", "world"] = ..., contacts: Literal["solved", "stick"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, integrator: Literal["semi_implicit_euler", "euler", "rk4", "tsitouras", "implicit_euler"] = "semi_implicit_euler", limits: Literal["none", "position", "effort", "all"] = "none", f_ext_frame: Literal["body", "world"] = "body", contacts: Literal["solved", "stick"] = "solved") -> None: ...

class ContactStep(NamedTuple, Generic[_T]):
    """Return the configuration and velocity a time dt later, with the impulses of contacts that push and rub."""

    q: NDArray[_T]
    v: NDArray[_T]
    f: NDArray[_T]
    iterations: _Number
    dual: _Number

class ContactStepFunction(Function):
    """Return the configuration and velocity a time dt later, with the impulses of contacts that push and rub."""

    @overload
    def __call__(self, q: _F64, v: ArrayLike, tau: ArrayLike, dt: ArrayLike, f_ext: _Wrenches | None = None, active: ArrayLike | None = None, restitution: ArrayLike | None = None, friction: ArrayLike | None = None, slots: ArrayLike | None = None, f_start: ArrayLike | None = None, drift: ArrayLike | None = None, *, integrator: Literal["semi_implicit_euler", "implicit_euler"] = "semi_implicit_euler", limits: Literal["none", "position", "effort", "all"] = "none", f_ext_frame: Literal["body", "world"] = "body", out: Sequence[_F64] | None = None) -> ContactStep[np.float64]: ...
    @overload
    def __call__(self, q: _F32, v: _F32, tau: _F32, dt: np.float32 | _F32, f_ext: _F32 | None = None, active: _F32 | None = None, restitution: _F32 | None = None, friction: _F32 | None = None, slots: _F32 | None = None, f_start: _F32 | None = None, drift: _F32 | None = None, *, integrator: Literal["semi_implicit_euler", "implicit_euler"] = "semi_implicit_euler", limits: Literal["none", "position", "effort", "all"] = "none", f_ext_frame: Literal["body", "world"] = "body", out: Sequence[_F32] | None = None) -> ContactStep[np.float32]: ...
    @overload
    def __call__(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: ArrayLike, f_ext: _Wrenches | None = None, active: ArrayLike | None = None, restitution: ArrayLike | None = None, friction: ArrayLike | None = None, slots: ArrayLike | None = None, f_start: ArrayLike | None = None, drift: ArrayLike | None = None, *, integrator: Literal["semi_implicit_euler", "implicit_euler"] = "semi_implicit_euler", limits: Literal["none", "position", "effort", "all"] = "none", f_ext_frame: Literal["body", "world"] = "body", out: Sequence[_F64] | None = None) -> ContactStep[np.float64]: ...
    def bind(self, *, integrator: Literal["semi_implicit_euler", "implicit_euler"] = ..., limits: Literal["none", "position", "effort", "all"] = ..., f_ext_frame: Literal["body", "world"] = ...) -> Self: ...
    def warmup(self, *, dtype: str = "float64", optional: tuple[str, ...] = (), single: bool = True, batch: bool = True, integrator: Literal["semi_implicit_euler", "implicit_euler"] = "semi_implicit_euler", limits: Literal["none", "position", "effort", "all"] = "none", f_ext_frame: Literal["body", "world"] = "body") -> None: ...

class Functions:
    """The functions of a mechanism."""

    @property
    def assemble(self) -> AssembleFunction:
        r"""Close a mechanism: the configuration in which all constraints hold, found from q0 on.

        Levenberg and Marquardt's method, in the shortest steps of all joints, lengths counting in ℓ beside angles: the
        longest way along the tree. Inertias do not count. Where
        it does not arrive (all bars in a line are such a place), it starts again beside q0, a little further off each time.
        Where the mechanism cannot be closed, the result is the configuration of the least errors that was found, with
        ``converged`` False: that is no exception.

        Parameters
        ----------
        q0 : (..., nq) array
            Configuration to start from. Joint limits do not count.
        active : (..., nconstraints) array, optional
            1 for each constraint that acts, 0 for the others, ordered as ``mech.constraint_names`` (or bools; what is above
            one half counts as 1; it does not decide between float32 and float64); all if not given.
        tolerance : (...) array, optional
            The largest error of a row that holds (rad, m): 1e-9 rad and 1e-9 ℓ if not given, in float32 1e-5. Where this
            is reached one more step is made, so that errors are near rounding in general.
        max_iterations : (...) array, optional
            Steps from each start: 100.
        restarts : (...) array, optional
            How many other starts are tried: 10.
        fixed : sequence of str
            Names of joints that stay as in q0.

        Returns
        -------
        q : (..., nq) array
            Configuration, with unit quaternions.
        converged : (...) array
            Whether the error of every constraint that acts is within the tolerance: a bool; in compiled functions 1 or 0.
        residual : (..., nconstraints) array
            The largest error of the rows of each constraint (rad, m), angles in full, up to π; 0 for what does not act.
        iterations : (...) array
            Steps tried, from all starts.

        Raises
        ------
        ArgumentError
            If there is no joint of that name.

        References
        ----------
        Nocedal and Wright, Numerical Optimization, section 10.3; damping in proportion to the squared error as
        in Yamashita and Fukushima, On the rate of convergence of the Levenberg–Marquardt method (2001).

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("go2")
        >>> mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")])
        >>> q, v, a = robot.random_state(seed=0)
        >>> found = mech.assemble(q, fixed=["FL_hip_joint"])
        >>> bool(found.converged), bool(found.residual.max() < 1e-12)
        (True, True)
        """

    @property
    def contact_dynamics(self) -> ContactDynamicsFunction:
        r"""Accelerations under the joint forces τ where contacts push only and slide, and the constraints' forces f.

        `forward_dynamics` in which each `Contact` obeys Signorini's condition and Coulomb's law. What rests, to 1e-6 m/s,
        obeys them in terms of accelerations: ``0 ≤ f_n ⟂ σ_n ≥ 0`` and ``‖f_T‖ ≤ μ f_n``, against σ_T where there is any,
        for ``σ = J a + γ``, all contacts touching but those that are not `active`; what slides has ``f_T = −μ f_n d``
        against the direction d of its velocity; and what lifts off has no force. (What approaches with a velocity needs an
        impulse, `contact_impulse`.) Nothing is relaxed: in convex formulations what slides lifts off. All other constraints
        hold as they do in `forward_dynamics`. In a mechanism with a `stabilization` ω, ``σ = J a + γ + 2ω J v + ω² φ``.
        Where anchors move, by the `drift`, all motions are those against them: ``J v − ḋ``, ``J a + γ − d̈``.

        Nothing is raised where the solver does not arrive (some problems have no solution): the residuals, computed from
        the final forces, tell. Where forces are hyperstatic f is one of many, and a the same for all of them.

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
        active : (..., nconstraints) array, optional
            1 for each constraint that acts, 0 for the others, ordered as ``mech.constraint_names`` (or bools; what is above
            one half counts as 1; it does not decide between float32 and float64); all if not given.
        friction : (..., nconstraints) array, optional
            Coulomb's coefficient of each contact, ordered as ``mech.constraint_names``; others do not read theirs.
            `Contact.friction` if not given.
        compliance : (..., nrows) array, optional
            What the force of each contact's row gives way by, added to the diagonal of G (0 is rigid, as if not given).
        f_start : (..., nrows) array, optional
            Contact forces or impulses to begin with, such as those of the last step; 0 if not given.
        tolerance : (...) array, optional
            Of the residuals: dual beside the largest motion of a contact that there would be without its forces, and
            complementarity beside that and the largest force; 1e-6 if not given.
        max_iterations : (...) array, optional
            Of the solver: 1000 if not given.
        drift : (..., 3, nrows) array, optional
            What the rows keep where anchors move: positions d (m, rad), velocities ḋ and accelerations d̈, with ``φ = d``,
            ``J v = ḋ`` and ``J a + γ = d̈``; zero if not given. Positions are not read where rows have none.
        f_ext_frame : {"body", "world"}
            Axes and reference point of f_ext: each body's (of a dict, frame's) own, or the world's.
        solver : {"auto", "pgs", "admm"}
            Projected Gauss–Seidel sweeps, the alternating direction method of multipliers, or both in turns.

        Returns
        -------
        a : (..., nv) array
            True acceleration, which does not include gravity (rad/s², m/s²).
        f : (..., nrows) array
            Constraint forces, row by row (``mech.row_slices``): joint forces ``Jᵀ f`` (N, N·m).
        iterations : (...) array
            Sweeps and iterations of the solver; at `max_iterations` it has not arrived.
        primal : (...) array
            By how much a force is outside its friction cone (N, N·s).
        dual : (...) array
            How fast a contact goes into what it touches (m/s², m/s).
        complementarity : (...) array
            What forces do of work that they should not: on what lifts off, and less on what slides.

        Raises
        ------
        ModelError
            If a joint meets no inertia, so that M is singular at every configuration; the joint is named. At single
            configurations where M is singular, the result is NaN or enormous.

        References
        ----------
        De Saxcé and Feng, The bipotential method (1998), for the cone complementarity; the solvers:
        Jourdan, Alart and Jean, A Gauss–Seidel like algorithm to solve frictional contact problems (1998), and Carpentier,
        Le Lidec and Montaut, From compliant to rigid contact simulation (arXiv 2405.17020).

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("go2")
        >>> mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")])
        >>> q, v, a = robot.random_state(seed=0)
        >>> standing = mech.contact_dynamics(robot.neutral(), 0 * v, 0 * v)
        >>> bool(standing.dual < 1e-4), bool(standing.primal < 1e-9)
        (True, True)
        """

    @property
    def contact_impulse(self) -> ContactImpulseFunction:
        r"""Velocity after an impact in which contacts push only and slide, and the impulses.

        `impulse` in which each `Contact` obeys Signorini's condition and Coulomb's law in terms of velocities, with the
        rebound ``v_n⁺ ≥ −e v_n⁻`` of what approaches (`Contact.restitution` if not given); all contacts touch but those
        that are not `active`. See `contact_dynamics`. With friction and rebound together this law, Newton's, would add
        energy to some linkages: there the rebound is less, so that energy stays as it was. (The residuals are those of
        Newton's law.) Where anchors move, velocities along the rows are those against them, ``J v − ḋ``.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).
        active : (..., nconstraints) array, optional
            1 for each constraint that acts, 0 for the others, ordered as ``mech.constraint_names`` (or bools; what is above
            one half counts as 1; it does not decide between float32 and float64); all if not given.
        restitution : (..., nconstraints) array, optional
            Number e of each constraint: the velocity along its rows becomes −e times what it was; if not given 0, and
            `Contact.restitution` where contacts are solved.
        friction : (..., nconstraints) array, optional
            Coulomb's coefficient of each contact, ordered as ``mech.constraint_names``; others do not read theirs.
            `Contact.friction` if not given.
        compliance : (..., nrows) array, optional
            What the force of each contact's row gives way by, added to the diagonal of G (0 is rigid, as if not given).
        f_start : (..., nrows) array, optional
            Contact forces or impulses to begin with, such as those of the last step; 0 if not given.
        tolerance : (...) array, optional
            Of the residuals: dual beside the largest motion of a contact that there would be without its forces, and
            complementarity beside that and the largest force; 1e-6 if not given.
        max_iterations : (...) array, optional
            Of the solver: 1000 if not given.
        drift : (..., 3, nrows) array, optional
            What the rows keep where anchors move: positions d (m, rad), velocities ḋ and accelerations d̈, with ``φ = d``,
            ``J v = ḋ`` and ``J a + γ = d̈``; zero if not given. Positions are not read where rows have none.
        solver : {"auto", "pgs", "admm"}
            Projected Gauss–Seidel sweeps, the alternating direction method of multipliers, or both in turns.

        Returns
        -------
        v_next : (..., nv) array
            Velocity after it.
        impulse : (..., nrows) array
            Constraint impulses, row by row (``mech.row_slices``; N·s, N·m·s).
        iterations : (...) array
            Sweeps and iterations of the solver; at `max_iterations` it has not arrived.
        primal : (...) array
            By how much a force is outside its friction cone (N, N·s).
        dual : (...) array
            How fast a contact goes into what it touches (m/s², m/s).
        complementarity : (...) array
            What forces do of work that they should not: on what lifts off, and less on what slides.

        Raises
        ------
        ModelError
            If a joint meets no inertia, so that M is singular at every configuration; the joint is named. At single
            configurations where M is singular, the result is NaN or enormous.

        References
        ----------
        as `contact_dynamics`; RBDA section 11.7; Moreau, Unilateral contact and dry friction (1988); Kane and
        Levinson, Dynamics (1985), for the linkages.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("go2")
        >>> mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")])
        >>> q, v, a = robot.random_state(seed=0)
        >>> landed = mech.contact_impulse(robot.neutral(), v)
        >>> bool(robot.kinetic_energy(robot.neutral(), landed.v_next) <= robot.kinetic_energy(robot.neutral(), v))
        True
        """

    @property
    def contact_inverse_dynamics(self) -> ContactInverseDynamicsFunction:
        r"""Joint forces τ for given accelerations, where contacts push only and hold what friction can hold.

        Of the forces f that balance the passive joints (of a robot with a floating base, its base), ``c_P = J_Pᵀ f`` with
        ``c = M a + h``, those that cost least, ``fᵀ R f + w τᵀ τ``, with each contact's in its friction cone, from a least
        normal force on, and with τ within bounds. All contacts touch but those that are not `active`. Forces of other
        constraints are not limited. A motion that cannot be balanced so shows in `missing`: f is then nearest to what would
        balance it.

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
        active : (..., nconstraints) array, optional
            1 for each constraint that acts, 0 for the others, ordered as ``mech.constraint_names`` (or bools; what is above
            one half counts as 1; it does not decide between float32 and float64); all if not given.
        friction : (..., nconstraints) array, optional
            Coulomb's coefficient of each contact, ordered as ``mech.constraint_names``; others do not read theirs.
            `Contact.friction` if not given.
        force_weights : (..., nrows) array, optional
            R, what the square of each row's force costs, positive; if not given 1, and of moments 1/ℓ² (``mech.length``).
        torque_weight : (...) array, optional
            w, what the square of each joint force costs, 0 or more (beside moments, that of a force times ``mech.length``);
            0 if not given.
        f_min : (..., nconstraints) array, optional
            The least normal force of each contact (N); 0 if not given.
        tau_max : (..., nv) array, optional
            The largest size of each joint force (N·m, N); unlimited if not given.
        tolerance : (...) array, optional
            By how much equations and limits may be missed, beside the largest of c: 1e-8 if not given.
        max_iterations : (...) array, optional
            Of the solver: 1000 if not given. Motions that cannot be balanced take all of them.
        f_ext_frame : {"body", "world"}
            Axes and reference point of f_ext: each body's (of a dict, frame's) own, or the world's.

        Returns
        -------
        tau : (..., nv) array
            Zero at passive joints (N·m, N).
        f : (..., nrows) array
            Row by row (N, N·m).
        missing : (..., nv) array
            ``c − τ − Jᵀ f``: what the motion takes beyond all of these (N·m, N).
        iterations : (...) array
            Of the solver.

        References
        ----------
        the alternating direction method of multipliers, Boyd et al. (2011), with an affine projection.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("go2")
        >>> mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")])
        >>> q, v, a = robot.random_state(seed=0)
        >>> stand = robot.neutral()
        >>> tau, f, missing, iterations = mech.contact_inverse_dynamics(stand, 0 * v, 0 * v)
        >>> bool(abs(missing).max() < 1e-5), bool(abs(f[2::3].sum() - robot.gravity_forces(stand)[5]) < 1e-5)
        (True, True)
        """

    @property
    def forward_dynamics(self) -> ForwardDynamicsFunction:
        r"""Accelerations under the joint forces τ, and the constraints' forces f.

        ``M a + h = τ + Jᵀ f`` and ``J a + γ = 0``. The acceleration is exact also where constraints are redundant, and f is
        then the smallest force that gives it, moments counting divided by `Mechanism.length` (where some rows meet inertias
        ten thousand times those of others, theirs may be larger). In a mechanism with a `stabilization` ω errors fade away:
        ``J a + γ + 2ω J v + ω² φ = 0``. Where anchors move, by the `drift`, d takes the place of zero in all of these.

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
        active : (..., nconstraints) array, optional
            1 for each constraint that acts, 0 for the others, ordered as ``mech.constraint_names`` (or bools; what is above
            one half counts as 1; it does not decide between float32 and float64); all if not given.
        drift : (..., 3, nrows) array, optional
            What the rows keep where anchors move: positions d (m, rad), velocities ḋ and accelerations d̈, with ``φ = d``,
            ``J v = ḋ`` and ``J a + γ = d̈``; zero if not given. Positions are not read where rows have none.
        f_ext_frame : {"body", "world"}
            Axes and reference point of f_ext: each body's (of a dict, frame's) own, or the world's.

        Returns
        -------
        a : (..., nv) array
            True acceleration, which does not include gravity (rad/s², m/s²).
        f : (..., nrows) array
            Constraint forces, row by row (``mech.row_slices``): joint forces ``Jᵀ f`` (N, N·m).

        Raises
        ------
        ModelError
            If a joint meets no inertia, so that M is singular at every configuration; the joint is named. At single
            configurations where M is singular, the result is NaN or enormous.

        References
        ----------
        RBDA sections 8.1 and 8.5, with ``M = LᵀDL``; for redundant rows the proximal-point method, as in
        Carpentier, Budhiraja and Mansard, Proximal and sparse resolution of constrained dynamic equations (RSS 2021).

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("go2")
        >>> mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")])
        >>> q, v, a = robot.random_state(seed=0)
        >>> a, f = mech.forward_dynamics(q, v, robot.gravity_forces(q))
        >>> J, gamma = mech.constraint_jacobian(q), mech.constraint_bias(q, v)
        >>> bool(abs(J @ a + gamma).max() < 1e-9)
        True
        """

    @property
    def hybrid_dynamics(self) -> HybridDynamicsFunction:
        r"""Accelerations, joint forces and the constraints' forces f, where one of the first two is given at each joint.

        ``M a + h = τ + Jᵀ f`` and ``J a + γ = 0``. No joint is passive by itself: its force is given, or its acceleration.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).
        a : (..., nv) array
            True accelerations of the prescribed joints (rad/s², m/s²); the other entries are not read. The constraints must
            leave them their choice.
        tau : (..., nv) array
            Forces of the joints that are not prescribed (N·m, N); the other entries are not read.
        f_ext : (..., nb, 6) array, optional
            Wrench (n, f) exerted on each moving body (N·m, N), ordered as ``robot.body_names``; or a dict of wrenches (...,
            6) by the name of a body or frame, each in the axes of that frame about its origin.
        active : (..., nconstraints) array, optional
            1 for each constraint that acts, 0 for the others, ordered as ``mech.constraint_names`` (or bools; what is above
            one half counts as 1; it does not decide between float32 and float64); all if not given.
        drift : (..., 3, nrows) array, optional
            What the rows keep where anchors move: positions d (m, rad), velocities ḋ and accelerations d̈, with ``φ = d``,
            ``J v = ḋ`` and ``J a + γ = d̈``; zero if not given. Positions are not read where rows have none.
        prescribed : sequence of str
            Names of joints with given accelerations: all is inverse, none is forward dynamics.
        f_ext_frame : {"body", "world"}
            Axes and reference point of f_ext: each body's (of a dict, frame's) own, or the world's.

        Returns
        -------
        a : (..., nv) array
            True acceleration, which does not include gravity (rad/s², m/s²).
        tau : (..., nv) array
            Joint forces (N·m, N); for a floating base, the wrench on it.
        f : (..., nrows) array
            Constraint forces, row by row (``mech.row_slices``): joint forces ``Jᵀ f`` (N, N·m).

        Raises
        ------
        ArgumentError
            If there is no joint of that name, or the constraints tie the prescribed joints to each other. With `active`
            that depends on the state: accelerations that contradict each other are not attained then.
        ModelError
            If a joint meets no inertia, so that M is singular at every configuration; the joint is named.

        References
        ----------
        RBDA sections 8.5 and 9.2: prescribed joints are rigid, and move what hangs on them.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("go2")
        >>> mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")])
        >>> q, v, a = robot.random_state(seed=0)
        >>> legs = [name for name in robot.joint_names if name.startswith(("FL", "FR"))]
        >>> posed = mech.hybrid_dynamics(q, v, 0 * v, 0 * v, active=[1, 0, 0, 0], prescribed=legs)
        >>> bool(abs(posed.a[6:12]).max() == 0), bool(abs(posed.tau[12:]).max() == 0)
        (True, True)
        """

    @property
    def constraint_wrenches(self) -> ConstraintWrenchesFunction:
        r"""Wrenches that constraints exert on the bodies, as every function of the tree takes them.

        With these as ``f_ext``, `Robot.joint_reactions` and `Robot.inverse_dynamics` of ``mech.tree`` are those of the
        mechanism. A `Gear` acts between joints and has no wrench here: it is in `constraint_forces` only.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        f : (..., nrows) array
            Constraint forces, row by row (``mech.row_slices``): joint forces ``Jᵀ f`` (N, N·m).

        Returns
        -------
        f_ext : (..., nb, 6) array
            Moment and force on each body, in its axes about its origin (N·m, N).

        References
        ----------
        RBDA section 8.2: the wrench ``T λ`` on one body, and the opposite one on the other.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("go2")
        >>> mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")])
        >>> q, v, a = robot.random_state(seed=0)
        >>> a, f = mech.forward_dynamics(q, v, robot.gravity_forces(q))
        >>> tau = mech.tree.inverse_dynamics(q, v, a, mech.constraint_wrenches(q, f))
        >>> bool(abs(tau - robot.gravity_forces(q)).max() < 1e-9)
        True
        """

    @property
    def constraint_forces(self) -> ConstraintForcesFunction:
        r"""Joint forces equivalent to the constraints' forces, ``Jᵀ f``.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        f : (..., nrows) array
            Constraint forces, row by row (``mech.row_slices``): joint forces ``Jᵀ f`` (N, N·m).

        Returns
        -------
        tau : (..., nv) array
            Joint forces (N·m, N); for a floating base, the wrench on it.

        References
        ----------
        RBDA eq. 8.4.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("go2")
        >>> mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")])
        >>> q, v, a = robot.random_state(seed=0)
        >>> a, f = mech.forward_dynamics(q, v, robot.gravity_forces(q))
        >>> tau = mech.tree.inverse_dynamics(q, v, a) - mech.constraint_forces(q, f)
        >>> bool(abs(tau - robot.gravity_forces(q)).max() < 1e-9)
        True
        """

    @property
    def impulse(self) -> ImpulseFunction:
        r"""Velocity after an impact in which constraints begin to act, and their impulses.

        ``M (v⁺ − v) = Jᵀ λ`` and ``J v⁺ = −e J v``. Of a contact only the normal row rebounds, the others stick. Where
        anchors move, both velocities along the rows are those against the anchor, ``J v − ḋ``. Energy is not added where
        nothing rebounds, nor with one e for all normals where nothing slid before; else what sticks and rebounds at once
        can add some, which `contact_impulse` does not.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).
        active : (..., nconstraints) array, optional
            1 for each constraint that acts, 0 for the others, ordered as ``mech.constraint_names`` (or bools; what is above
            one half counts as 1; it does not decide between float32 and float64); all if not given.
        restitution : (..., nconstraints) array, optional
            Number e of each constraint: the velocity along its rows becomes −e times what it was; if not given 0, and
            `Contact.restitution` where contacts are solved.
        drift : (..., 3, nrows) array, optional
            What the rows keep where anchors move: positions d (m, rad), velocities ḋ and accelerations d̈, with ``φ = d``,
            ``J v = ḋ`` and ``J a + γ = d̈``; zero if not given. Positions are not read where rows have none.

        Returns
        -------
        v_next : (..., nv) array
            Velocity after it.
        impulse : (..., nrows) array
            Constraint impulses, row by row (``mech.row_slices``; N·s, N·m·s).

        Raises
        ------
        ModelError
            If a joint meets no inertia, so that M is singular at every configuration; the joint is named. At single
            configurations where M is singular, the result is NaN or enormous.

        References
        ----------
        RBDA section 11.7.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("go2")
        >>> mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")])
        >>> q, v, a = robot.random_state(seed=0)
        >>> landed, blow = mech.impulse(q, v)
        >>> bool(abs(mech.constraint_jacobian(q) @ landed).max() < 1e-9)
        True
        """

    @property
    def project_velocity(self) -> ProjectVelocityFunction:
        r"""Velocity nearest to v that the constraints allow: of those with ``J v⁺ = 0``, that of least ``T(v⁺ − v)``.

        It is that after an impact without rebound, `impulse`.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).
        active : (..., nconstraints) array, optional
            1 for each constraint that acts, 0 for the others, ordered as ``mech.constraint_names`` (or bools; what is above
            one half counts as 1; it does not decide between float32 and float64); all if not given.
        drift : (..., 3, nrows) array, optional
            What the rows keep where anchors move: positions d (m, rad), velocities ḋ and accelerations d̈, with ``φ = d``,
            ``J v = ḋ`` and ``J a + γ = d̈``; zero if not given. Positions are not read where rows have none.

        Returns
        -------
        v_next : (..., nv) array
            Velocity after it.

        Raises
        ------
        ModelError
            If a joint meets no inertia, so that M is singular at every configuration; the joint is named. At single
            configurations where M is singular, the result is NaN or enormous.

        References
        ----------
        Gauss's principle of least constraint for velocities (RBDA section 11.7).

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("go2")
        >>> mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")])
        >>> q, v, a = robot.random_state(seed=0)
        >>> allowed = mech.project_velocity(q, v)
        >>> bool(abs(mech.constraint_jacobian(q) @ allowed).max() < 1e-9)
        True
        """

    @property
    def inverse_dynamics(self) -> InverseDynamicsFunction:
        r"""Joint forces for given accelerations, at the actuated joints alone, and the constraints' forces f.

        ``M a + h = τ + Jᵀ f + missing`` with τ zero at the passive joints, whose equations f has to balance. Where they
        determine f, this is the one solution; where they leave a choice, because there are more actuators than freedoms or
        rows are redundant, the smallest; and where no f balances them, f leaves the least `missing`: what comes next to
        this motion without an actuator where one is missing. Contacts stick and may pull. The acceleration is taken as it
        is given, as for a tree: it is one of the mechanism if ``J a + γ = 0`` (`complete_acceleration`).

        At configurations where the actuated joints do not hold the mechanism, f and `missing` are those of the directions
        in which they do.

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
        active : (..., nconstraints) array, optional
            1 for each constraint that acts, 0 for the others, ordered as ``mech.constraint_names`` (or bools; what is above
            one half counts as 1; it does not decide between float32 and float64); all if not given.
        least : {"force", "torque"}
            What is least where there is a choice: the norm of the constraint forces f, or that of τ, and of f where that
            leaves a choice. Beside forces, moments count divided by ``mech.length``.
        f_ext_frame : {"body", "world"}
            Axes and reference point of f_ext: each body's (of a dict, frame's) own, or the world's.

        Returns
        -------
        tau : (..., nv) array
            Joint forces (N·m, N); for a floating base, the wrench on it.
        f : (..., nrows) array
            Constraint forces, row by row (``mech.row_slices``): joint forces ``Jᵀ f`` (N, N·m).
        missing : (..., nv) array
            Joint forces that the motion takes beyond what actuators and constraints can give (N·m, N): at passive joints,
            ``c − Jᵀ f`` with c of the tree alone; zero where the motion is possible.

        References
        ----------
        RBDA section 8.12, with least squares of least norm for what is not determined.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("go2")
        >>> mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")])
        >>> q, v, a = robot.random_state(seed=0)
        >>> tau, f, missing = mech.inverse_dynamics(q, v, 0 * v)
        >>> bool(abs(missing).max() < 1e-9), bool(abs(tau[:6]).max() == 0)  # the feet bear the base, which has no actuator
        (True, True)
        >>> J = mech.constraint_jacobian(q)
        >>> bool(abs(robot.inverse_dynamics(q, v, 0 * v) - tau - J.T @ f).max() < 1e-9)
        True
        """

    @property
    def complete_velocity(self) -> CompleteVelocityFunction:
        r"""All velocities from the independent ones, ``J v = 0``.

        All constraints act. Where the independent velocities do not determine the others, in a singular configuration, v is
        the least of those that come next to ``J v = 0``.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v_independent : (..., nindependent) array
            Independent velocities, ordered as ``mech.independent`` (rad/s, m/s).
        drift : (..., 3, nrows) array, optional
            What the rows keep where anchors move: positions d (m, rad), velocities ḋ and accelerations d̈, with ``φ = d``,
            ``J v = ḋ`` and ``J a + γ = d̈``; zero if not given. Positions are not read where rows have none.

        Returns
        -------
        v : (..., nv) array
            Velocity (rad/s, m/s).

        References
        ----------
        RBDA section 8.8: ``q̇ = G ẏ``.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("go2")
        >>> mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")])
        >>> q, v, a = robot.random_state(seed=0)
        >>> v = mech.complete_velocity(q, [0.1] * len(mech.independent))
        >>> bool(abs(mech.constraint_jacobian(q) @ v).max() < 1e-9)
        True
        """

    @property
    def complete_acceleration(self) -> CompleteAccelerationFunction:
        r"""All accelerations from the independent ones, ``J a + γ = 0``, at a velocity that the constraints allow.

        All constraints act. With it, `inverse_dynamics` has what it takes: an acceleration of the mechanism.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).
        a_independent : (..., nindependent) array
            Independent accelerations, ordered as ``mech.independent`` (rad/s², m/s²).
        drift : (..., 3, nrows) array, optional
            What the rows keep where anchors move: positions d (m, rad), velocities ḋ and accelerations d̈, with ``φ = d``,
            ``J v = ḋ`` and ``J a + γ = d̈``; zero if not given. Positions are not read where rows have none.

        Returns
        -------
        a : (..., nv) array
            True acceleration, which does not include gravity (rad/s², m/s²).

        References
        ----------
        RBDA section 8.8: ``q̈ = G ÿ + g``.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("go2")
        >>> mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")])
        >>> q, v, a = robot.random_state(seed=0)
        >>> v = mech.complete_velocity(q, [0.1] * len(mech.independent))
        >>> a = mech.complete_acceleration(q, v, [0.0] * len(mech.independent))
        >>> bool(abs(mech.constraint_jacobian(q) @ a + mech.constraint_bias(q, v)).max() < 1e-9)
        True
        """

    @property
    def velocity_map(self) -> VelocityMapFunction:
        r"""Map from the independent velocities to all, ``v = G ẏ``.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).

        Returns
        -------
        G : (..., nv, nindependent) array
            Its columns are velocities that the constraints allow, ``J G = 0``; ``Gᵀ τ`` are the forces that the independent
            velocities meet.

        References
        ----------
        RBDA sections 3.2 and 8.8.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("go2")
        >>> mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")])
        >>> q, v, a = robot.random_state(seed=0)
        >>> G = mech.velocity_map(q)
        >>> bool(abs(mech.constraint_jacobian(q) @ G).max() < 1e-9)
        True
        """

    @property
    def reduced_mass_matrix(self) -> ReducedMassMatrixFunction:
        r"""Mass matrix of the independent velocities, ``GᵀMG``.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).

        Returns
        -------
        M : (..., nindependent, nindependent) array
            Symmetric; positive definite unless a massless body can move freely (kg·m², kg·m, kg).

        References
        ----------
        RBDA section 3.2, the equation of motion with explicit constraints.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("go2")
        >>> mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")])
        >>> q, v, a = robot.random_state(seed=0)
        >>> G, M = mech.velocity_map(q), robot.mass_matrix(q)
        >>> bool(abs(mech.reduced_mass_matrix(q) - G.T @ M @ G).max() < 1e-9)
        True
        """

    @property
    def reduced_bias(self) -> ReducedBiasFunction:
        r"""Bias forces of the independent velocities, ``Gᵀ(M g + h)`` where ``a = G ÿ + g``.

        With `reduced_mass_matrix`, ``GᵀMG ÿ + Gᵀ(M g + h) = Gᵀ τ`` is the equation of motion without constraint forces.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).
        f_ext : (..., nb, 6) array, optional
            Wrench (n, f) exerted on each moving body (N·m, N), ordered as ``robot.body_names``; or a dict of wrenches (...,
            6) by the name of a body or frame, each in the axes of that frame about its origin.
        drift : (..., 3, nrows) array, optional
            What the rows keep where anchors move: positions d (m, rad), velocities ḋ and accelerations d̈, with ``φ = d``,
            ``J v = ḋ`` and ``J a + γ = d̈``; zero if not given. Positions are not read where rows have none.
        f_ext_frame : {"body", "world"}
            Axes and reference point of f_ext: each body's (of a dict, frame's) own, or the world's.

        Returns
        -------
        h : (..., nindependent) array
            Velocity products, gravity and springs, and what f_ext takes off (N·m, N).

        References
        ----------
        RBDA section 3.2, the equation of motion with explicit constraints.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("go2")
        >>> mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")])
        >>> q, v, a = robot.random_state(seed=0)
        >>> v = mech.complete_velocity(q, [0.1] * len(mech.independent))
        >>> a = mech.complete_acceleration(q, v, [0.0] * len(mech.independent))
        >>> force = mech.velocity_map(q).T @ robot.inverse_dynamics(q, v, a)
        >>> bool(abs(mech.reduced_bias(q, v) - force).max() < 1e-9)
        True
        """

    @property
    def constraint_jacobian(self) -> ConstraintJacobianFunction:
        r"""Jacobian of the constraints: ``J(q) v = 0`` is what they allow.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).

        Returns
        -------
        J : (..., nrows, nv) array
            Row by row (``mech.row_slices``); the joint forces of the constraint forces f are ``Jᵀ f``.

        References
        ----------
        RBDA section 3.2 and eq. 8.2.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("go2")
        >>> mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")])
        >>> q, v, a = robot.random_state(seed=0)
        >>> mech.constraint_jacobian(q).shape
        (12, 18)
        """

    @property
    def constraint_bias(self) -> ConstraintBiasFunction:
        r"""Acceleration along the constraints' rows due to the velocity alone, ``γ = J̇ v``.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).
        v : (..., nv) array
            Velocity (rad/s, m/s).

        Returns
        -------
        gamma : (..., nrows) array
            ``J̇ v``: with it, ``J a + γ`` is the rate of ``J v``.

        References
        ----------
        RBDA eq. 8.3, with the opposite sign.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("go2")
        >>> mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")])
        >>> q, v, a = robot.random_state(seed=0)
        >>> mech.constraint_bias(q, v).shape
        (12,)
        """

    @property
    def constraint_error(self) -> ConstraintErrorFunction:
        r"""How far positions are from what the constraints say, row by row; its rate is ``J v`` where it is zero.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).

        Returns
        -------
        phi : (..., nrows) array
            What the rows keep at zero (m, rad); 0 for those that constrain velocities alone.

        References
        ----------
        RBDA section 8.3.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("go2")
        >>> mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")])
        >>> q, v, a = robot.random_state(seed=0)
        >>> mech.constraint_error(q).shape
        (12,)
        """

    @property
    def delassus_matrix(self) -> DelassusMatrixFunction:
        r"""Inverse inertia that the constraints' forces meet: a force f accelerates along the rows by ``G f``.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).

        Returns
        -------
        G : (..., nrows, nrows) array
            ``J M⁻¹ Jᵀ``, symmetric; positive semidefinite, singular where rows are redundant.

        Raises
        ------
        ModelError
            If a joint meets no inertia, so that M is singular at every configuration; the joint is named. At single
            configurations where M is singular, the result is NaN or enormous.

        References
        ----------
        RBDA section 8.5, with ``M = LᵀDL``: ``G = (J L⁻¹) D⁻¹ (J L⁻¹)ᵀ``.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("go2")
        >>> mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")])
        >>> q, v, a = robot.random_state(seed=0)
        >>> G, J = mech.delassus_matrix(q), mech.constraint_jacobian(q)
        >>> bool(abs(G - J @ robot.mass_matrix_inverse(q) @ J.T).max() < 1e-9)
        True
        """

    @property
    def constraint_inertia(self) -> ConstraintInertiaFunction:
        r"""Inertia that acts against accelerations along the constraints' rows: the pseudo-inverse of `delassus_matrix`.

        Parameters
        ----------
        q : (..., nq) array
            Configuration: rad, m, and quaternions (x, y, z, w).

        Returns
        -------
        Lambda : (..., nrows, nrows) array
            ``(J M⁻¹ Jᵀ)⁺``, symmetric; the inverse where no row is redundant (kg, kg·m, kg·m²). Where rows are redundant
            and some meet inertias ten thousand times those of others, a pseudo-inverse that is not Moore and Penrose's.

        Raises
        ------
        ModelError
            If a joint meets no inertia, so that M is singular at every configuration; the joint is named. At single
            configurations where M is singular, the result is NaN or enormous.

        References
        ----------
        Khatib, A unified approach for motion and force control of robot manipulators (1987), for constraints.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("go2")
        >>> mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")])
        >>> q, v, a = robot.random_state(seed=0)
        >>> G, Lambda = mech.delassus_matrix(q), mech.constraint_inertia(q)
        >>> bool(abs(G @ Lambda @ G - G).max() < 1e-9)
        True
        """

    @property
    def step(self) -> StepFunction:
        r"""Return the configuration and velocity a time dt later, under constant joint forces and wrenches.

        A mechanism with `Contact`s takes a step with impulses, as `contact_step` does, unless they stick. At the end of a
        step loops and the like are closed again, and velocities along them taken away, by the smallest change in the metric
        of M. `simulate` takes many steps, with controllers and events.

        Anchors that move do so by the `drift` that is given, at the beginning of the step; they accelerate evenly.

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
        active : (..., nconstraints) array, optional
            1 for each constraint that acts, 0 for the others, ordered as ``mech.constraint_names`` (or bools; what is above
            one half counts as 1; it does not decide between float32 and float64); all if not given.
        restitution : (..., nconstraints) array, optional
            Number e of each constraint: the velocity along its rows becomes −e times what it was; if not given 0, and
            `Contact.restitution` where contacts are solved.
        friction : (..., nconstraints) array, optional
            Coulomb's coefficient of each contact, ordered as ``mech.constraint_names``; others do not read theirs.
            `Contact.friction` if not given.
        slots : (..., nslots, 7) array, optional
            Contact point (m), normal and gap (m) of each `ContactSlot`, as ``mech.slots`` makes it; empty if not given.
        drift : (..., 3, nrows) array, optional
            What the rows keep where anchors move: positions d (m, rad), velocities ḋ and accelerations d̈, with ``φ = d``,
            ``J v = ḋ`` and ``J a + γ = d̈``; zero if not given. Positions are not read where rows have none.
        integrator : {"semi_implicit_euler", "euler", "rk4", "tsitouras", "implicit_euler"}
            The method: semi-implicit (symplectic) Euler, first order and one acceleration a step; explicit Euler; the
            classical Runge–Kutta method, fourth order and four accelerations a step; implicit Euler, which takes the
            joints' friction at the new velocity and is stable however stiff that is; or the variational midpoint rule,
            second order and symmetric in time, whose energy does not drift: it iterates, at about ten times the cost.
        limits : {"none", "position", "effort", "all"}
            Which limits of the joints count: stops at the ends of their range, stiff springs with dampers; the largest
            joint forces of tau.
        f_ext_frame : {"body", "world"}
            Axes and reference point of f_ext: each body's (of a dict, frame's) own, or the world's.
        contacts : {"solved", "stick"}
            Whether contacts push only, lift off and slide, which takes steps with impulses, or stick as other constraints
            hold. It makes no difference to a mechanism without contacts.

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
        >>> robot = kt.load("go2")
        >>> mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")])
        >>> q, v, a = robot.random_state(seed=0)
        >>> falling = mech.step(q, v, [0.0] * robot.nv, 1e-3, contacts="stick", active=[0] * 4)
        >>> bool(abs(falling.v - robot.step(q, v, [0.0] * robot.nv, 1e-3).v).max() < 1e-9)
        True
        """

    @property
    def contact_step(self) -> ContactStepFunction:
        r"""Return the configuration and velocity a time dt later, with the impulses of contacts that push and rub.

        Contacts touch, slide and rebound by Signorini's and Coulomb's laws, unrelaxed, and so do the stops of joints where
        limits of position count, and their Coulomb friction if it is turned on. What has penetrated is moved back without a
        velocity, so that impulses add no energy. Time goes forwards: dt is positive. Anchors that move do so by the `drift`
        that is given, at the beginning of the step; they accelerate evenly.

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
        active : (..., nconstraints) array, optional
            1 for each constraint that acts, 0 for the others, ordered as ``mech.constraint_names`` (or bools; what is above
            one half counts as 1; it does not decide between float32 and float64); all if not given.
        restitution : (..., nconstraints) array, optional
            Number e of each constraint: the velocity along its rows becomes −e times what it was; if not given 0, and
            `Contact.restitution` where contacts are solved.
        friction : (..., nconstraints) array, optional
            Coulomb's coefficient of each contact, ordered as ``mech.constraint_names``; others do not read theirs.
            `Contact.friction` if not given.
        slots : (..., nslots, 7) array, optional
            Contact point (m), normal and gap (m) of each `ContactSlot`, as ``mech.slots`` makes it; empty if not given.
        f_start : (..., nrows) array, optional
            Contact forces or impulses to begin with, such as those of the last step; 0 if not given.
        drift : (..., 3, nrows) array, optional
            What the rows keep where anchors move: positions d (m, rad), velocities ḋ and accelerations d̈, with ``φ = d``,
            ``J v = ḋ`` and ``J a + γ = d̈``; zero if not given. Positions are not read where rows have none.
        integrator : {"semi_implicit_euler", "implicit_euler"}
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
        f : (..., nrows) array
            The impulses of the step divided by dt (N, N·m); as the next step's `f_start` they save iterations.
        iterations : (...) array
            Sweeps and iterations of the solver; at `max_iterations` it has not arrived.
        dual : (...) array
            How fast a contact goes into what it touches (m/s², m/s).

        Raises
        ------
        ModelError
            If a joint meets no inertia, so that M is singular at every configuration; the joint is named. At single
            configurations where M is singular, the result is NaN or enormous.

        References
        ----------
        Stewart and Trinkle, An implicit time-stepping scheme for rigid body dynamics with inelastic collisions
        and Coulomb friction (1996); Anitescu and Potra (1997).

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("go2")
        >>> mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")])
        >>> q, v, a = robot.random_state(seed=0)
        >>> standing = mech.contact_step(robot.neutral(), 0 * v, [0.0] * robot.nv, 1e-3)
        >>> standing.f.shape, bool(standing.dual < 1e-6)
        ((12,), True)
        """
