"""``kinetree identify``: from recorded motions to a robot file with the estimated parameters."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast
from warnings import catch_warnings

import numpy as np
from rich.markup import escape

import kinetree as kt
from kinetree.cli.options import load_robot, value_of
from kinetree.cli.terminal import Working, console, print_files, print_json
from kinetree.drawing.panels import check_matplotlib
from kinetree.errors import ArgumentError, FormatError, ModelError
from kinetree.identification.checks.registry import diagnose, repeated
from kinetree.identification.estimators.contract import Estimator
from kinetree.identification.fit import Fit
from kinetree.identification.nonlinear import motors_of
from kinetree.identification.parameters.base import base_parameters
from kinetree.identification.parameters.terms import OF_ROBOTS
from kinetree.identification.payload import with_known_load
from kinetree.identification.report import joints
from kinetree.identification.validation import Validation, verdict
from kinetree.logs.recording import Recording, read_log
from kinetree.logs.samples import Samples
from kinetree.output import check_output, whole_file
from kinetree.tables import Cells, print_warnings
from kinetree.tables import number as shown

BLOCK = 1 << 17  # recorded samples that are in memory at once where files are read block by block

USUAL = dict.fromkeys(("armature", "damping", "friction"))
OF_ROBOT = ["report", "known", "bounds", "motor_constants", "terms", "weights", "loss", "spread", "parameters"]
"""Options that --payload has no use for."""


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
    given = vars(arguments) | {"terms": arguments.terms != USUAL, "weights": arguments.weights != "joints"}
    for option in OF_ROBOT if arguments.payload_frame is not None else ():
        if given[option]:
            name = "prior-spread" if option == "spread" else option.replace("_", "-")
            raise ArgumentError(f"--{name} is for the parameters of the robot, and --payload for what it holds")
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

    def __init__(self, arguments: argparse.Namespace, robot: kt.Robot, files: list[str], show: Working) -> None:
        self.show, self.notes = show, list[str]()
        self.motions = [self._read(arguments, robot, name) for name in files]

    def _read(self, arguments: argparse.Namespace, robot: kt.Robot, name: str) -> Samples | Recording:
        """Return the samples of a file; `ArgumentError` says what seems wrong with it."""
        recording = read_log(name, robot, sensors=value_of(arguments, kt.Sensors), block=arguments.block or BLOCK)
        if not arguments.block:
            recording = recording.whole(lambda done: self.show(done, what=f"reading {name}"))
            self.notes += [f"{name}: {note}" for note in recording.notes]
        hint = "--force takes it as it is"
        if not arguments.force:
            recording.diagnose().errors.enforce(hint, name=name)
        with catch_warnings(record=True, action="always") as said:
            samples: Any = recording.filtered(value_of(arguments, kt.Filter), check=False)
        self.notes += [str(warning.message) for warning in said]
        for mass, place, frame in (held for log, held in arguments.load if log == name):
            samples = with_known_load(
                robot, samples, frame, kt.Inertia.from_com(mass, place, np.zeros((3, 3))) if place else mass
            )
        if not arguments.force:
            base = base_parameters(robot, arguments.terms, smoothing=arguments.smoothing)
            currents = [robot.v_names[k] for k in motors_of(robot, arguments.motor_constants)]
            diagnose(robot, samples, base, currents=currents).errors.enforce(hint, name=name)
        return cast("Samples | Recording", samples)

    def __call__(self) -> Iterator[Samples]:
        """Yield the motions, or their parts."""
        for k, motion in enumerate(self.motions):
            for part in (motion,) if isinstance(motion, Samples) else motion:
                yield part
                done = motion.progress if isinstance(motion, Recording) else 1.0
                self.show(k + done, len(self.motions))

    @property
    def notes_of_blocks(self) -> list[str]:
        """What is known of files that are read in blocks once they were."""
        streams = [motion for motion in self.motions if isinstance(motion, Recording)]
        return [f"{log.name}: {note}" for log in streams for note in log.notes]


def parameters(arguments: argparse.Namespace, robot: kt.Robot, used: Logs, others: Logs, warnings: list[str]) -> None:
    """Estimate the robot's parameters."""
    with catch_warnings(record=True, action="always") as said:
        log: Any = used.motions if arguments.load else used
        fit = robot.identify(
            log,
            arguments.terms,
            by=estimator(arguments),
            known={name: std for name, (std,) in arguments.known},
            motor_constants=arguments.motor_constants,
            smoothing=arguments.smoothing,
            bodies=value_of(arguments, kt.Bodies),
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
        return kt.Robust(arguments.loss)
    if arguments.weights == "covariance":
        return kt.Generalised()
    return kt.LeastSquares("joints" if arguments.weights == "joints" else None)


def write(arguments: argparse.Namespace, robot: kt.Robot) -> list[str]:
    """Write the robot file: the original with other numbers, or a new document where that cannot be."""
    found = []
    with catch_warnings(record=True, action="always") as said:
        try:
            text = robot.to_urdf(original=arguments.robot, lenient=True)
        except (FormatError, ModelError) as error:
            text = robot.to_urdf(lenient=True)
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


def payload(arguments: argparse.Namespace, robot: kt.Robot, used: Logs, others: Logs, warnings: list[str]) -> None:
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


def residuals(robot: kt.Robot, log: Callable[[], Iterator[Samples]]) -> Any:
    """Return root mean squares (nv,) of what a robot does not explain."""
    count, squares = 0, np.zeros(robot.nv)
    for part in log():
        wrenches = [] if part.f_ext is None else [part.f_ext]
        errors = np.asarray(part.tau) - robot.inverse_dynamics(part.q, part.v, part.a, *wrenches)
        squares += (errors**2).sum(axis=0)
        count += len(errors)
    return np.sqrt(squares / count)
