"""``kinetree identify``: from recorded motions to a robot file with the estimated parameters."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal
from warnings import catch_warnings

import numpy as np
from rich.markup import escape

from kinetree.cli.compiling import compiling_notice
from kinetree.cli.identify_logs import Read, Watched, notes, read
from kinetree.cli.terminal import console, load_robot, print_json, progress, waiting
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
)
from kinetree.identification.estimators import Estimator
from kinetree.identification.report import joints
from kinetree.identification.samples import repeated
from kinetree.identification.terms import OF_ROBOTS
from kinetree.identification.validation import verdict
from kinetree.output import check_output, whole_file
from kinetree.robot_methods import Robot
from kinetree.tables import Cells, number, print_warnings

WEIGHTS: dict[str, Literal["joints"] | None] = {"joints": "joints", "none": None}


def run(arguments: argparse.Namespace) -> None:
    """Identify the robot or its payload; write and sum up what the arguments say."""
    check(arguments)
    robot, warnings = load_robot(arguments)
    if robot.nv == 0:
        raise ArgumentError(f"{robot.name} has no moving joint")
    with ExitStack() as stack:
        stack.enter_context(compiling_notice(robot.name, shown=not arguments.quiet))
        used = read(arguments, robot, arguments.logs)
        others = read(arguments, robot, arguments.validate)
        for k, before in [] if arguments.force else repeated([*used.samples, *others.samples]):
            raise ArgumentError(f"of the files motion {k} is motion {before} once more; --force takes them as they are")
        warnings += [*used.notes, *others.notes]
        if arguments.payload_frame is not None:
            payload(arguments, robot, used, others, warnings)
        else:
            parameters(arguments, robot, used, others, warnings)


def check(arguments: argparse.Namespace) -> None:
    """Raise `ArgumentError` for what could not be done in the end."""
    if arguments.quiet and arguments.json:
        raise ArgumentError("--quiet leaves nothing for --json to print: leave out one of them")
    file = Path(arguments.robot)
    if arguments.output is not None:
        check_output(arguments.output, file if file.is_file() else None, (".urdf", ".xml"))
    if arguments.payload_frame is not None:
        for option in ("report", "known", "bounds", "motor_constants"):
            if getattr(arguments, option):
                raise ArgumentError(
                    f"--{option.replace('_', '-')} is for the parameters of the robot, and --payload for what it holds"
                )
    if arguments.report is not None:
        check_output(arguments.report, None, (".html", ".htm"))
        check_matplotlib()
    unused = [name for name, _ in arguments.load if name not in [*arguments.logs, *arguments.validate]]
    if unused:
        raise ArgumentError(f"--load: {unused[0]} is no LOG of this command")
    if arguments.load and arguments.stream:
        raise ArgumentError("--load needs whole files: leave out --stream")
    twice = [name for name in arguments.validate if name in arguments.logs]
    if twice:
        raise ArgumentError(f"{twice[0]} is among the motions that are used: validate on another one")


def parameters(arguments: argparse.Namespace, robot: Robot, used: Read, others: Read, warnings: list[str]) -> None:
    """Estimate the robot's parameters."""
    quiet = arguments.quiet
    with progress("estimating", shown=not quiet) as show, catch_warnings(record=True, action="always") as said:
        log: Any = used.samples if arguments.load else Watched(used.samples, show)
        fit = robot.identify(
            log,
            arguments.terms,
            by=estimator(arguments),
            known=dict(arguments.known),
            motor_constants=arguments.motor_constants,
            smoothing=arguments.smoothing,
            bodies=Bodies(
                spread=arguments.prior_spread,
                bounds={link: np.reshape(ends, (3, 2)).T for link, ends in arguments.bounds},
            ),
            check=not arguments.force,
        )
        training = fit.validate(log)
        validation = fit.validate(Watched(others.samples, show)) if others.samples else None
    warnings += [*notes(used, others), *dict.fromkeys(str(warning.message) for warning in said)]
    if arguments.report is not None:
        with waiting(f"drawing {arguments.report}", shown=not arguments.quiet):
            fit.report(arguments.report, training=training, validation=validation)
    if arguments.output is not None:
        warnings += write(arguments, fit.robot)
        left = [term for term in fit.base.joint_terms if term not in OF_ROBOTS]
        if left:
            warnings.append(f"URDF has no place for {', '.join(left)}: {arguments.output} lacks them")
    if not arguments.quiet:
        summary(arguments, fit, training, validation, warnings)


