"""Estimates a robot's inertias and friction from recorded motions.

Prints how far the estimate is from the motions, joint by joint, and what is to be known of it; writes the robot with
-o, and a page with all figures with --report.

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

for example:
  kinetree identify arm.urdf a.csv b.csv --validate c.csv -o identified.urdf --report report.html
  kinetree identify panda log.npz --terms armature,damping,friction,offset --cutoff 10 --parameters
  kinetree identify arm.urdf bag/ --gear-ratios 101,101,101,121,121,121 --torque-constants 0.11
  kinetree identify arm.urdf a.csv b.csv --torque-constants 1 --motor-constants all --load b.csv=5,0,0,0.1@flange
  kinetree identify arm.urdf a.csv --known "damping of elbow=0" --bounds forearm=-0.1,0.1,-0.1,0.1,0,0.5
  kinetree identify biped.urdf --floating-base bag/ --wrench left_foot=/ft/left --wrench right_foot=/ft/right
  kinetree identify panda held.csv --payload panda_hand
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast
from warnings import catch_warnings

import numpy as np
from rich.markup import escape

from kinetree.cli.options import (
    add_dynamics,
    add_fields,
    add_many,
    add_results,
    add_robot,
    box,
    joint_terms,
    known,
    load,
    names,
    number,
    value_of,
)
from kinetree.cli.robots import load_robot
from kinetree.cli.terminal import Working, console, print_files, print_json
from kinetree.drawing.panels import check_matplotlib
from kinetree.errors import ArgumentError, FormatError, ModelError
from kinetree.identification import (
    Bodies,
    Filtered,
    Fit,
    Generalised,
    LeastSquares,
    Robust,
    Samples,
    Validation,
    base_parameters,
    diagnose,
    holding,
    read_log,
)
from kinetree.identification.estimators import Estimator
from kinetree.identification.nonlinear import motors_of
from kinetree.identification.parameters.terms import OF_ROBOTS
from kinetree.identification.report import joints
from kinetree.identification.samples import repeated
from kinetree.identification.validation import verdict
from kinetree.logs.findings import Findings
from kinetree.logs.samples import Filter
from kinetree.logs.sensors import Sensors
from kinetree.output import check_output, whole_file
from kinetree.robot_methods import Robot
from kinetree.spatial import Inertia
from kinetree.tables import Cells, print_warnings
from kinetree.tables import number as shown

TERMS = "armature,damping,friction"
BLOCK = 1 << 17
"""Recorded samples that are in memory at once where files are read block by block."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add what it takes."""
    add_robot(command)
    command.add_argument("logs", metavar="LOG", nargs="+", help="CSV, NPZ, Parquet or ROS bag, a motion each")
    add_many(command, "--validate", str, "LOG", "a motion that is not used, to say how good it is")
    command.add_argument("--parameters", action="store_true", help="print all parameters")
    out = "write OUT.urdf: ROBOT's file with other inertias, …"
    add_results(command, output=out, report="write a page with all figures and pictures: FILE.html")
    add_dynamics(command, friction="with --payload, count the damping and friction of ROBOT", payload=False)
    what = command.add_argument_group("what is estimated")
    terms = (
        "what joints do: armature, damping, friction, offset, stiffness, damping_asymmetry, stribeck, "
        "load_friction, of all joints or some; none for inertias alone (%(default)s)"
    )
    what.add_argument("--terms", type=joint_terms, default=TERMS, metavar="TERM[@JOINT],…", help=terms)
    held = "only what is held there; ROBOT is right without it"
    what.add_argument("--payload", dest="payload_frame", metavar="FRAME", help=held)
    right = "ROBOT is right about it by this deviation; 0: it is not estimated, as in 'damping of elbow=0'"
    add_many(what, "--known", known, "PARAMETER=STD", right)
    scale = "of these joints, or all; their forces are currents. A --load or --known parameters determine the scale"
    what.add_argument("--motor-constants", type=names, default=[], metavar="JOINT,…", help=scale)
    bounds = "the box that holds the mass of a link, in metres, in its axes"
    add_many(what, "--bounds", box, "LINK=X0,X1,Y0,Y1,Z0,Z1", bounds)
    count = "forces count by the noise of each joint, by how it goes together, or all alike (joints)"
    what.add_argument("--weights", choices=("joints", "covariance", "none"), default="joints", help=count)
    what.add_argument("--loss", choices=("huber", "cauchy"), help="outliers count less, or hardly at all")
    spread = "how far off ROBOT may be, > 0 (1; 0.2 for CAD)"
    what.add_argument("--prior-spread", type=number(float, ">", 0), default=1.0, metavar="X", help=spread)
    data = command.add_argument_group("the recorded motions")
    hand = "what was held in LOG, and is known: a point mass (kg) at X, Y, Z (m) in a frame, or its mass alone"
    add_many(data, "--load", load, "LOG=M[,X,Y,Z]@FRAME", hand)
    add_fields(data, Filter)
    add_fields(data, Sensors)
    blocks = "read files in blocks of so many samples, such as 131072: they are larger than memory"
    data.add_argument("--block", type=number(int, "≥", 1), metavar="N", help=blocks)
    data.add_argument("--stream", action="store_true", help=argparse.SUPPRESS)
    data.add_argument("--force", action="store_true", help="use a log that seems wrong")


