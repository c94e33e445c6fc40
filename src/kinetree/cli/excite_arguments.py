"""The arguments of ``kinetree excite``."""

from __future__ import annotations

import argparse

from kinetree.cli.readers import joint_terms, number, numbers

DESCRIPTION = """\
A motion worth recording, for identification: every joint follows a Fourier series, from rest to rest, that tells the
robot's parameters as well as its limits let it. Prints how each joint is used, and how exactly every base parameter
will be known from such a record, before anything moves; writes the motion with -o, and draws it with --plot.

Ctrl-C ends the search early: the best motion until then is summed up, written and drawn. --resume continues with a
motion that was written, for which the period and so on must be the same. A floating base is held: as on a stand.
"""

EXAMPLES = """\
examples:
  kinetree excite panda -o motion.csv --plot motion.png
  kinetree excite ur5 --period 20 --noise 0.5 --box ee_link=-0.8,0.8,-0.8,0.8,0.1,1.2 -o motion.csv
  kinetree excite panda --criterion condition --iterations 1000 --resume motion.csv -o better.csv
  kinetree excite arm.urdf --limit wheel=-3,3,1.5 --terms friction
"""


def add(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], robot: str, json: str
) -> argparse.ArgumentParser:
    """Add the command, and return it for the options that all commands share."""
    command: argparse.ArgumentParser = commands.add_parser(
        "excite",
        help="a motion to record for identification, within the limits",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    above, least = number(float, ">", 0), number(int, "≥", 1)
    command.add_argument("robot", metavar="ROBOT", help=robot)
    command.add_argument("-o", "--output", metavar="OUT", help="write the motion to OUT.csv, OUT.npz or OUT.parquet")
    command.add_argument("--plot", metavar="FILE", help="draw it: FILE.png, .svg or .pdf, or 'show' a window")
    command.add_argument("-q", "--quiet", action="store_true", help="no summary, no progress")
    command.add_argument("--json", action="store_true", help=json)
    motion = command.add_argument_group("the motion")
    motion.add_argument("--period", type=above, default=10.0, metavar="S", help="of the series, seconds (10)")
    motion.add_argument("--harmonics", type=least, default=5, metavar="N", help="how many frequencies it has (5)")
    motion.add_argument("--periods", type=least, default=1, metavar="N", help="how often it is repeated (1)")
    motion.add_argument(
        "--ramp", type=above, metavar="S", help="seconds from rest to the series (a fifth of the period)"
    )
    motion.add_argument("--start", nargs="+", metavar="X", help="nq numbers, where it rests (where it is best)")
    motion.add_argument("--joints", type=names, metavar="A,B", help="those that move (all)")
    motion.add_argument("--rate", type=above, default=200.0, metavar="HZ", help="samples a second (200)")
    within = command.add_argument_group("what it keeps within")
    within.add_argument("--fraction", type=above, default=0.9, metavar="X", help="of the robot's limits (0.9)")
    within.add_argument(
        "--limit",
        type=limit,
        action="append",
        default=[],
        metavar="JOINT=LOWER,UPPER,SPEED",
        help="limits of a joint in the place of the file's",
    )
    within.add_argument(
        "--acceleration", type=numbers, metavar="X", help="of all joints, or of each: rad/s², m/s² (none)"
    )
    within.add_argument(
        "--box",
        type=box,
        action="append",
        default=[],
        metavar="FRAME=X0,X1,Y0,Y1,Z0,Z1",
        help="where a frame may be, in metres",
    )
    search = command.add_argument_group("what it is for")
    search.add_argument(
        "--terms",
        type=joint_terms,
        default=joint_terms("armature,damping,friction"),
        metavar="A,B@JOINT",
        help="what is to be estimated of the joints (armature,damping,friction)",
    )
    search.add_argument(
        "--noise", type=numbers, metavar="X", help="of all joints' forces, or of each (0.01 of the effort limits)"
    )
    search.add_argument(
        "--criterion",
        choices=("determinant", "condition"),
        default="determinant",
        help="what is made least (determinant)",
    )
    search.add_argument("--iterations", type=number(int, "≥", 0), default=300, metavar="N", help="at most (300)")
    search.add_argument("--seed", type=number(int, "≥", 0), default=0, metavar="N", help="of where it begins (0)")
    search.add_argument("--resume", metavar="FILE", help="a motion that was written, to continue with")
    command.set_defaults(module="kinetree.cli.excite")
    return command


def names(text: str) -> list[str]:
    """Return names that commas separate."""
    return [name for part in text.split(",") if (name := part.strip())]


def limit(text: str) -> tuple[str, list[float]]:
    """Return a joint with its lower and upper limit and its speed."""
    return _numbers(text, 3, "JOINT=LOWER,UPPER,SPEED")


def box(text: str, what: str = "FRAME") -> tuple[str, list[float]]:
    """Return a frame, or a link, with the ends of its box along x, y and z."""
    return _numbers(text, 6, f"{what}=X0,X1,Y0,Y1,Z0,Z1")


def _numbers(text: str, count: int, form: str) -> tuple[str, list[float]]:
    name, _, rest = text.rpartition("=")
    try:
        found = list(map(float, rest.split(",")))
    except ValueError:
        found = []
    if not name or len(found) != count:
        raise argparse.ArgumentTypeError(f"{text!r} is not {form}")
    return name, found