def estimator(arguments: argparse.Namespace) -> Estimator:
    """Return how parameters are estimated."""
    if arguments.loss is not None and arguments.weights != "joints":
        raise ArgumentError("--loss needs the noise of each joint: leave out --weights")
    if arguments.loss is not None:
        return Robust(arguments.loss)
    return Generalised() if arguments.weights == "covariance" else LeastSquares(WEIGHTS[arguments.weights])


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
    robot, sentences = fit.base.robot, verdict(fit, training, validation)
    if arguments.json:
        found, seen = fit.to_dict(), training if validation is None else validation
        figures = {"residual": training.relative, "before": seen.before, "white": seen.white}
        figures |= {} if validation is None else {"residual_validation": validation.relative}
        for k, joint in enumerate(found["joints"]):
            joint |= {key: column[k].item() for key, column in figures.items()}
        print_json(found | {"verdict": sentences, "warnings": warnings})
        return
    out = console()
    out.print(
        f"[bold]{escape(robot.name)}[/]: {fit.base.dimension} base parameters from {fit.count} samples"
        + (f", filtered at {fit.filtered}" if fit.cutoffs else "")
        + (f", validated on {validation.size} others" if validation is not None else "")
    )
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
    written(arguments)


def written(arguments: argparse.Namespace) -> None:
    """Print which files there are now."""
    for name in (arguments.output, arguments.report):
        if name is not None:
            console().print(f"wrote {escape(name)}")


def payload(arguments: argparse.Namespace, robot: Robot, used: Read, others: Read, warnings: list[str]) -> None:
    """Estimate what the robot holds."""
    frame = arguments.payload_frame
    with progress("estimating", shown=not arguments.quiet) as show:
        found = robot.identify_payload(Watched(used.samples, show), frame)
    warnings += notes(used, others)
    holding = robot.attach(found.inertia, frame)
    if arguments.output is not None:
        warnings += write(arguments, holding)
    if arguments.quiet:
        return
    seen = others.samples or used.samples
    before, after = (residuals(one, seen) for one in (robot, holding))
    if arguments.json:
        columns = zip(robot.v_names, before, after, strict=True)
        own = [dict(zip(("name", "rms_without", "rms_with"), x, strict=True)) for x in columns]
        facts = {"robot": robot.name, "frame": frame, **found.to_dict(), "joints": own, "warnings": warnings}
        print_json(facts)
        return
    out = console()
    out.print(f"[bold]{escape(robot.name)}[/] holds {number(found.inertia.m)} kg at {escape(frame)}")
    out.print(found.table().for_terminal(out.width))
    what = "on motions that were not used" if others.samples else "on the motions used"
    rows = [(name, number(x, 3), number(y, 3)) for name, x, y in zip(robot.v_names, before, after, strict=True)]
    out.print(f"residuals {what}, N·m or N:")
    out.print(Cells({"joint": "left", "without it": "right", "with it": "right"}, rows).for_terminal(out.width))
    print_warnings(out, warnings)
    written(arguments)


def residuals(robot: Robot, log: list[Samples | Filtered]) -> Any:
    """Return root mean squares (nv,) of what a robot does not explain."""
    count, squares = 0, np.zeros(robot.nv)
    for part in Watched(log, lambda done: None)():
        wrenches = [] if part.f_ext is None else [part.f_ext]
        errors = np.asarray(part.tau) - robot.inverse_dynamics(part.q, part.v, part.a, *wrenches)
        squares += (errors**2).sum(axis=0)
        count += len(errors)
    return np.sqrt(squares / count)
