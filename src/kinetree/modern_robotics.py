"""The Newton–Euler equations in closed form, as Lynch and Park's *Modern Robotics* (MR, section 8.4) prints them.

For teaching, and for checking everything else: plain NumPy, one state at a time, nothing compiled. The recursion over
the links is a block matrix W that is nilpotent (``Wⁿ = 0``), so its sum ``I + W + … + Wⁿ⁻¹`` is ``L = (I − W)⁻¹``, and
all of dynamics is products of a few matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ModelError
from kinetree.lazy import cached_property
from kinetree.model import WORLD, Model
from kinetree.model.checks import about_com
from kinetree.robot import Robot
from kinetree.spatial import Transform
from kinetree.spatial.numpy_matrices import ad, adjoint, exponential, inverse, skew
from kinetree.validation import Array, real_array

__all__ = ["ClosedForm", "ScrewChain", "ad", "adjoint", "exponential"]

Six: TypeAlias = ArrayLike | None
"""A twist or a wrench (6,), the angular part first; None for the default."""


@dataclass(frozen=True, eq=False)
class ScrewChain:
    """A serial chain as MR describes it: link frames at the centres of mass, and screws in them.

    Attributes
    ----------
    M : (n + 1, 4, 4) array
        M_{i−1,i}: pose of link frame i in link frame i − 1 in the home position θ = 0; the last is the tool's.
    G : (n, 6, 6) array
        Spatial inertias in the link frames, angular part first.
    A : (6, n) array
        Screw axes in the link frames, one column a joint.
    index : tuple of int
        Where each joint of the chain has its entry in θ.
    gravity : (3,) array
        Acceleration of gravity in {0} (m/s²).
    """

    M: Array
    G: Array
    A: Array
    index: tuple[int, ...]
    gravity: Array

    @classmethod
    def of(cls, robot: Robot | Model, tool: str | None = None) -> ScrewChain:
        """Return a robot as a chain; `kinetree.from_screws(chain.M, chain.G, chain.A, frame="link")` is the inverse.

        Parameters
        ----------
        robot : Robot or Model
            With a fixed base, one body after the other, and joints of one degree of freedom. Rotor inertias
            (armature) and friction are left out: the book adds them elsewhere (MR section 8.9).
        tool : str, optional
            The frame that is {n+1}; the last link frame if it is not given.

        Raises
        ------
        ModelError
            If the robot is no such chain; the message names the body.
        """
        model = robot.model if isinstance(robot, Robot) else robot
        M, G, A, last = [], [], [], np.eye(4)  # last: pose of link frame i − 1 in its body's frame
        for i, body in enumerate(model.bodies):
            if body.parent != (i - 1 if i else WORLD):
                raise ModelError(f"body {body.name!r} branches off: the closed form is for serial chains")
            if len(body.v_index) != 1 or body.joint_name not in model.joint_names:
                kind = type(body.joint).__name__
                raise ModelError(
                    f"joint {body.joint_name!r} is a {kind}: each joint must have one coordinate of its own"
                )
            home, moved = (body.joint.jcalc([q], [1.0]) for q in (0.0, 1.0))
            if not np.allclose([*home.S[0]], [*moved.S[0]], rtol=0, atol=1e-12):
                raise ModelError(f"the axis of joint {body.joint_name!r} moves in its body: it is not a screw")
            I, com = body.inertia, np.eye(4)
            if I.m > 0.0:
                com[:3, 3] = np.array([*I.h]) / I.m
            M.append(inverse(last) @ _pose(body.X_T) @ _pose(home.X) @ com)
            A.append(adjoint(inverse(com)) @ np.array([*home.S[0]]))
            G.append(np.block([[about_com(I), np.zeros((3, 3))], [np.zeros((3, 3)), I.m * np.eye(3)]]))
            if I.m == 0.0:  # a moment h = m c without mass stays what it is
                G[-1][:3, 3:], G[-1][3:, :3] = skew(np.array([*I.h])), skew(np.array([*I.h])).T
            last = com
        M.append(inverse(last) @ _tool(model, tool, last))
        index = tuple(body.v_index[0] for body in model.bodies)
        return cls(np.array(M), np.array(G), np.array(A).T, index, np.array([*model.gravity]))

    @property
    def n(self) -> int:
        """The number of joints."""
        return len(self.index)


def _pose(X: Transform) -> Array:
    return np.array(X.placement, dtype=np.float64)


def _tool(model: Model, name: str | None, last: Array) -> Array:
    if name is None or not model.bodies:
        return last
    frame = model.frame(name)
    if frame.body != model.nb - 1:
        raise ModelError(f"frame {name!r} is not on the last link, {model.bodies[-1].name!r}")
    return _pose(frame.X)


@dataclass(frozen=True, eq=False)
class ClosedForm:
    """The matrices of the closed form at one configuration, and what follows from them.

    Stacked twists and wrenches have 6n entries, (ω, v) and (m, f) link by link, each in its link frame.

    Parameters
    ----------
    chain : ScrewChain, Robot or Model
    theta : (n,) array-like
        Joint coordinates (rad, m), in the robot's order.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> q, v, a = robot.random_state(seed=0)
    >>> form = ClosedForm(robot, q)
    >>> np.allclose(form.M, robot.mass_matrix(q)), np.allclose(form.tau(v, a), robot.inverse_dynamics(q, v, a))
    (True, True)
    >>> bool(np.linalg.matrix_power(form.W, 6).any())  # nilpotent
    False
    """

    chain: ScrewChain
    theta: Array

    def __init__(self, chain: ScrewChain | Robot | Model, theta: ArrayLike) -> None:
        chain = chain if isinstance(chain, ScrewChain) else ScrewChain.of(chain)
        object.__setattr__(self, "chain", chain)
        object.__setattr__(self, "theta", real_array("theta", theta, chain.n, batch=False))

    # -- the block matrices (MR eqs. 8.65 to 8.69) ---------------------------------------------------------------

    @cached_property
    def Ad(self) -> list[Array]:
        """The n + 1 matrices Ad_{T_{i,i−1}}, with ``T_{i,i−1} = e^{−[A_i]θ_i} M_{i,i−1}``."""
        c = self.chain
        q = self.theta[list(c.index)]
        T = [exponential(A, -x) @ inverse(M) for A, x, M in zip(c.A.T, q, c.M, strict=False)]
        return [adjoint(x) for x in (*T, inverse(c.M[-1]))]

    @cached_property
    def A(self) -> Array:
        """The screws, (6n, n): block diagonal where the joints are in the order of the chain."""
        A = np.zeros((6 * self.chain.n, self.chain.n))
        for i, k in enumerate(self.chain.index):
            A[6 * i : 6 * i + 6, k] = self.chain.A[:, i]
        return A

    @cached_property
    def G(self) -> Array:
        """The inertias, (6n, 6n), block diagonal."""
        return _diagonal(self.chain.G)

    @cached_property
    def W(self) -> Array:
        """The steps from link to link, (6n, 6n): Ad_{T_{i,i−1}} below the diagonal, and Wⁿ = 0."""
        W = np.zeros_like(self.G)
        for i in range(1, self.chain.n):
            W[6 * i : 6 * i + 6, 6 * i - 6 : 6 * i] = self.Ad[i]
        return W

    @cached_property
    def L(self) -> Array:
        """``L = (I − W)⁻¹ = I + W + … + Wⁿ⁻¹``, (6n, 6n)."""
        L = np.eye(6 * self.chain.n)
        for _ in range(self.chain.n - 1):
            L = np.eye(6 * self.chain.n) + self.W @ L
        return L

    # -- dynamics (MR eqs. 8.70 to 8.78) -------------------------------------------------------------------------

    @property
    def M(self) -> Array:
        """The mass matrix (n, n): ``M = Aᵀ Lᵀ G L A``."""
        return self.A.T @ self.L.T @ self.G @ self.L @ self.A

    @property
    def g(self) -> Array:
        """The gravity forces (n,): ``g = Aᵀ Lᵀ G L V̇_base``."""
        return self.A.T @ self.L.T @ self.G @ self.L @ self._base(None)

    @property
    def J(self) -> Array:
        """The tool's Jacobian (6, n) in the tool's frame."""
        return self.Ad[-1] @ (self.L @ self.A)[-6:]

    def c(self, dtheta: ArrayLike) -> Array:
        """Return the Coriolis and centripetal forces (n,): ``c = −Aᵀ Lᵀ (G L [ad_{Aθ̇}] W + [ad_V]ᵀ G) L A θ̇``."""
        A, G, W, L = self.A, self.G, self.W, self.L
        rate = A @ self._vector("dtheta", dtheta)
        return -A.T @ L.T @ (G @ L @ _ads(rate) @ W + _ads(L @ rate).T @ G) @ L @ rate

    def V(self, dtheta: ArrayLike, V0: Six = None) -> Array:
        """Return the twists (6n,): ``V = L (A θ̇ + V_base)``; V0 (6,) is the base's twist in {0}, at rest by default."""
        return self.L @ (self.A @ self._vector("dtheta", dtheta) + self._first(V0))

    def dV(self, dtheta: ArrayLike, ddtheta: ArrayLike, V0: Six = None, dV0: Six = None) -> Array:
        """Return the accelerations (6n,): ``V̇ = L (A θ̈ − [ad_{Aθ̇}] (W V + V_base) + V̇_base)``.

        dV0 (6,) is the base's, with gravity in it: (0, −g) by default.
        """
        rate, rise = (self.A @ self._vector(*x) for x in (("dtheta", dtheta), ("ddtheta", ddtheta)))
        return self.L @ (rise - _ads(rate) @ (self.W @ self.V(dtheta, V0) + self._first(V0)) + self._base(dV0))

    def F(self, dtheta: ArrayLike, ddtheta: ArrayLike, F_tip: Six = None, V0: Six = None, dV0: Six = None) -> Array:
        """Return the wrenches through the joints (6n,): ``F = Lᵀ (G V̇ − [ad_V]ᵀ G V + F_tip)``."""
        V, dV, tip = self.V(dtheta, V0), self.dV(dtheta, ddtheta, V0, dV0), np.zeros(6 * self.chain.n)
        if F_tip is not None:
            tip[-6:] = self.Ad[-1].T @ real_array("F_tip", F_tip, 6, batch=False)
        return self.L.T @ (self.G @ dV - _ads(V).T @ self.G @ V + tip)

    def tau(self, dtheta: ArrayLike, ddtheta: ArrayLike, F_tip: Six = None, V0: Six = None, dV0: Six = None) -> Array:
        """Return the joint forces (n,) ``τ = Aᵀ F``; over a base at rest, ``τ = M θ̈ + c + g + Jᵀ F_tip``.

        Parameters
        ----------
        dtheta, ddtheta : (n,) array-like
            Joint velocities and accelerations, in the robot's order.
        F_tip : (6,) array-like, optional
            Wrench (m, f) that the robot exerts *on its surroundings*, in the tool's frame: the opposite of f_ext.
        V0 : (6,) array-like, optional
            Twist of the base in {0}; zero if not given.
        dV0 : (6,) array-like, optional
            Its rate with gravity in it, ``(0, −g)`` if not given.
        """
        return self.A.T @ self.F(dtheta, ddtheta, F_tip, V0, dV0)

    def _vector(self, name: str, value: ArrayLike) -> Array:
        return real_array(name, value, self.chain.n, batch=False)

    def _first(self, twist: Six) -> Array:
        """Return Ad_{T_10} times the base's twist in the first block, zero in the others."""
        stacked = np.zeros(6 * self.chain.n)
        if twist is not None:
            stacked[:6] = self.Ad[0] @ real_array("V0 or dV0", twist, 6, batch=False)
        return stacked

    def _base(self, dV0: Six) -> Array:
        return self._first(np.concatenate([np.zeros(3), -self.chain.gravity]) if dV0 is None else dV0)


def _diagonal(blocks: Sequence[Array] | Array) -> Array:
    n = len(blocks)
    out = np.zeros((6 * n, 6 * n))
    for i, block in enumerate(blocks):
        out[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] = block
    return out


def _ads(V: Array) -> Array:
    """Return the block-diagonal [ad_V] of stacked twists."""
    return _diagonal([ad(v) for v in V.reshape(-1, 6)])
