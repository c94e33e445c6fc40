"""The arguments, and their help."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from kinetree._version import __version__
from kinetree.cli import descriptions, excite_arguments, identify_arguments
from kinetree.cli.options import add_dynamics_options, add_robot_options
from kinetree.cli.readers import gains, joined, number

JSON = "print it as JSON, for programs"
INTEGRATORS = "semi_implicit_euler, euler, implicit_euler, rk4, tsitouras, variational"
ROBOT = "an embedded robot (ur5, panda, go2, g1), a URDF or SDF file, or a robot_descriptions name"

EXAMPLES = """\
examples:
  kinetree info                                    list the robots that need no file
  kinetree info panda                              joints, limits, masses, frames
  kinetree info my_robot.urdf --floating-base
  kinetree inverse-dynamics panda motion.csv -o torques.csv
  kinetree inverse-dynamics panda --plot torques.png
  kinetree simulate panda --duration 2 --plot fall.png --animate fall.gif
  kinetree excite panda -o motion.csv --plot motion.png
  kinetree identify arm.urdf a.csv b.csv --validate c.csv -o identified.urdf --report report.html
  kinetree export panda inverse_dynamics -o panda_id.c
  kinetree cache                                   where compiled functions are kept, and how many
"""


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the parsed arguments, with options and positional arguments in any order.

    An optional positional argument gets its default from argparse as soon as an option follows ROBOT; what
    comes after that option is then left over, and is the TRAJECTORY.
    """
    parser = make_parser()
    arguments, rest = parser.parse_known_args(joined(sys.argv[1:] if argv is None else argv))
    if getattr(arguments, "trajectory", "") is None and len(rest) == 1 and (rest[0] == "-" or rest[0][:1] != "-"):
        arguments.trajectory = rest.pop()
    if "logs" in arguments and not any(name[:1] == "-" for name in rest):
        arguments.logs += rest
        rest = []
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    return arguments


