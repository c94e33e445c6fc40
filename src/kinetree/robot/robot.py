"""`Robot`: a model with its compiled functions, what users hold."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from types import MethodType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from kinetree.algorithms import ALGORITHMS, ELSEWHERE
from kinetree.errors import ArgumentError, unknown_name
from kinetree.locks import importing
from kinetree.model import JointLimits
from kinetree.robot.configurations import FloatArray
from kinetree.robot.edit import Variations

if TYPE_CHECKING:
    from kinetree.runtime import Function


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


class Later:
    """A method that is imported when it is first asked for, so that `import kinetree` stays quick."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __get__(self, robot: Any, owner: Any = None) -> Any:
        with importing:
            function = getattr(import_module(self.module), self.name)
        return function if robot is None else MethodType(function, robot)


class Robot(Variations):
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

    # -- functions ----------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Function:
        """Return the function of this algorithm, made now and kept."""
        if name not in ALGORITHMS:
            if hasattr(type(self), name) or name.startswith("__"):
                return object.__getattribute__(self, name)  # type: ignore[no-any-return]  # its own error, not ours
            if name in ELSEWHERE:
                raise AttributeError(f"no attribute {name!r}; here it is robot.{ELSEWHERE[name]}")
            raise AttributeError(unknown_name("attribute", name, (n for n in dir(self) if not n.startswith("_"))))
        with importing:
            from kinetree.functions.of_robot import robot_function

        return self.__dict__.setdefault(name, robot_function(self.model, name))  # type: ignore[no-any-return]

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Robot does not change, {name!r} cannot be set: see with_gravity and kinetree.load")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Robot does not change, {name!r} cannot be deleted")

    def __dir__(self) -> Iterable[str]:
        return sorted({*super().__dir__(), *ALGORITHMS})

    def warmup(self, *names: str, batch: bool = False, **options: Any) -> Robot:
        """Compile functions ahead of their first call, or load them from the disk cache.

        Parameters
        ----------
        *names : str
            Which ones; if none is named, all that need no option such as a frame (a few seconds for an arm).
        batch : bool
            Also the code for batches.
        **options
            The options of the calls to come, such as ``frame="panda_hand"``, for every function that is named.

        Returns
        -------
        Robot
            This robot.

        Raises
        ------
        ArgumentError
            If there is no function of that name, or one needs an option that is not given.
        """
        for name in names or (name for name, a in ALGORITHMS.items() if not a.needs_option):
            if name not in ALGORITHMS:
                raise ArgumentError(unknown_name("function", name, ALGORITHMS))
            getattr(self, name).warmup(batch=batch, **options)
        return self

    inverse_kinematics = Later("kinetree.inverse_kinematics", "inverse_kinematics")

    def compile(self, function: Any = None, **options: Any) -> Any:
        """Return your function as one compiled kernel, as `kinetree.compile` does; also as ``@robot.compile``."""
        with importing:
            from kinetree.functions.of_user import compile

        return compile(self, function, **options)

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
    def q_names(self) -> tuple[str, ...]:
        """A name for each entry of q: the joint's, with a suffix where it has several (``root_joint.qx``)."""
        return self.model.q_names

    @property
    def v_names(self) -> tuple[str, ...]:
        """A name for each entry of v, a and tau (``root_joint.wx``)."""
        return self.model.v_names

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

    def _resistance(self, field: str) -> FloatArray:
        values = np.zeros(self.nv)
        for body in self.model.bodies:  # followers too: theirs are seen from the leader
            values[list(body.v_index)] += getattr(body, field)
        return values

    @property
    def armature(self) -> FloatArray:
        """Reflected rotor inertia (nv,), followers' included (kg·m², kg): what `joint_physics_regressor` multiplies."""
        return self._resistance("armature")

    @property
    def damping(self) -> FloatArray:
        """Viscous friction (nv,), followers' included (N·m·s, N·s/m)."""
        return self._resistance("damping")

    @property
    def friction(self) -> FloatArray:
        """Coulomb friction (nv,), followers' included (N·m, N)."""
        return self._resistance("friction")

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
    def inertial_parameters(self) -> FloatArray:
        """The inertial parameters (10 nb,): for each body, in the order of `body_names`, ten about its frame's origin.

        They are (m, m c_x, m c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz), in kg, kg·m and kg·m².
        """
        return np.array(self.model.inertial_parameters, dtype=float)

    # -- as a value ---------------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Robot) and self.model == other.model

    def __hash__(self) -> int:
        return hash(self.model)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.model,)

    def __repr__(self) -> str:
        return f"<Robot {self.name!r}: {len(self.joint_names)} joints, nq = {self.nq}, nv = {self.nv}>"


def function_list() -> str:
    """Return the functions of a robot with the first line of each one's documentation."""
    lines = (inspect.getdoc(a.function) or "" for a in ALGORITHMS.values())
    return "\n".join(f"    {name} : {doc.splitlines()[0]}" for name, doc in zip(ALGORITHMS, lines, strict=True))


Robot.__doc__ = f"{inspect.getdoc(Robot)}\n\nFunctions\n---------\n{function_list()}\n"
