"""What each command takes; what is imported to say so is little, so that help comes at once."""

from __future__ import annotations

import argparse

import kinetree
from kinetree.cli.options import (
    above_zero,
    add_dynamics,
    add_fields,
    add_json,
    add_many,
    add_results,
    add_robot,
    add_terms,
    gains,
    integer,
    known,
    limit,
    load,
    names,
    several,
)
from kinetree.stepping import Kept, StepErrors

INTEGRATORS = ("semi_implicit_euler", "euler", "implicit_euler", "rk4", "tsitouras", "variational")


def info(command: argparse.ArgumentParser) -> None:
    """Show what a robot is made of: joints, limits, masses, frames. Without ROBOT: the embedded robots."""
    add_robot(command, optional=True)
    add_json(command)


def view(command: argparse.ArgumentParser) -> None:
    """Show a robot in a browser, with a slider for each joint, until Ctrl-C.

    Meshes are shown where they are found, else boxes with the links' inertias. Only this machine can reach the page;
    from another one, ssh -L 8080:127.0.0.1:8080 HOST leads there.

    for example:
      kinetree view my_robot.urdf
      kinetree view panda --q 0 0.3 0 -1.5 0 1.8 0.8 --port 9000 --no-browser
      kinetree view my_robot.urdf --shapes collision --html robot.html
    """
    add_robot(command)
    command.add_argument("--q", nargs="+", metavar="X", help="nq numbers, or the name of a configuration (neutral)")
    kinds = "what the file has for the eyes or for contacts, or boxes (visual)"
    command.add_argument("--shapes", choices=("visual", "collision", "links"), default="visual", help=kinds)
    command.add_argument("--port", type=integer(1), metavar="N", help="of the page (the first free one from 8080 on)")
    command.add_argument("--no-browser", dest="browser", action="store_false", default=True, help="only serve the page")
    command.add_argument("--html", metavar="FILE", help="write the page to FILE.html, and end")
    add_json(command)


def inverse_dynamics(command: argparse.ArgumentParser) -> None:
    """Compute the joint torques of a motion.

    Prints the largest torque of every joint against its effort limit; writes the torques with -o, and draws them with
    --plot.

    TRAJECTORY is a CSV or an NPZ with q, v and a; or with q and a time t, and then v and a are found by
    differentiation: a polynomial of degree 4 is fitted by least squares to the samples of a window around each one (a
    Savitzky-Golay filter for any spacing of the samples, on the manifold where a joint has a quaternion), one-sided
    at the ends and at gaps in time. With q, v and t, only a is. Angles must not wrap around. Without a TRAJECTORY, a
    smooth random motion is made for every joint with one degree of freedom, within its limits and at rest at both ends
    (a Fourier series of 5 harmonics); a floating base stands still.

    columns of a CSV, for the joint elbow, the second of the robot:
      q.elbow   v.elbow   a.elbow   t      positions, velocities, accelerations (SI units), time in s
      elbow.q   q_elbow   qd.elbow   elbow_vel   qdd_elbow   elbow/acceleration   ...    are understood as well
      elbow                                alone is a position
      q2 v2 a2, q_2 qd_2 qdd_2, q[2] ...   numbers, from 1 or from 0: the whole set of a quantity
      joint2  joint2_vel  joint2_acc       the same, counting joints only
      base.x .y .z .qx .qy .qz .qw         the pose of a floating base, whatever its joint is called; or x ... qw alone
      base.wx .wy .wz .vx .vy .vz          its velocity, in its own axes; a.base.wx ... its acceleration
      q2 [rad]   time (s)                  the unit may follow; other units than those of the SI are refused
      /joint_states/elbow/position         a path may go before
    A file without a header has the columns q, v, a, or t, q, v, a, or t, q. Comma, semicolon, tab or blanks
    separate; a line that begins with # is a comment. Columns that mean nothing are ignored and reported.
    An NPZ has the arrays q (n, nq), v (n, nv), a (n, nv), t (n,).

    for example:
      kinetree inverse-dynamics panda motion.csv -o torques.csv
      kinetree inverse-dynamics g1 walk.npz -o torques.npz --plot torques.pdf
      kinetree inverse-dynamics arm.urdf recorded.csv --window 31          a noisy record: smooth more
      kinetree inverse-dynamics panda --duration 20 --seed 3 -o excitation.csv
      kinetree inverse-dynamics panda motion.csv --friction --payload 1.5,0,0,0.1@panda_hand
      cat motion.csv | kinetree inverse-dynamics panda - -o - | head
    """
    add_robot(command)
    command.add_argument("trajectory", metavar="TRAJECTORY", nargs="?", help="CSV or NPZ; - reads a CSV from stdin")
    out = "write the torques to OUT.csv or OUT.npz; - writes a CSV to stdout, and the summary to stderr"
    add_results(command, output=out, plot="draw the torques: FILE.png, .svg or .pdf, or 'show' a window")
    add_dynamics(command, friction="count the damping and friction that the file gives")
    smoothing = command.add_argument_group("differentiation, if the file has no v or a")
    smoothing.add_argument("--window", type=integer(5), metavar="N", help="samples in a fit, ≥ 5 (15)")
    made = command.add_argument_group("the motion made without a TRAJECTORY")
    made.add_argument("--duration", type=above_zero, metavar="S", help="seconds, > 0 (10)")
    made.add_argument("--rate", type=above_zero, metavar="HZ", help="samples a second, > 0 (100)")
    made.add_argument("--seed", type=integer(0), metavar="N", help="of the random motion, ≥ 0 (0)")