def run(arguments: argparse.Namespace) -> None:
    """Identify the robot or its payload; write and sum up what the arguments say."""
    check(arguments)
    robot, warnings = load_robot(arguments)
    arguments.motor_constants = "all" if arguments.motor_constants == ["all"] else arguments.motor_constants
    with Working("estimating", robot.name, shown=not arguments.quiet) as show:
        used, others = (Logs(arguments, robot, every, show) for every in (arguments.logs, arguments.validate))
        for k, before in [] if arguments.force else repeated([*used.motions, *others.motions]):
            raise ArgumentError(f"of the files motion {k} is motion {before} once more; --force takes them as they are")
        estimate = parameters if arguments.payload_frame is None else payload
        estimate(arguments, robot, used, others, [*warnings, *used.notes, *others.notes])


def check(arguments: argparse.Namespace) -> None:
    """Raise `ArgumentError` for what could not be done in the end."""
    if arguments.stream:
        raise ArgumentError("there is no --stream; here it is --block 131072")
    file = Path(arguments.robot)
    if arguments.output is not None:
        check_output(arguments.output, file if file.is_file() else None, (".urdf", ".xml"))
    for option in ("report", "known", "bounds", "motor_constants") if arguments.payload_frame is not None else ():
        if getattr(arguments, option):
            raise ArgumentError(
                f"--{option.replace('_', '-')} is for the parameters of the robot, and --payload for what it holds"
            )
    if arguments.report is not None:
        check_output(arguments.report, None, (".html", ".htm"))
        check_matplotlib()
    if arguments.loss is not None and arguments.weights != "joints":
        raise ArgumentError("--loss needs the noise of each joint: leave out --weights")
    for name, _ in arguments.load:
        if name not in [*arguments.logs, *arguments.validate]:
            raise ArgumentError(f"--load: {name} is not a LOG of this command")
    if arguments.load and arguments.block:
        raise ArgumentError("--load needs whole files: leave out --block")
    for name in arguments.validate:
        if name in arguments.logs:
            raise ArgumentError(f"{name} is among the motions that are used: validate on another one")


