"""`Robot`: a model with its compiled functions, and what this room does with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.lazy import lazy_methods
from kinetree.robot.base import BaseRobot
from kinetree.signatures import friendly_call_errors

if TYPE_CHECKING:
    from kinetree.functions import of_user
    from kinetree.robot import configurations as named
    from kinetree.robot import edit, export, joint_edit, joints, solid, table
else:
    named, edit, export, joint_edit, joints, solid, table, of_user = (
        lazy_methods(f"kinetree.{module}", friendly_call_errors)
        for module in (
            *("robot.configurations", "robot.edit", "robot.export", "robot.joint_edit", "robot.joints"),
            *("robot.solid", "robot.table", "functions.of_user"),
        )
    )


class Robot(BaseRobot):
    """A robot as the rooms above this one know it; `kinetree.Robot` has the methods of these too."""

    neutral = named.neutral
    random_configuration = named.random_configuration
    random_state = named.random_state
    configuration = named.configuration
    with_configuration = named.with_configuration
    joint = joints.joint
    frame = joints.frame
    with_gravity = edit.with_gravity
    with_base_pose = edit.with_base_pose
    with_friction = edit.with_friction
    with_joint_physics = joint_edit.with_joint_physics
    with_limits = joint_edit.with_limits
    with_inertia = edit.with_inertia
    with_inertial_parameters = edit.with_inertial_parameters
    with_inertia_from_geometry = solid.with_inertia_from_geometry
    with_frame = edit.with_frame
    lock = edit.lock
    attach = edit.attach
    compile = of_user.compile
    to_urdf = export.to_urdf
    to_sdf = export.to_sdf
    to_mjcf = export.to_mjcf
    __str__ = table.as_text

    def _unknown(self, name: str) -> str:
        if type(self) is Robot:
            return f"a kinetree.robot.Robot has no {name!r}: use kinetree.Robot(model), which has all methods"
        return super()._unknown(name)