def simulate(command: argparse.ArgumentParser) -> None:
    """Simulate the motion of a robot from an initial state.

    Prints the range of every joint, its largest speed and torque against the limits, and how well the energy is kept;
    writes the motion with -o, draws it over time with --plot and as a moving stick figure with --animate.

    Without --tau and --hold it falls freely. --hold is computed torque: the joints that have motors get the
    accelerations KP (q0 - q) - KD v, and a floating base falls. Numbers are separated by blanks or commas; if the first
    one is negative and commas follow, write --q=-1,0,0. Ctrl-C ends the simulation early: what was computed until then
    is summed up, written and drawn. A robot whose state is no longer finite stops: that is written and drawn too, and
    the exit code is 1.

    for example:
      kinetree simulate panda --duration 2 --dt 1e-4 --integrator rk4
      kinetree simulate panda --q 0 0.3 0 -1.5 0 1.8 0.8 --hold --payload 2@panda_hand --plot held.png
      kinetree simulate panda --integrator tsitouras --rtol 1e-9 --atol 1e-11 --joints none --gravity 0,0,-1.62
      kinetree simulate go2 --random --seed 3 -o tumble.npz --animate tumble.gif
      kinetree simulate arm.urdf --tau 1,0,0 -o motion.csv
      kinetree simulate my_robot.urdf --duration 3 --view
    """
    add_robot(command)
    add_results(
        command,
        output="write the motion to OUT.csv, OUT.npz or OUT.parquet",
        plot="draw it over time: FILE.png, .svg or .pdf, or 'show' a window",
        animate="draw it moving: FILE.gif, or FILE.mp4 by ffmpeg; or FILE.html, which any browser plays, with meshes",
    )
    command.add_argument("--view", action="store_true", help="then show it in a browser, until Ctrl-C")
    add_dynamics(command)
    begin = command.add_argument_group("where it begins")
    begin.add_argument("--q", nargs="+", metavar="X", help="nq numbers, or the name of a configuration (neutral)")
    begin.add_argument("--v", nargs="+", metavar="X", help="nv numbers (at rest)")
    begin.add_argument("--random", action="store_true", help="at random positions within the limits")
    begin.add_argument("--seed", type=integer(0), metavar="N", help="of --random, ≥ 0 (0)")
    driven = command.add_argument_group("what drives it")
    force, hold = driven.add_mutually_exclusive_group(), [100.0, 20.0]
    force.add_argument("--tau", nargs="+", metavar="X", help="nv constant joint forces, N·m or N (none)")
    held = "hold the first position, by the joints' accelerations KP (q0 - q) - KD v (100,20)"
    force.add_argument("--hold", nargs="?", const=hold, type=gains, metavar="KP,KD", help=held)
    counts = "what counts of the file's: any of stops,effort,friction, or all, or none (%(default)s)"
    driven.add_argument("--joints", default="all", metavar="PARTS", help=counts)
    group = command.add_argument_group("time")
    group.add_argument("--duration", type=above_zero, default=1.0, metavar="S", help="seconds, > 0 (1)")
    group.add_argument("--dt", type=above_zero, default=1e-3, metavar="S", help="of a step, > 0 (0.001)")
    method = f"the method: {', '.join(INTEGRATORS)} (semi_implicit_euler, or implicit_euler where friction counts)"
    group.add_argument("--integrator", metavar="NAME", help=method)
    add_fields(group, StepErrors)
    add_fields(group, Kept, every="record-every", usual="about 1000 in all")


