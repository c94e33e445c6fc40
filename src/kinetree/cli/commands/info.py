"""``kinetree info``: what a robot is made of."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from functools import partial

from kinetree.cli.options import load_robot_or_mechanism
from kinetree.cli.terminal import console, print_json
from kinetree.embedded import EMBEDDED
from kinetree.model import WORLD
from kinetree.robot import Robot
from kinetree.robot.table import massless, print_robot
from kinetree.tables import Cells, print_warnings


def run(arguments: argparse.Namespace) -> None:
    """Print the robot, or the list of those that need no file."""
    out, name = console(), arguments.robot
    if name is None:
        list_embedded(arguments)
        return
    robot, warnings = load_robot_or_mechanism(arguments)
    more: dict[str, object] = {}
    show: Callable[[], None]
    if isinstance(robot, Robot):
        tree, show = robot, partial(print_robot, out, robot)
    else:
        from kinetree.robot import mechanism_text

        tree, more = robot.tree, mechanism_text.facts(robot)
        show = partial(mechanism_text.print_mechanism, out, robot)
    warnings += massless(tree.model)
    if arguments.json:
        print_json(facts(tree) | more | {"warnings": warnings})
        return
    show()
    if name in EMBEDDED and not os.path.exists(name):
        out.print(f"[dim]figures from[/] {EMBEDDED[name].source}[dim], licence[/] {EMBEDDED[name].licence}")
    print_warnings(out, warnings)


def list_embedded(arguments: argparse.Namespace) -> None:
    """Print the embedded robots."""
    if arguments.json:
        print_json([vars(robot) for robot in EMBEDDED.values()])
        return
    out, headings = console(), ("robot", "what it is", "base", "figures from")
    rows = [(x.name, x.description, "floating" if x.floating else "fixed", x.source) for x in EMBEDDED.values()]
    out.print(Cells(dict.fromkeys(headings, "left"), rows, ("figures from", "base"), cut=1).for_terminal(out.width))
    out.print("[dim]also: a URDF, xacro, SDF or MJCF file, or a robot_descriptions name[/]")


def facts(robot: Robot) -> dict[str, object]:
    """Return the content of `info`, for JSON."""
    model = robot.model
    joints = [
        {
            "name": body.joint_name,
            "type": type(body.joint).__name__.lower(),
            "axis": getattr(body.joint, "axis", None),
            "body": body.name,
            "parent": None if body.parent == WORLD else model.bodies[body.parent].name,
            "q_index": body.q_index,
            "v_index": body.v_index,
            **vars(body.limits),
            **{what: getattr(body, what)[0] for what in ("damping", "friction", "armature") if len(body.v_index) == 1},
            "mass": body.inertia.m,
        }
        for body in model.bodies
    ]
    fixed_to = {f.name: None if f.body == WORLD else model.bodies[f.body].name for f in model.frames}
    sizes = {key: getattr(robot, key) for key in ("nq", "nv", "mass")}
    return {"name": robot.name, **sizes, "actuated": model.actuated, "joints": joints, "frames": fixed_to}
