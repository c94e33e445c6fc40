"""`Robot`: a model with its compiled functions, what users hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.algorithms import ALGORITHMS
from kinetree.errors import ArgumentError, ModelError, unknown_name
from kinetree.model import Body, JointLimits, Model

if TYPE_CHECKING:
    from kinetree.runtime import Function

FloatArray = NDArray[np.float64]
Size = int | tuple[int, ...]


@dataclass(frozen=True)
class JointInfo:
    """A joint of a robot, and where its entries are.

    Attributes
    ----------
    name : str
    type : str
        Name of its class in `kinetree.joints`.
    body : str
        The body that it moves.
    q_slice, v_slice : slice
        Its entries in q, and in v, a and tau.
    limits : JointLimits
    damping, friction, armature : float
        Of each of its degrees of freedom (damping and friction are not used unless asked for).
    """

    name: str
    type: str
    body: str
    q_slice: slice
    v_slice: slice
    limits: JointLimits
    damping: float
    friction: float
    armature: float


class Robot:
    """A robot: its model, and one compiled function for each algorithm.

    A function (``robot.inverse_dynamics``, …) is compiled for this robot when it is first called, and kept on disk
    for the next process. All take leading batch axes that broadcast like NumPy's. A robot does not change; what
    would change it returns another one.

    Parameters
    ----------
    model : Model
        With plain numbers. `kinetree.load` makes one from a file or a name, `ModelBuilder` from Python.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("panda")
    >>> q, v, a = robot.random_state(seed=0)
    >>> robot.inverse_dynamics(q, v, a).shape
    (7,)
    """

    def __init__(self, model: Model) -> None:
        if not isinstance(model, Model):
            raise ArgumentError(f"Robot takes a Model, {type(model).__name__} was given; kinetree.load reads files")
        if not all(isinstance(x, float) for x in model.numbers):
            raise ModelError("a Robot's model must have plain numbers; the algorithms take models over any scalar")
        self.__dict__["model"] = model

    if TYPE_CHECKING:
        model: Model

    # -- functions ----------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Function:
        """Return the function of this algorithm, made now and kept."""
        if name not in ALGORITHMS:
            if name.startswith("__"):
                raise AttributeError(name)
            raise AttributeError(unknown_name("attribute", name, dir(self)))
        from kinetree.runtime.robot_function import robot_function

        return self.__dict__.setdefault(name, robot_function(self.model, ALGORITHMS[name]))  # type: ignore[no-any-return]

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Robot does not change, {name!r} cannot be set: see with_gravity and kinetree.load")

    def __dir__(self) -> Iterable[str]:
        return sorted({*super().__dir__(), *ALGORITHMS})

    def warmup(self, *names: str, batch: bool = False) -> Robot:
        """Compile functions ahead of their first call, or load them from the disk cache.

        Parameters
        ----------
        *names : str
            Which ones; all if none is named.
        batch : bool
            Also the code for batches.

        Returns
        -------
        Robot
            This robot.

        Raises
        ------
        ArgumentError
            If there is no function of that name.
        """
        for name in names or ALGORITHMS:
            if name not in ALGORITHMS:
                raise ArgumentError(unknown_name("function", name, ALGORITHMS))
            getattr(self, name).warmup(batch=batch)
        return self

    def with_gravity(self, gravity: Sequence[float]) -> Robot:
        """Return this robot under another gravity (m/s², world axes)."""
        values = tuple(float(x) for x in gravity)
        if len(values) != 3 or not np.isfinite(values).all():
            raise ArgumentError(f"gravity takes three finite numbers; {gravity!r} was given")
        return Robot(self.model.with_gravity(values))

    # -- what it is ---------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The robot's name in its file."""
        return self.model.name

    @property
    def nq(self) -> int:
        """Length of q."""
        return self.model.nq

    @property
    def nv(self) -> int:
        """Length of v, a and tau: the degrees of freedom."""
        return self.model.nv

    @property
    def nb(self) -> int:
        """Number of moving bodies: the first axis of f_ext."""
        return self.model.nb

    @property
    def gravity(self) -> tuple[float, float, float]:
        """Acceleration of gravity in the world (m/s²)."""
        x, y, z = self.model.gravity
        return x, y, z

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints in the order of q and v, which is that of the file."""
        return self.model.joint_names

    @property
    def body_names(self) -> tuple[str, ...]:
        """The moving bodies in the order of f_ext: parents before children."""
        return self.model.body_names

    @property
    def frame_names(self) -> tuple[str, ...]:
        """The named frames: every link of the file, merged ones too."""
        return self.model.frame_names

    @property
    def mass(self) -> float:
        """Mass of all moving bodies (kg)."""
        return float(sum(body.inertia.m for body in self.model.bodies))

    def joint(self, name: str) -> JointInfo:
        """Return what is known of a joint.

        Raises
        ------
        ModelError
            If there is no joint of that name; the message has the nearest ones.

        Examples
        --------
        >>> import kinetree as kt
        >>> kt.load("panda").joint("panda_joint2").q_slice
        slice(1, 2, None)
        """
        body = self.model.bodies[self.model.body_of_joint(name)]
        q, v = body.q_index, body.v_index
        return JointInfo(
            name,
            type(body.joint).__name__,
            body.name,
            slice(q[0], q[-1] + 1),
            slice(v[0], v[-1] + 1),
            body.limits,
            float(body.damping[0]),
            float(body.friction[0]),
            float(body.armature[0]),
        )

    def _limit(self, field: str, of: str) -> FloatArray:
        values = np.full(self.nq if of == "q_index" else self.nv, -np.inf if field == "lower" else np.inf)
        for body in self._leading:
            if len(body.v_index) == 1:
                values[list(getattr(body, of))] = getattr(body.limits, field)
        return values

    @property
    def lower_limits(self) -> FloatArray:
        """Lowest positions (nq,), −inf where there is no limit (rad, m)."""
        return self._limit("lower", "q_index")

    @property
    def upper_limits(self) -> FloatArray:
        """Highest positions (nq,), inf where there is no limit (rad, m)."""
        return self._limit("upper", "q_index")

    @property
    def velocity_limits(self) -> FloatArray:
        """Largest speeds (nv,), inf where there is no limit (rad/s, m/s)."""
        return self._limit("velocity", "v_index")

    @property
    def effort_limits(self) -> FloatArray:
        """Largest joint forces (nv,), inf where there is no limit (N·m, N)."""
        return self._limit("effort", "v_index")

    @property
    def _leading(self) -> list[Body]:
        """The bodies whose joints have coordinates of their own: not the mimic joints."""
        return [self.model.bodies[i] for i in self.model.joint_order]

    # -- configurations -----------------------------------------------------------------------------------------

    def neutral(self) -> FloatArray:
        """Return the configuration (nq,) in which every joint is at its zero."""
        q = np.empty(self.nq)
        for body in self._leading:
            q[list(body.q_index)] = body.joint.neutral()
        return q

    def random_configuration(self, seed: int | np.random.Generator | None = None, size: Size = ()) -> FloatArray:
        """Return random configurations (*size, nq), uniform within the joints' limits.

        Where a joint has no limits it is within ±π rad or ±1 m; orientations are uniform over all rotations.
        """
        rng = np.random.default_rng(seed)
        lead = (size,) if isinstance(size, int) else tuple(size)
        q = np.empty((*lead, self.nq))
        for body in self._leading:
            bounds = ([body.limits.lower], [body.limits.upper]) if len(body.q_index) == 1 else (None, None)
            q[..., list(body.q_index)] = body.joint.random(rng, *bounds, size=lead)
        return q

    def random_state(
        self, seed: int | np.random.Generator | None = None, size: Size = ()
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return random q (*size, nq), v and a (*size, nv): q as `random_configuration`, v and a standard normal.

        Examples
        --------
        >>> import kinetree as kt
        >>> [x.shape for x in kt.load("g1").random_state(seed=0, size=10)]
        [(10, 36), (10, 35), (10, 35)]
        """
        rng = np.random.default_rng(seed)
        q = self.random_configuration(rng, size)
        v, a = rng.normal(size=(2, *q.shape[:-1], self.nv))
        return q, v, a

    def integrate(self, q: ArrayLike, dv: ArrayLike) -> FloatArray:
        """Return the configuration reached from q by the velocity dv held for a unit of time.

        Parameters
        ----------
        q : (..., nq) array
        dv : (..., nv) array
            Velocity times duration, in the bodies' axes where a joint has several degrees of freedom.

        Returns
        -------
        (..., nq) array
            With unit quaternions.
        """
        return self._on_manifold("integrate", ("q", q, self.nq), ("dv", dv, self.nv), self.nq)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> FloatArray:
        """Return the velocity (..., nv) that leads from q0 to q1 in a unit of time: the inverse of `integrate`."""
        return self._on_manifold("difference", ("q0", q0, self.nq), ("q1", q1, self.nq), self.nv)

    def _on_manifold(
        self, method: str, first: tuple[str, ArrayLike, int], second: tuple[str, ArrayLike, int], n_out: int
    ) -> FloatArray:
        a, b = (self._array(*argument) for argument in (first, second))
        try:
            lead = np.broadcast_shapes(a.shape[:-1], b.shape[:-1])
        except ValueError:
            raise ArgumentError(f"{first[0]} {a.shape} and {second[0]} {b.shape} do not broadcast") from None
        a, b = np.broadcast_to(a, (*lead, a.shape[-1])), np.broadcast_to(b, (*lead, b.shape[-1]))
        out = np.empty((*lead, n_out))
        for body in self._leading:
            second_index = body.q_index if method == "difference" else body.v_index
            into = body.q_index if n_out == self.nq and method == "integrate" else body.v_index
            columns = getattr(body.joint, method)([a[..., k] for k in body.q_index], [b[..., k] for k in second_index])
            for k, column in zip(into, columns, strict=True):
                out[..., k] = column
        return out

    def _array(self, name: str, value: ArrayLike, n: int) -> FloatArray:
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"{name} must be an array of {n} numbers: {error}") from None
        if array.ndim == 0 or array.shape[-1] != n:
            raise ArgumentError(f"{name} has shape {array.shape}; its last axis must be {n}: {describe(self.model)}")
        return array

    # -- as a value ---------------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Robot) and self.model == other.model

    def __hash__(self) -> int:
        return hash(self.model)

    def __reduce__(self) -> tuple[Any, ...]:
        return Robot, (self.model,)

    def __repr__(self) -> str:
        return f"<Robot {self.name!r}: {len(self.joint_names)} joints, nq = {self.nq}, nv = {self.nv}>"


def describe(model: Model) -> str:
    """Return how a model's q and v are made up, for error messages."""
    names = ", ".join(model.joint_names[:12]) + (", …" if len(model.joint_names) > 12 else "")
    return f"this robot has nq = {model.nq} and nv = {model.nv}: joints {names}"