def excite(command: argparse.ArgumentParser) -> None:
    """Plan a motion worth recording, for identification.

    Every joint follows a Fourier series, from rest to rest, that tells the robot's parameters as well as its limits let
    it. Prints how each joint is used, and how exactly every base parameter will be known from such a record, before
    anything moves; writes the motion with -o, and draws it with --plot.

    Ctrl-C ends the search early: the best motion until then is summed up, written and drawn. --resume continues with a
    motion that was written, for which the period and so on must be the same. A floating base is held, as if the robot
    were hung up: how it would move on its feet is up to contacts, which are not planned.

    for example:
      kinetree excite panda -o motion.csv --plot motion.png
      kinetree excite ur5 --period 20 --noise 0.5 --box ee_link=-0.8,0.8,-0.8,0.8,0.1,1.2 -o motion.csv
      kinetree excite panda --criterion condition --resume motion.csv -o better.csv
      kinetree excite arm.urdf --limit wheel=-3,3,1.5 --terms friction
    """
    add_robot(command)
    out = "write the motion to OUT.csv, OUT.npz or OUT.parquet"
    add_results(command, output=out, plot="draw it: FILE.png, .svg or .pdf, or 'show' a window")
    add_dynamics(command, friction="count the damping and friction that the file gives")
    motion = command.add_argument_group("the motion")
    add_fields(motion, kinetree.Series)
    motion.add_argument("--start", nargs="+", metavar="X", help="nq numbers, where it rests (where it is best)")
    motion.add_argument("--joints", type=names, metavar="A,B", help="those that move (all)")
    within = command.add_argument_group("what it keeps within")
    add_fields(within, kinetree.MotionLimits, "fraction", "acceleration", boxes="box")
    add_many(within, "--limit", limit, "JOINT=LOWER,UPPER,SPEED", "limits of a joint in the place of the file's")
    search = command.add_argument_group("what it is for")
    add_terms(search)
    noise = "of all joints' forces, or of each (0.01 of the effort limits)"
    search.add_argument("--noise", type=several, metavar="X", help=noise)
    criteria, least = ("determinant", "condition"), "what is made least (determinant)"
    search.add_argument("--criterion", choices=criteria, default="determinant", help=least)
    search.add_argument("--iterations", type=integer(0), default=1000, metavar="N", help="at most (1000)")
    search.add_argument("--seed", type=integer(0), default=0, metavar="N", help="of where it begins (0)")
    search.add_argument("--resume", metavar="FILE", help="a motion that was written, to continue with")


def identify(command: argparse.ArgumentParser) -> None:
    """Estimate a robot's inertias and friction from recorded motions.

    Prints how far the estimate is from the motions, joint by joint, and what is to be known of it; writes the robot
    with -o, and a page with all figures with --report.

    A LOG has positions and joint forces over time (t, q, tau), or currents of motors with --torque-constants, and may
    have accelerations too. Columns are called as for inverse-dynamics, forces by tau, torque or effort, currents by
    current:
      tau.elbow   elbow_effort   torque2   tau[2]   /joint_states/elbow/effort   current.elbow   i2
    An NPZ has the arrays t (n,), q (n, nq), tau (n, nv) or current; of a ROS bag (a folder, .mcap, .db3), messages of
    the type JointState are read. Positions are differentiated, and forces filtered alike; no fit reaches across gaps.

    A floating base needs its pose (base.x … base.qw, or Odometry), and the wrenches on its feet with --wrench: columns
    wrench.FOOT.fx, FOOT.tx, FOOT/force/x, or messages of the type WrenchStamped. It needs no joint forces.

    What seems wrong with a LOG is an error before anything is estimated: positions in degrees, forces of the other
    sign, sensors at their end, time that goes back, a base that nothing holds. Parameters that the motions do not
    determine stay as ROBOT has them.

    for example:
      kinetree identify arm.urdf a.csv b.csv --validate c.csv -o identified.urdf --report report.html
      kinetree identify panda log.npz --terms armature,damping,friction,offset --cutoff 10 --parameters
      kinetree identify arm.urdf bag/ --gear-ratios 101,101,101,121,121,121 --torque-constants 0.11
      kinetree identify arm.urdf a.csv b.csv --torque-constants 1 --motor-constants all --load b.csv=5,0,0,0.1@flange
      kinetree identify arm.urdf a.csv --known "damping of elbow=0" --bounds forearm=-0.1,0.1,-0.1,0.1,0,0.5
      kinetree identify biped.urdf --floating-base bag/ --wrench left_foot=/ft/left --wrench right_foot=/ft/right
      kinetree identify panda held.csv --payload panda_hand
    """
    add_robot(command)
    command.add_argument("logs", metavar="LOG", nargs="+", help="CSV, NPZ, Parquet or ROS bag, a motion each")
    add_many(command, "--validate", str, "LOG", "a motion that is not used, to say how good it is")
    command.add_argument("--parameters", action="store_true", help="print all parameters")
    out = "write OUT.urdf: ROBOT's file with other inertias, …"
    add_results(command, output=out, report="write a page with all figures and pictures: FILE.html")
    add_dynamics(command, friction="with --payload, count the damping and friction of ROBOT", payload=False)
    what = command.add_argument_group("what is estimated")
    add_terms(what)
    held = "only what is held there; ROBOT is right without it"
    what.add_argument("--payload", dest="payload_frame", metavar="FRAME", help=held)
    right = "ROBOT is right about it by this deviation; 0: it is not estimated, as in 'damping of elbow=0'"
    add_many(what, "--known", known, "PARAMETER=STD", right)
    scale = "of these joints, or all; their forces are currents. A --load or --known parameters determine the scale"
    what.add_argument("--motor-constants", type=names, default=[], metavar="JOINT,…", help=scale)
    count = "forces count by the noise of each joint, by how it goes together, or all alike (joints)"
    what.add_argument("--weights", choices=("joints", "covariance", "none"), default="joints", help=count)
    add_fields(what, kinetree.Robust)
    add_fields(what, kinetree.Bodies, spread="prior-spread", bounds="bounds")
    data = command.add_argument_group("the recorded motions")
    hand = "what was held in LOG, and is known: a point mass (kg) at X, Y, Z (m) in a frame, or its mass alone"
    add_many(data, "--load", load, "LOG=M[,X,Y,Z]@FRAME", hand)
    add_fields(data, kinetree.Filter)
    add_fields(data, kinetree.Sensors)
    blocks = "read files in blocks of so many samples, such as 131072: they are larger than memory"
    data.add_argument("--block", type=integer(1), metavar="N", help=blocks)
    data.add_argument("--stream", action="store_true", help=argparse.SUPPRESS)
    data.add_argument("--force", action="store_true", help="use a log that seems wrong")


