"""`from_dh` and `from_screws`: robots from the tables of textbooks."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec

from kinetree.formats.chains import DHLink, model_from_dh, model_from_screws
from kinetree.model import Model
from kinetree.robot_methods import Robot
from kinetree.signatures import friendly_call_errors

__all__ = ["DHLink", "from_dh", "from_screws"]

P = ParamSpec("P")


def _robot_by(read: Callable[P, Model]) -> Callable[[Callable[[], None]], Callable[P, Robot]]:
    """Decorate a name and its documentation: a function with the arguments of `read` that returns its robot."""

    def decorate(documented: Callable[[], None]) -> Callable[P, Robot]:
        model_of = friendly_call_errors(read, documented.__name__)

        @functools.wraps(documented)
        def load(*args: P.args, **kwargs: P.kwargs) -> Robot:
            return Robot(model_of(*args, **kwargs))

        load.__signature__ = inspect.signature(read).replace(return_annotation="Robot")  # type: ignore[attr-defined]
        return load

    return decorate


@_robot_by(model_from_dh)
def from_dh() -> None:
    """Make a robot from Denavit–Hartenberg parameters.

    Its moving bodies are ``link1`` … ``linkn``. Its frames are these, ``base``, the DH frames ``frame1`` … ``framen``
    and ``tool``. In the modified convention body and DH frame coincide; in the standard one the DH frame is at the far
    end of the link, and the body's frame, to which f_ext refers, is at its joint: where ``Rz(θ) Tz(d)`` leads.

    Parameters
    ----------
    links : sequence of DHLink
        One row a joint.
    convention : {"standard", "modified"}
        ``T = Rz(θ) Tz(d) Tx(a) Rx(α)``, or ``T = Rx(α) Tx(a) Rz(θ) Tz(d)`` (Craig) with the a and α of the link before.
    name : str
    joint_names : sequence of str, optional
        ``joint1`` … by default.
    tool_pose : (4, 4) array-like, or SciPy's RigidTransform or Rotation, optional
        Pose of the frame ``tool`` in the last DH frame.
    base_pose : (4, 4) array-like, or SciPy's RigidTransform or Rotation, optional
        Pose of the DH frame 0 in the world.
    gravity : 3 numbers
        Acceleration of gravity in the world's axes (m/s²).

    Raises
    ------
    ModelError
        If a row is wrong; the message has its number.

    References
    ----------
    Denavit and Hartenberg 1955; Craig, *Introduction to Robotics*, section 3.4.

    Examples
    --------
    >>> from kinetree.spatial import Inertia
    >>> rod = Inertia.from_com(1.5, [-0.2, 0, 0], [[0.001, 0, 0], [0, 0.02, 0], [0, 0, 0.02]])
    >>> arm = from_dh([DHLink(a=0.4, inertia=rod), DHLink(a=0.4, inertia=rod)], gravity=(0, -9.81, 0))
    >>> print(arm.gravity_forces([0.0, 0.0]).round(4))
    [11.772  2.943]
    """


@_robot_by(model_from_screws)
def from_screws() -> None:
    """Make a robot from screw axes and home placements (product of exponentials), as *Modern Robotics* does.

    A screw may be a rotation, a translation, or a helix. The moving bodies are ``link1`` … ``linkn``. The frames are
    these, ``base``, the link frames {i} of the book as ``frame1`` … ``framen``, and ``tool``. A body's frame, to which
    f_ext refers, is parallel to {i} and on the joint's axis, where that is next to {i}.

    Parameters
    ----------
    M : (n, 4, 4) or (n + 1, 4, 4) array-like, or SciPy's RigidTransform
        M_{i−1,i}: pose of link frame i in link frame i − 1 in the home position; the last one is the tool's.
    G : (n, 6, 6) array-like
        Spatial inertias in the link frames, angular part first: ``diag(I_xx, I_yy, I_zz, m, m, m)`` for frames at the
        centre of mass along the principal axes, but any rigid body's will do.
    screws : (6, n) array-like
        Screw axes (ω, v), one column a joint, with ``|ω| = 1``, or ω = 0 and ``|v| = 1``. One of another length scales
        its coordinate, as the exponential ``e^{[S]θ}`` says, with a `FormatWarning`.
    frame : {"space", "body", "link"}
        Where the screws are given, in the home position: S_i in {0}, B_i in the tool's frame, A_i each in its {i}.
    name : str
    joint_names : sequence of str, optional
        ``joint1`` … by default.
    limits : sequence of JointLimits, optional
    armature, damping, friction : float or (n,) array-like
        Reflected rotor inertia, viscous and Coulomb friction of the joints.
    base_pose : (4, 4) array-like, or SciPy's RigidTransform or Rotation, optional
        Pose of {0} in the world.
    gravity : 3 numbers
        Acceleration of gravity in the world's axes (m/s²).

    Raises
    ------
    ModelError
        If something is not a pose, inertia or screw; the message says which.

    References
    ----------
    Lynch and Park, *Modern Robotics*, sections 4.1 and 8.3.

    Examples
    --------
    >>> import numpy as np
    >>> M = np.tile(np.eye(4), (2, 1, 1))
    >>> M[0, :3, 3] = 0.5, 0.0, 0.0  # a rod with its middle at x = 0.5, turning about y at the origin
    >>> rod = from_screws(M, [np.diag([0.001, 0.08, 0.08, 1.0, 1.0, 1.0])], np.array([[0, 1, 0, 0, 0, 0]]).T)
    >>> print(rod.gravity_forces([0.0]))
    [-4.905]
    """
