"""The solver and the differential step as compiled functions: their arguments, documentation and programs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kinetree.algorithms.inverse_kinematics.goals import PARTS, SHAPES, Goal
from kinetree.algorithms.inverse_kinematics.problem import Problem
from kinetree.algorithms.inverse_kinematics.steps import Found, Options, Step, solve, step
from kinetree.errors import ArgumentError
from kinetree.functions.of_robot import describe, identity
from kinetree.graph import Port
from kinetree.robot.robot import Robot
from kinetree.runtime.function import Function
from kinetree.runtime.spec import FunctionSpec

if TYPE_CHECKING:
    from kinetree.robot.mechanism import Mechanism

DEFAULTS = {
    "position_tolerance": 1e-9,
    "orientation_tolerance": 1e-9,
    "max_iterations": 100.0,
    "restarts": 100.0,
    "seed": 0.0,
}
"""Of the solver's numbers; without restarts where `dt` is given."""

STEP_DEFAULTS = {"gain": 1.0, "damping": 1e-6, "error_damping": 0.6}

MEANINGS = {
    "q0": "Where to start, brought within the limits (but for fixed joints, which stay there).",
    "q": "Joint positions (rad, m).",
    "v": "Joint velocities that lead there, within their limits (rad/s, m/s).",
    "converged": "1 where all errors that count are within the tolerances, else 0.",
    "position_error": "Largest distance of a frame from its target (m); of a differential step, before it.",
    "orientation_error": "Largest angle of a frame from its target (rad); of a differential step, before it.",
    "iterations": "Steps computed, over all starts.",
    "attempts": "How many starts there were.",
    "position_tolerance": "Largest position error of a solution (m): 1e-9.",
    "orientation_tolerance": "Largest orientation error of a solution (rad): 1e-9.",
    "max_iterations": "Of one start: 100.",
    "restarts": "How many other starts to try where the first fails: 100, or none where dt is given.",
    "seed": "Which ones, a whole number: 0.",
    "dt": "The time for one step (s), in which no joint moves further than its velocity limit allows (0: none).",
    "posture": "Joint positions to approach as far as the goals leave free: a step goes gain/10 of the way (rad, m).",
    "gain": "The part of the errors that the step is to take away, above 0 and up to 1: 1.",
    "damping": "What is added to the squares of the singular values of the weighted Jacobian, 0 or more: 1e-6.",
    "error_damping": "The part of the bound of what least squares leave out that is added to damping, 0 or more: 0.6.",
}

HOLD = 100.0
"""How much errors of loops count in a differential step beside those of goals."""

WEIGHTS = {
    "pose": "Of the error's coordinates in the axes of the pose wanted: orientation (per rad), then position (per ℓ).",
    "orientation": "Of the error's coordinates in the axes of the orientation wanted (per rad).",
    "position": "Of the error's coordinates in the world's axes (per ℓ).",
    "look_at": "Of the angle between the axis and the direction to the point (per rad).",
}
"""By kind of target, 0 or more; 1 where none are given; ℓ is 0.6 of the robot's reach."""

TARGETS = {
    "pose": "The pose wanted, in the world.",
    "orientation": "The rotation matrix wanted, in the world.",
    "position": "Where the frame's origin is wanted, in the world (m).",
    "look_at": "Two rows: a point in the world (m), and the axis of the frame that is to point at it.",
}


def solver(robot: Robot | Mechanism, goals: tuple[Goal, ...], fixed: tuple[str, ...]) -> Function:
    """Return the solver for these goals."""
    model = robot.model
    problem, arrays = Problem(model, goals, fixed), _Arrays(goals)

    def evaluate(given: Mapping[str, Any], options: Mapping[str, Any]) -> Sequence[Any]:
        timed = {"restarts": 0.0} if "dt" in given else {}
        chosen = Options(**{**DEFAULTS, **timed, **{name: given[name] for name in Options._fields if name in given}})
        targets, weights = arrays.targets(given), arrays.weights(given)
        found = solve(problem, given["q0"], targets, weights, chosen)
        if not problem.closures.parts:
            return found
        from kinetree.inverse_kinematics.mechanisms import closed_solution

        return closed_solution(problem, found, targets, weights)

    outputs: Shapes = {"q": (model.nq,)} | dict.fromkeys(Found._fields[1:], ())
    inputs = {"q0": (model.nq,), **arrays.target_shapes}
    optional = arrays.weight_shapes | dict.fromkeys((*DEFAULTS, "dt"), ())
    doc = "The configuration within the joint limits that brings frames to where they are wanted."
    return _function("inverse_kinematics", doc, solver, robot, problem, inputs, optional, outputs, evaluate)


