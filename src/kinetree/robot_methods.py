"""`Robot` as users hold it: with the methods of the rooms above `robot`, which no room below names.

They are imported at their first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.algorithms.table import ALGORITHMS, documented
from kinetree.lazy import lazy_methods
from kinetree.robot import robot
from kinetree.signatures import friendly_call_errors

if TYPE_CHECKING:
    import kinetree.simulation.simulate as simulation
    from kinetree import excitation, identification
    from kinetree import inverse_kinematics as ik
    from kinetree.identification.estimation import identify  # of the package it may be taken for the module
    from kinetree.viewer import view as viewer
else:
    excitation, identification, simulation, ik, viewer = (
        lazy_methods(f"kinetree.{room}", friendly_call_errors)
        for room in ("excitation", "identification", "simulation", "inverse_kinematics", "viewer.view")
    )
    identify = identification.identify


@documented(ALGORITHMS)
class Robot(robot.Robot):
    """A robot: its model, and one compiled function for each algorithm.

    ==============  ===================================================================================================
    what it is      name, model, nq, nv, nb, mass, gravity, inertial_parameters, print(robot)
    names           joint_names, q_names, v_names, body_names, frame_names
    joints, frames  joint, frame, lower_limits, upper_limits, velocity_limits, effort_limits, armature, damping,
                    friction, stiffness, rest_positions
    shapes, motors  geometry, visual_geometry, collision_geometry, actuators, actuation
    positions       neutral, random_configuration, random_state, configurations, configuration
    another robot   with_gravity, with_base_pose, with_friction, with_joint_physics, with_limits, with_inertia,
                    with_inertial_parameters, with_inertia_from_geometry, with_frame, with_configuration, lock, attach
    {functions}
    motion          inverse_kinematics, inverse_kinematics_solver, differential_inverse_kinematics, simulate,
                    simulation, view
    identification  excite, base_parameters, identify, identify_payload
    code, files     compile, warmup, to_urdf, to_sdf, to_mjcf
    ==============  ===================================================================================================

    A function (``robot.inverse_dynamics``, …) is compiled for this robot at its first call, and cached on disk for
    the next process. All take leading batch axes that broadcast like NumPy's. A robot does not change; what
    would change it returns another one.

    Parameters
    ----------
    model : Model
        With plain numbers. `kinetree.load` makes one from a file or a name, `ModelBuilder` from Python.
    configurations : mapping of str to (nq,) array, optional
        Named configurations (see `with_configuration`).
    geometry : kinetree.geometry.Geometries, or function without arguments that returns them, optional
        The shapes of the links.
    actuators : iterable of Actuator, optional
        The motors, in the order of the columns of `actuation`.

    Attributes
    ----------
    actuators : tuple of Actuator
        Of an MJCF file, or as given.
    configurations : mapping of str to (nq,) array
        The named configurations, read-only: of an SRDF file (`kinetree.load`), or of `with_configuration`.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("panda")
    >>> q, v, a = robot.random_state(seed=0)
    >>> robot.inverse_dynamics(q, v, a).shape
    (7,)
    """

    inverse_kinematics = ik.inverse_kinematics
    inverse_kinematics_solver = ik.inverse_kinematics_solver
    differential_inverse_kinematics = ik.differential_inverse_kinematics
    simulate = simulation.simulate
    simulation = simulation.simulation
    view = viewer.view
    excite = excitation.excite
    base_parameters = identification.base_parameters
    identify = identify
    identify_payload = identification.identify_payload
