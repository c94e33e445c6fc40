"""`Mechanism` as users hold it: with the methods of the rooms above `robot`, as `kinetree.robot_methods` has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.algorithms.table import documented
from kinetree.constraints import MECHANISM_ALGORITHMS
from kinetree.lazy import lazy_methods
from kinetree.robot import mechanism
from kinetree.robot_methods import Robot
from kinetree.signatures import friendly_call_errors

if TYPE_CHECKING:
    import kinetree.simulation.simulate as simulation
    from kinetree import inverse_kinematics as ik
    from kinetree.functions import of_user
    from kinetree.identification.estimation import identify  # of the package it may be taken for the module
    from kinetree.robot import export
    from kinetree.robot import mechanism_positions as positions
    from kinetree.robot import mechanism_text as text
    from kinetree.robot import mobility as analysis
    from kinetree.viewer import view as viewer
else:
    identification, simulation, ik, of_user, export, positions, text, analysis, viewer = (
        lazy_methods(f"kinetree.{module}", friendly_call_errors)
        for module in (
            *("identification", "simulation", "inverse_kinematics", "functions.of_user", "robot.export"),
            *("robot.mechanism_positions", "robot.mechanism_text", "robot.mobility", "viewer.view"),
        )
    )
    identify = identification.identify


@documented(MECHANISM_ALGORITHMS)
class Mechanism(mechanism.Mechanism):
    """A robot with constraints: a tree of bodies, `tree`, and what closes its loops, holds it or couples its joints.

    ==============  ===================================================================================================
    what it is      tree, model, constraints, constraint_names, nrows, row_slices, slots, nq, nv, nb, actuated,
                    independent, stabilization, length, print(mech)
    positions       complete_positions, mobility
    another one     with_stabilization
    {functions}
    motion          inverse_kinematics, inverse_kinematics_solver, differential_inverse_kinematics, simulate,
                    simulation, view
    identification  identify
    code, files     compile, warmup, to_urdf, to_sdf, to_mjcf
    ==============  ===================================================================================================

    A function (``mech.forward_dynamics``, …) is compiled for this mechanism at its first call, and cached on disk, as
    those of a `Robot`; all take leading batch axes. What does not depend on the constraints is a function of
    ``mech.tree``. A mechanism does not change, and pickles.

    Parameters
    ----------
    robot : Robot
        The tree: with closed loops, what is left when each is cut at one joint.
    constraints : iterable of Constraint
        `Weld`, `Loop`, `Rod`, `Gear`, `Contact` and `Wheel` of `kinetree`, of its frames and joints.
    actuated : iterable of str, optional
        The joints that are driven, for `inverse_dynamics`. If not given, all that could be: every joint but a
        `FreeFlyer`, a floating base or platform (those whose type says ``actuated = False``).
    independent : iterable of str, optional
        The velocities that determine all others, as many as the mobility: names of joints, or of single entries of v
        such as ``root_joint.vx``. If not given, those of the actuated joints if they will do, else others of them
        (QR with column pivoting at a configuration in which the constraints hold; should none be found, because they
        cannot all hold at once, then where they come next to it).
    stabilization : float
        ω ≥ 0 (1/s): with it, `forward_dynamics` brings errors of positions and velocities back to zero, critically
        damped, ``φ̈ + 2ω φ̇ + ω² φ = 0``. 0 leaves them as they are.

    Attributes
    ----------
    tree : Robot
    constraints : tuple of Constraint
    stabilization : float
    actuated : tuple of str
        Names of the driven joints, in the order of v.
    independent : tuple of str
        Names of the independent velocities, in the order of v; the joint's where it has one velocity.
    constraint_names : tuple of str
        In the order of `constraints`, and of what `ContactInputs` has for each.
    row_slices : mapping of str to slice
        The rows of each constraint in f, J and the like, by its name.
    nrows : int
        Number of rows.
    nq, nv, nb : int
        Those of the tree.

    Raises
    ------
    ArgumentError
        If there is no constraint, two have one name, or the stabilization is negative; if `actuated` or `independent`
        names a joint that does not exist, or the independent velocities are not as many as the mobility.
    ModelError
        If a constraint names a frame or joint that the robot does not have, or two frames of one body.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("go2")
    >>> mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")])
    >>> mech
    <Mechanism of 'go2': nv = 18, 4 constraints with 12 rows>
    >>> q, v, tau = robot.neutral(), [0.0] * robot.nv, [0.0] * robot.nv
    >>> a, f = mech.forward_dynamics(q, v, tau, contacts=kt.ContactInputs(active=[1, 0, 0, 1]))
    >>> bool((f[mech.row_slices["contact_FR_foot"]] == 0).all())
    True
    """

    if TYPE_CHECKING:
        tree: Robot

    _tree_kind = Robot
    complete_positions = positions.complete_positions
    mobility = analysis.mobility
    inverse_kinematics = ik.inverse_kinematics
    inverse_kinematics_solver = ik.inverse_kinematics_solver
    differential_inverse_kinematics = ik.differential_inverse_kinematics
    simulate = simulation.simulate
    simulation = simulation.simulation
    view = viewer.view
    identify = identify
    compile = of_user.compile
    to_urdf = export.to_urdf
    to_sdf = export.to_sdf
    to_mjcf = export.to_mjcf
    __str__ = text.as_text