def differential_step(robot: Robot | Mechanism, goals: tuple[Goal, ...], fixed: tuple[str, ...]) -> Function:
    """Return the differential step for these goals."""
    model, arrays = robot.model, _Arrays(goals)

    def evaluate(given: Mapping[str, Any], options: Mapping[str, Any]) -> Sequence[Any]:
        problem = Problem(model, goals, fixed, all_move="posture" in given, hold=HOLD)
        numbers = [given.get(name, default) for name, default in STEP_DEFAULTS.items()]
        for name, number in zip(STEP_DEFAULTS, numbers, strict=True):
            constant = getattr(number, "constant", number)
            if isinstance(constant, float | int) and not constant >= 0.0:
                raise ArgumentError(f"{name} is {constant}: it is 0 or more, {STEP_DEFAULTS[name]:g} if not given")
        targets, weights, posture = arrays.targets(given), arrays.weights(given), given.get("posture")
        found = step(problem, given["q"], targets, given["dt"], weights, posture, *numbers)
        if not problem.closures.parts:
            return found
        from kinetree.inverse_kinematics.mechanisms import closed_step

        return closed_step(problem, given["q"], given["dt"], found)

    outputs: Shapes = {"q": (model.nq,), "v": (model.nv,)} | dict.fromkeys(Step._fields[2:], ())
    inputs = {"q": (model.nq,), **arrays.target_shapes, "dt": ()}
    optional = arrays.weight_shapes | {"posture": (model.nq,)} | dict.fromkeys(STEP_DEFAULTS, ())
    doc = "One step of damped least squares within the limits that brings frames nearer to where they are wanted."
    problem = Problem(model, goals, fixed)
    return _function(
        "differential_inverse_kinematics", doc, differential_step, robot, problem, inputs, optional, outputs, evaluate
    )


Shapes = dict[str, tuple[int, ...]]


class _Arrays:
    """The targets and weights of goals as arguments of a function."""

    def __init__(self, goals: Sequence[Goal]) -> None:
        self._ends = _ends(goals)
        self.target_shapes: Shapes = {f"target{end}": SHAPES[g.kind] for g, end in zip(goals, self._ends, strict=True)}
        sizes = [3 * len(PARTS[goal.kind]) for goal in goals]
        self.weight_shapes: Shapes = {
            f"weights{end}": () if g.kind == "look_at" else (n,)
            for g, end, n in zip(goals, self._ends, sizes, strict=True)
        }

    def targets(self, given: Mapping[str, Any]) -> list[Any]:
        """Return the goals' targets."""
        return [given["target" + end] for end in self._ends]

    def weights(self, given: Mapping[str, Any]) -> list[Any] | None:
        """Return three weights for each part of each goal, ones where none are given; None if there are none at all."""
        if not any(name in given for name in self.weight_shapes):
            return None
        found = []
        for name, shape in self.weight_shapes.items():
            size = shape[0] if shape else 3
            weights = given.get(name, [1.0] * size)
            found.append(weights if isinstance(weights, list) else [weights] * size)
        return found


def _ends(goals: Sequence[Goal]) -> list[str]:
    """Return the suffixes of "target" in the names of the goals' arguments: none where there is one goal."""
    if len(goals) == 1:
        return [""]
    frames = [goal.frame for goal in goals]
    ends: list[str] = []
    for goal in goals:
        end = re.sub(r"\W", "_", f"_{goal.frame}" if frames.count(goal.frame) == 1 else f"_{goal.frame}_{goal.kind}")
        again = sum(end == known or re.fullmatch(rf"{end}_\d+", known) is not None for known in ends)
        ends.append(f"{end}_{again + 1}" if again else end)
    return ends


def _function(
    name: str,
    summary: str,
    make: Callable[..., Function],
    robot: Robot | Mechanism,
    problem: Problem,
    inputs: Shapes,
    optional: Shapes,
    outputs: Shapes,
    evaluate: Callable[[Mapping[str, Any], Mapping[str, Any]], Sequence[Any]],
) -> Function:
    model, shape = problem.model, (problem.goals, problem.fixed)
    arrays, meanings = _Arrays(problem.goals), dict(MEANINGS)
    for target, weights, goal in zip(arrays.target_shapes, arrays.weight_shapes, problem.goals, strict=True):
        meanings |= {target: TARGETS[goal.kind], weights: WEIGHTS[goal.kind]}
    lengths = {"q0": ("nq",), "q": ("nq",), "posture": ("nq",)}

    def section(title: str, shapes: Shapes, end: str = "") -> str:
        entries = (
            f"{key} : ({', '.join(['...', *map(str, size)])}) array{end}\n    {meanings[key]}"
            for key, size in shapes.items()
        )
        return "\n".join(entries) if end else "\n".join([f"\n{title}", "-" * len(title), *entries])

    doc = [summary, section("Parameters", inputs), section("", optional, ", optional"), section("Returns", outputs)]
    return Function(
        FunctionSpec(
            name=name,
            doc="\n".join(doc),
            inputs=tuple(Port(*item) for item in (inputs | optional).items()),
            outputs=tuple(Port(*item) for item in outputs.items()),
            evaluate=evaluate,
            identity=lambda: identity(model) + repr(shape).encode(),
            optional=tuple(optional),
            describe=lambda port: describe(model, port, lengths.get(port.name, port.shape)),
            meanings=meanings,
            reduce=lambda: (make, (robot, *shape)),
        )
    )
