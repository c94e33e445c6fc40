"""``kinetree view``: a robot in a browser."""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from kinetree.cli.motion import configuration
from kinetree.cli.options import load_robot_or_mechanism
from kinetree.cli.terminal import console, print_files, print_json
from kinetree.motions import Trajectory
from kinetree.output import check_output
from kinetree.robot import Robot
from kinetree.tables import print_warnings


def run(arguments: argparse.Namespace) -> None:
    """Serve the page until Ctrl-C, or write it."""
    if arguments.html is not None:
        check_output(arguments.html, None, (".html",))
    robot, found = load_robot_or_mechanism(arguments)
    tree = robot if isinstance(robot, Robot) else robot.tree
    q = configuration(arguments, tree)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if arguments.html is not None:
            Trajectory(tree, [0.0], q[None], np.zeros((1, tree.nv))).save_html(arguments.html, shapes=arguments.shapes)
            page = arguments.html
        else:
            shown = robot.view(q, shapes=arguments.shapes, port=arguments.port, browser=arguments.browser)
            page = shown.url
    found += [str(warning.message) for warning in caught]
    if arguments.json:
        print_json({"name": tree.name, "page": page, "warnings": found})
    else:
        print_warnings(console(), found)
    if arguments.html is not None:
        print_files([] if arguments.json else [arguments.html])
        return
    if not arguments.json:
        console().print(f"{tree.name} is at {shown.url}; Ctrl-C ends it")
    shown.wait()