def export(command: argparse.ArgumentParser) -> None:
    """Write a function of a robot as one C99 file, and its header beside it.

    The files need a C compiler and libm, and are yours: no licence of kinetree applies to them. FUNCTION is the name of
    one of the robot's functions in Python, such as inverse_dynamics, forward_dynamics, mass_matrix, jacobian.

    for example:
      kinetree export panda inverse_dynamics -o panda_id.c
      kinetree export panda jacobian --option frame=panda_hand --option reference=world --dtype float32
      kinetree export g1 inverse_dynamics --optional f_ext --name g1_id -o src/
      kinetree export ur5 forward_dynamics --main -o fd.c && cc -O2 -march=native fd.c -lm -o fd
    """
    add_robot(command)
    command.add_argument("function", metavar="FUNCTION", help="one of the robot's functions: inverse_dynamics, …")
    out = "OUT.c, or a directory; - writes the source to stdout (FUNCTION.c, here)"
    command.add_argument("-o", "--output", metavar="OUT", help=out)
    command.add_argument("--name", help="of the function in C (FUNCTION)")
    command.add_argument("--dtype", choices=("float64", "float32"), default="float64", help="of the numbers (float64)")
    add_many(command, "--option", str, "NAME=VALUE", "an option of FUNCTION: frame=panda_hand")
    add_many(command, "--optional", str, "NAME", "an optional argument to take: f_ext")
    lanes = "a function of many states, N at a time: 1, 2, 4, 8, 16"
    command.add_argument("--lanes", type=integer(1), metavar="N", help=lanes)
    command.add_argument("--main", action="store_true", help="add a program that reads states and prints results")
    add_json(command)
    add_dynamics(command, friction="count the damping and friction that the file gives")


def convert(command: argparse.ArgumentParser) -> None:
    """Write a robot's file in another format, that of the ending of OUT: .urdf, .sdf, or .xml (or .mjcf) for MJCF.

    What the format has no place for is named. What would change how the robot moves is an error, and with --lenient
    left out or written otherwise, with a warning: inertias that MuJoCo refuses, closed loops in URDF, and their like.

    for example:
      kinetree convert arm.urdf arm.xml
      kinetree convert four_bar.sdf four_bar.xml --lenient
      kinetree convert go2 go2.sdf
    """
    add_robot(command)
    command.add_argument("output", metavar="OUT", help="the file to write: OUT.urdf, OUT.sdf or OUT.xml")
    add_json(command)


def cache(command: argparse.ArgumentParser) -> None:
    """Show where compiled functions are kept, and how many. KINETREE_CACHE_DIR names another directory."""
    command.add_argument("action", metavar="clear", nargs="?", choices=("clear",), help="remove them")
    add_json(command)


COMMANDS = {
    "info": (info, "what a robot is made of: joints, limits, masses, frames"),
    "view": (view, "a robot in a browser"),
    "inverse-dynamics": (inverse_dynamics, "joint torques of a motion, against the limits"),
    "simulate": (simulate, "how a robot moves: falling, held, or under torques"),
    "excite": (excite, "a motion to record for identification, within the limits"),
    "identify": (identify, "from recorded motions to a robot file with the estimated parameters"),
    "convert": (convert, "a robot's file in another format: URDF, SDF, MJCF"),
    "export": (export, "a function of a robot as C"),
    "cache": (cache, "where compiled functions are kept, how many; clear removes them"),
}
"""The commands: what adds their arguments, of which the docstring is shown with --help, and a line of help."""