class Logs:
    """The motions in some files, with what is to be known of them; called, they show how far each pass is."""

    def __init__(self, arguments: argparse.Namespace, robot: Robot, files: list[str], show: Working) -> None:
        self.show, self.notes = show, list[str]()
        self.motions = [self._read(arguments, robot, name) for name in files]

    def _read(self, arguments: argparse.Namespace, robot: Robot, name: str) -> Samples | Filtered:
        """Return the samples of a file; `ArgumentError` says what seems wrong with it."""
        recording = read_log(name, robot, sensors=value_of(arguments, Sensors), block=arguments.block or BLOCK)
        if not arguments.block:
            recording = recording.whole(lambda done: self.show(done, what=f"reading {name}"))
            self.notes += [f"{name}: {note}" for note in recording.notes]
        if not arguments.force:
            refuse(name, recording.diagnose())
        with catch_warnings(record=True, action="always") as said:
            samples: Any = recording.filtered(
                value_of(arguments, Filter), check=False
            )  # `refuse` says what can be done
        self.notes += [str(warning.message) for warning in said]
        for mass, place, frame in (held for log, held in arguments.load if log == name):
            samples = holding(robot, samples, frame, Inertia.from_com(mass, place, np.zeros((3, 3))) if place else mass)
        if not arguments.force:
            base = base_parameters(robot, arguments.terms, smoothing=arguments.smoothing)
            currents = [robot.v_names[k] for k in motors_of(robot, arguments.motor_constants)]
            refuse(name, diagnose(robot, samples, base, currents=currents))
        return cast("Samples | Filtered", samples)

    def __call__(self) -> Iterator[Samples]:
        """Yield the motions, or their parts."""
        for k, motion in enumerate(self.motions):
            for part in (motion,) if isinstance(motion, Samples) else motion:
                yield part
                done = motion.recording.progress if isinstance(motion, Filtered) else 1.0
                self.show(k + done, len(self.motions))

    @property
    def notes_of_blocks(self) -> list[str]:
        """What is known of files that are read in blocks once they were."""
        streams = [motion.recording for motion in self.motions if isinstance(motion, Filtered)]
        return [f"{log.name}: {note}" for log in streams for note in log.notes]


def refuse(name: str, found: Findings) -> None:
    """Raise `ArgumentError` if a log seems to be wrong."""
    if found.errors:
        raise ArgumentError(f"{name}: {'; '.join(map(str, found.errors))}; --force takes it as it is")


def parameters(arguments: argparse.Namespace, robot: Robot, used: Logs, others: Logs, warnings: list[str]) -> None:
    """Estimate the robot's parameters."""
    with catch_warnings(record=True, action="always") as said:
        log: Any = used.motions if arguments.load else used
        fit = robot.identify(
            log,
            arguments.terms,
            by=estimator(arguments),
            known=dict(arguments.known),
            motor_constants=arguments.motor_constants,
            smoothing=arguments.smoothing,
            bodies=Bodies(spread=arguments.prior_spread, bounds=dict(arguments.bounds)),
            check=not arguments.force,
        )
        training = fit.validate(log)
        validation = fit.validate(others) if others.motions else None
    warnings += [*used.notes_of_blocks, *others.notes_of_blocks, *dict.fromkeys(str(x.message) for x in said)]
    if arguments.report is not None:
        with used.show.during(f"drawing {arguments.report}"):
            fit.report(arguments.report, training=training, validation=validation)
    if arguments.output is not None:
        warnings += write(arguments, fit.robot)
        if left := [term for term in fit.base.joint_terms if term not in OF_ROBOTS]:
            warnings.append(f"URDF has no place for {', '.join(left)}: {arguments.output} lacks them")
    if not arguments.quiet:
        summary(arguments, fit, training, validation, warnings)


def estimator(arguments: argparse.Namespace) -> Estimator:
    """Return how parameters are estimated."""
    if arguments.loss is not None:
        return Robust(arguments.loss)
    if arguments.weights == "covariance":
        return Generalised()
    return LeastSquares("joints" if arguments.weights == "joints" else None)


