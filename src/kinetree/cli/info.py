"""``kinetree info``: what a robot is made of."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from kinetree.cli.terminal import console, load_robot_or_mechanism, print_json
from kinetree.embedded import EMBEDDED
from kinetree.model import WORLD
from kinetree.robot import Robot
from kinetree.robot.table import massless, print_robot
from kinetree.tables import make_table, print_warnings

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from kinetree.mechanism_methods import Mechanism


def run(arguments: argparse.Namespace) -> None:
    """Print the robot, or the list of those that need no file."""
    out = console()
    if arguments.robot is None:
        if arguments.json:
            print_json([vars(robot) for robot in EMBEDDED.values()])
            return
        out.print(embedded_table(out.width))
        out.print("[dim]also: a URDF or SDF file, or a robot_descriptions name[/]")
        return
    robot, warnings = load_robot_or_mechanism(arguments)
    if not isinstance(robot, Robot):
        describe_mechanism(out, robot, warnings, as_json=arguments.json)
        return
    if arguments.json:
        print_json(facts(robot) | {"warnings": [*warnings, *massless(robot.model)]})
        return
    print_robot(out, robot)
    if arguments.robot in EMBEDDED and not os.path.exists(arguments.robot):
        embedded = EMBEDDED[arguments.robot]
        out.print(f"[dim]figures from[/] {embedded.source}[dim], licence[/] {embedded.licence}")
    print_warnings(out, [*warnings, *massless(robot.model)])


def describe_mechanism(out: Console, mech: Mechanism, warnings: list[str], *, as_json: bool) -> None:
    """Print a robot with closed loops: its tree, the joints at which loops are cut, and what they leave free."""
    from kinetree.robot import mechanism_text

    found = [*warnings, *massless(mech.tree.model)]
    if as_json:
        print_json(facts(mech.tree) | mechanism_text.facts(mech) | {"warnings": found})
        return
    mechanism_text.print_mechanism(out, mech)
    print_warnings(out, found)


def embedded_table(width: int) -> Table:
    """Return the table of the embedded robots."""
    headings = ("robot", "what it is", "base", "figures from")
    rows = [
        (robot.name, robot.description, "floating" if robot.floating else "fixed", robot.source)
        for robot in EMBEDDED.values()
    ]
    return make_table(dict.fromkeys(headings, "left"), rows, width, optional=["figures from", "base"], cut=1)


def facts(robot: Robot) -> dict[str, object]:
    """Return what `info` shows, for JSON."""
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
