"""The arguments of ``kinetree identify``."""

from __future__ import annotations

import argparse
from functools import partial

from kinetree.cli.excite_arguments import box
from kinetree.cli.options import add_fields, add_gravity
from kinetree.cli.readers import joint_terms, load, number
from kinetree.logs.filter import Filter
from kinetree.logs.sensors import Sensors

DESCRIPTION = """\
Estimates a robot's inertias and friction from recorded motions. Prints how far the estimate is from the motions, joint
by joint, and what is to be known of it; writes the robot with -o, and a page with all figures with --report.

A LOG has positions and joint forces over time (t, q, tau), or currents of motors with --torque-constants; accelerations
may be there too. Columns are called as for inverse-dynamics, forces by tau, torque or effort, currents by current:
  tau.elbow   elbow_effort   torque2   tau[2]   /joint_states/elbow/effort   current.elbow   i2
An NPZ has the arrays t (n,), q (n, nq), tau (n, nv) or current; of a ROS bag (a folder, .mcap, .db3), messages of the
type JointState are read. Positions are differentiated, and forces filtered alike; nothing is fitted across gaps.

A floating base needs its pose (base.x … base.qw, or Odometry), and the wrenches on its feet with --wrench: columns
wrench.FOOT.fx, FOOT.tx, FOOT/force/x, or messages of the type WrenchStamped. It needs no joint forces.

What seems wrong with a LOG is an error before anything is estimated: positions in degrees, forces of the other sign,
sensors at their end, time that goes back, a base that nothing holds. Parameters that the motions do not
determine stay as ROBOT has them.
"""

EXAMPLES = """\
examples:
  kinetree identify arm.urdf a.csv b.csv --validate c.csv -o identified.urdf --report report.html
  kinetree identify panda log.npz --terms armature,damping,friction,offset --cutoff 10 --parameters
  kinetree identify arm.urdf bag/ --gear-ratios 101,101,101,121,121,121 --torque-constants 0.11
  kinetree identify arm.urdf a.csv b.csv --torque-constants 1 --motor-constants all --load b.csv=5,0,0,0.1@flange
  kinetree identify arm.urdf a.csv --known "damping of elbow=0" --bounds forearm=-0.1,0.1,-0.1,0.1,0,0.5
  kinetree identify biped.urdf --floating-base bag/ --wrench left_foot=/ft/left --wrench right_foot=/ft/right
  kinetree identify panda held.csv --payload panda_hand
"""


def add(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], robot: str, json: str
) -> argparse.ArgumentParser:
    """Add the command, and return it."""
    command: argparse.ArgumentParser = commands.add_parser(
        "identify",
        help="from recorded motions to a robot file with the estimated parameters",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("robot", metavar="ROBOT", help=robot)
    command.add_argument("logs", metavar="LOG", nargs="+", help="CSV, NPZ, Parquet or ROS bag, a motion each")
    command.add_argument(
        "--validate",
        metavar="LOG",
        action="append",
        default=[],
        help="a motion that is not used, to say how good it is",
    )
    command.add_argument("-o", "--output", metavar="OUT", help="write OUT.urdf: ROBOT's file with other inertias, …")
    command.add_argument("--report", metavar="FILE", help="write a page with all figures and pictures: FILE.html")
    command.add_argument("--parameters", action="store_true", help="print all parameters")
    command.add_argument("-q", "--quiet", action="store_true", help="no summary, no progress")
    command.add_argument("--json", action="store_true", help=json)
    command.set_defaults(module="kinetree.cli.identify")
    return command


def add_choices(command: argparse.ArgumentParser) -> None:
    """Add what is estimated, of which data."""
    positive = number(float, ">", 0)
    acting = command.add_argument_group("what acts on the robot")
    add_gravity(acting)
    acting.add_argument(
        "--friction", action="store_true", help="with --payload, count the damping and friction of ROBOT"
    )
    what = command.add_argument_group("what is estimated")
    what.add_argument(
        "--terms",
        type=joint_terms,
        default="armature,damping,friction",
        metavar="TERM[@JOINT],…",
        help="what joints do: armature, damping, friction, offset, stiffness, damping_asymmetry, stribeck, "
        "load_friction, of all joints or some; none for inertias alone (%(default)s)",
    )
    what.add_argument(
        "--payload", dest="payload_frame", metavar="FRAME", help="only what is held there; ROBOT is right without it"
    )
    what.add_argument(
        "--known",
        type=known,
        action="append",
        default=[],
        metavar="PARAMETER=STD",
        help="ROBOT is right about it by this deviation; 0: it is not estimated, as in 'damping of elbow=0'",
    )
    what.add_argument(
        "--motor-constants",
        type=lambda text: text if text == "all" else text.split(","),
        default=[],
        metavar="JOINT,…",
        help="of these joints, or all; their forces are currents. A --load or --known parameters determine the scale",
    )
    what.add_argument(
        "--bounds",
        type=partial(box, what="LINK"),
        action="append",
        default=[],
        metavar="LINK=X0,X1,Y0,Y1,Z0,Z1",
        help="the box that holds the mass of a link, in metres, in its axes",
    )
    what.add_argument(
        "--weights",
        choices=("joints", "covariance", "none"),
        default="joints",
        help="forces count by the noise of each joint, by how it goes together, or all alike (joints)",
    )
    what.add_argument("--loss", choices=("huber", "cauchy"), help="outliers count less, or hardly at all")
    what.add_argument(
        "--prior-spread", type=positive, default=1.0, metavar="X", help="how far off ROBOT may be, > 0 (1; 0.2 for CAD)"
    )
    data = command.add_argument_group("the recorded motions")
    data.add_argument(
        "--load",
        type=load,
        action="append",
        default=[],
        metavar="LOG=M[,X,Y,Z]@FRAME",
        help="what was held in LOG, and is known: a point mass (kg) at X, Y, Z (m) in a frame, or its mass alone",
    )
    add_fields(data, Filter)
    add_fields(data, Sensors)
    data.add_argument("--stream", action="store_true", help="read files part by part: they are larger than memory")
    data.add_argument("--force", action="store_true", help="use a log that seems wrong")


def known(text: str) -> tuple[str, float]:
    """Return a base parameter with the standard deviation of what is known of it."""
    name, _, rest = text.rpartition("=")
    if not name:
        raise argparse.ArgumentTypeError(f"{text!r} is not PARAMETER=STD, as in 'damping of elbow=0'")
    return name.strip(), number(float, "≥", 0)(rest)