def make_parser() -> argparse.ArgumentParser:
    """Return the parser; `module` has the chosen command, in its function `run` of the parsed arguments."""
    parser = argparse.ArgumentParser(
        prog="kinetree",
        description="Rigid-body dynamics of robots.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"kinetree {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_info(commands)
    _add_inverse_dynamics(commands)
    _add_simulate(commands)
    excite = excite_arguments.add(commands, ROBOT, JSON)
    add_robot_options(excite)
    add_dynamics_options(excite)
    add_robot_options(identify := identify_arguments.add(commands, ROBOT, JSON))
    identify_arguments.add_choices(identify)
    _add_export(commands)
    _add_cache(commands)
    return parser


def _add_info(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "info",
        help="what a robot is made of: joints, limits, masses, frames",
        description="What a robot is made of: joints, limits, masses, frames. Without ROBOT: the embedded robots.",
    )
    command.add_argument("robot", metavar="ROBOT", nargs="?", help=ROBOT)
    command.add_argument("--json", action="store_true", help=JSON)
    add_robot_options(command)
    command.set_defaults(module="kinetree.cli.info")


def _add_inverse_dynamics(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "inverse-dynamics",
        help="joint torques of a motion, against the limits",
        description=descriptions.INVERSE_DYNAMICS,
        epilog=descriptions.INVERSE_DYNAMICS_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("robot", metavar="ROBOT", help=ROBOT)
    command.add_argument("trajectory", metavar="TRAJECTORY", nargs="?", help="CSV or NPZ; - reads a CSV from stdin")
    command.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="write the torques to OUT.csv or OUT.npz; - writes a CSV to stdout, and the summary to stderr",
    )
    command.add_argument("--plot", metavar="FILE", help="draw the torques: FILE.png, .svg or .pdf, or 'show' a window")
    command.add_argument("-q", "--quiet", action="store_true", help="no summary, no progress")
    command.add_argument("--json", action="store_true", help=JSON)
    add_robot_options(command)
    add_dynamics_options(command)
    smoothing = command.add_argument_group("differentiation, if the file has no v or a")
    smoothing.add_argument("--window", type=number(int, "≥", 5), metavar="N", help="samples in a fit, ≥ 5 (15)")
    made = command.add_argument_group("the motion made without a TRAJECTORY")
    made.add_argument("--duration", type=number(float, ">", 0), metavar="S", help="seconds, > 0 (10)")
    made.add_argument("--rate", type=number(float, ">", 0), metavar="HZ", help="samples a second, > 0 (100)")
    made.add_argument("--seed", type=number(int, "≥", 0), metavar="N", help="of the random motion, ≥ 0 (0)")
    command.set_defaults(module="kinetree.cli.inverse_dynamics")


def _add_simulate(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "simulate",
        help="how a robot moves: falling, held, or under torques",
        description=descriptions.SIMULATE,
        epilog=descriptions.SIMULATE_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("robot", metavar="ROBOT", help=ROBOT)
    command.add_argument("-o", "--output", metavar="OUT", help="write the motion to OUT.csv, OUT.npz or OUT.parquet")
    command.add_argument("--plot", metavar="FILE", help="draw it over time: FILE.png, .svg or .pdf, or 'show' a window")
    command.add_argument("--animate", metavar="FILE", help="draw it moving: FILE.gif, or FILE.mp4 by ffmpeg")
    command.add_argument("-q", "--quiet", action="store_true", help="no summary, no progress")
    command.add_argument("--json", action="store_true", help=JSON)
    add_robot_options(command)
    add_dynamics_options(command, friction=False)
    begin = command.add_argument_group("where it begins")
    begin.add_argument("--q", nargs="+", metavar="X", help="nq numbers, or the name of a configuration (neutral)")
    begin.add_argument("--v", nargs="+", metavar="X", help="nv numbers (at rest)")
    begin.add_argument("--random", action="store_true", help="at random positions within the limits")
    begin.add_argument("--seed", type=number(int, "≥", 0), metavar="N", help="of --random, ≥ 0 (0)")
    driven = command.add_argument_group("what drives it")
    force = driven.add_mutually_exclusive_group()
    force.add_argument("--tau", nargs="+", metavar="X", help="nv constant joint forces, N·m or N (none)")
    force.add_argument(
        "--hold",
        nargs="?",
        const=(100.0, 20.0),
        type=gains,
        metavar="KP,KD",
        help="hold the first position, by the joints' accelerations KP (q0 - q) - KD v (100,20)",
    )
    driven.add_argument(
        "--joints",
        default="all",
        metavar="PARTS",
        help="what counts of the file's: any of stops,effort,friction, or all, or none (%(default)s)",
    )
    time = command.add_argument_group("time")
    time.add_argument("--duration", type=number(float, ">", 0), default=1.0, metavar="S", help="seconds, > 0 (1)")
    time.add_argument("--dt", type=number(float, ">", 0), default=1e-3, metavar="S", help="of a step, > 0 (0.001)")
    time.add_argument(
        "--integrator",
        metavar="NAME",
        help=f"the method: {INTEGRATORS} (semi_implicit_euler, or implicit_euler where friction counts)",
    )
    tolerance = number(float, ">", 0)
    time.add_argument("--rtol", type=tolerance, metavar="X", help="relative error of a step of tsitouras, > 0 (1e-6)")
    time.add_argument("--atol", type=tolerance, metavar="X", help="absolute error of a step of tsitouras, > 0 (1e-8)")
    time.add_argument(
        "--record-every", type=number(int, "≥", 1), metavar="N", help="keep every N-th step (about 1000 in all)"
    )
    command.set_defaults(module="kinetree.cli.simulate")


def _add_export(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "export",
        help="a function of a robot as C",
        description=descriptions.EXPORT,
        epilog=descriptions.EXPORT_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("robot", metavar="ROBOT", help=ROBOT)
    command.add_argument("function", metavar="FUNCTION", help="one of the robot's functions: inverse_dynamics, …")
    command.add_argument(
        "-o", "--output", metavar="OUT", help="OUT.c, or a directory; - writes the source to stdout (FUNCTION.c, here)"
    )
    command.add_argument("--name", help="of the function in C (FUNCTION)")
    command.add_argument("--dtype", choices=("float64", "float32"), default="float64", help="of the numbers (float64)")
    command.add_argument(
        "--option", metavar="NAME=VALUE", action="append", default=[], help="an option of FUNCTION: frame=panda_hand"
    )
    command.add_argument(
        "--optional", metavar="NAME", action="append", default=[], help="an optional argument to take: f_ext"
    )
    command.add_argument(
        "--lanes", type=number(int, "≥", 1), metavar="N", help="a function of many states, N at a time: 1, 2, 4, 8, 16"
    )
    command.add_argument("--main", action="store_true", help="add a program that reads states and prints results")
    command.add_argument("--json", action="store_true", help=JSON)
    add_robot_options(command)
    add_dynamics_options(command)
    command.set_defaults(module="kinetree.cli.export")


def _add_cache(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "cache",
        help="where compiled functions are kept, how many; clear removes them",
        description="Where compiled functions are kept, and how many. KINETREE_CACHE_DIR names another directory.",
    )
    command.add_argument("action", metavar="clear", nargs="?", choices=("clear",), help="remove them")
    command.add_argument("--json", action="store_true", help=JSON)
    command.set_defaults(module="kinetree.cli.cache")