def write(arguments: argparse.Namespace, robot: Robot) -> list[str]:
    """Write the robot file: the original with other numbers, or a new document where that cannot be."""
    found = []
    with catch_warnings(record=True, action="always") as said:
        try:
            text = robot.to_urdf(arguments.robot)
        except (FormatError, ModelError) as error:
            text = robot.to_urdf()
            found.append(f"{arguments.output} is a new document, without shapes: {error}")
    with whole_file(Path(arguments.output)) as stream:
        stream.write(text.encode())
    return found + [f"{arguments.output}: {warning.message}" for warning in said]


def summary(
    arguments: argparse.Namespace, fit: Fit, training: Validation, validation: Validation | None, warnings: list[str]
) -> None:
    """Print what was found, and how far to trust it."""
    sentences = verdict(fit, training, validation)
    if arguments.json:
        found, seen = fit.to_dict(), training if validation is None else validation
        figures = {"residual": training.relative, "before": seen.before, "white": seen.white}
        figures |= {} if validation is None else {"residual_validation": validation.relative}
        for k, joint in enumerate(found["joints"]):
            joint |= {key: column[k].item() for key, column in figures.items()}
        print_json(found | {"verdict": sentences, "warnings": warnings})
        return
    out = console()
    text = f"[bold]{escape(fit.base.robot.name)}[/]: {fit.base.dimension} base parameters from {fit.count} samples"
    text += f", filtered at {fit.filtered}" if fit.cutoffs else ""
    out.print(text + (f", validated on {validation.size} others" if validation is not None else ""))
    out.print(joints(fit, training, validation).for_terminal(out.width))
    out.print(
        "[dim]residuals by the spread of the forces; before: of ROBOT as it was; correlation time: so many "
        "samples in a row count as one[/]"
    )
    if arguments.parameters:
        out.print(fit.table().for_terminal(out.width))
    for sentence in [*map(str, fit.held_loads), *sentences]:
        out.print(escape(sentence))
    print_warnings(out, warnings)
    print_files([arguments.output, arguments.report])


def payload(arguments: argparse.Namespace, robot: Robot, used: Logs, others: Logs, warnings: list[str]) -> None:
    """Estimate what the robot holds."""
    frame = arguments.payload_frame
    found = robot.identify_payload(used, frame)
    warnings += [*used.notes_of_blocks, *others.notes_of_blocks]
    with_it = robot.attach(found.inertia, frame)
    if arguments.output is not None:
        warnings += write(arguments, with_it)
    if arguments.quiet:
        return
    before, after = (residuals(one, others if others.motions else used) for one in (robot, with_it))
    columns = list(zip(robot.v_names, before, after, strict=True))
    if arguments.json:
        own = [dict(zip(("name", "rms_without", "rms_with"), x, strict=True)) for x in columns]
        print_json({"robot": robot.name, "frame": frame, **found.to_dict(), "joints": own, "warnings": warnings})
        return
    out = console()
    out.print(f"[bold]{escape(robot.name)}[/] holds {shown(found.inertia.m)} kg at {escape(frame)}")
    out.print(found.table().for_terminal(out.width))
    out.print(f"residuals {'on motions that were not used' if others.motions else 'on the motions used'}, N·m or N:")
    rows = [(name, shown(x, 3), shown(y, 3)) for name, x, y in columns]
    out.print(Cells({"joint": "left", "without it": "right", "with it": "right"}, rows).for_terminal(out.width))
    print_warnings(out, warnings)
    print_files([arguments.output])


def residuals(robot: Robot, log: Callable[[], Iterator[Samples]]) -> Any:
    """Return root mean squares (nv,) of what a robot does not explain."""
    count, squares = 0, np.zeros(robot.nv)
    for part in log():
        wrenches = [] if part.f_ext is None else [part.f_ext]
        errors = np.asarray(part.tau) - robot.inverse_dynamics(part.q, part.v, part.a, *wrenches)
        squares += (errors**2).sum(axis=0)
        count += len(errors)
    return np.sqrt(squares / count)
