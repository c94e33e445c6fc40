"""Derivatives of every function of the table, on trees with every joint type, against complex steps and by laws.

A new algorithm is tested by being in `kinetree.algorithms.ALGORITHMS`: its page runs on complex numbers, which know
nothing of graphs.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

from helpers.compiler import ALGORITHMS, Use, robot_function, shape_of, uses
from helpers.exact_trees import exact_tree, one_of_each
from helpers.joints import TILTED
from helpers.sampling import cover
from helpers.trees import STEP, random_states
from kinetree.graph.ops import interpret
from kinetree.joints import FreeFlyer, Prismatic, Revolute, Spherical
from kinetree.runtime.spec import Variant
from kinetree.scalars.dual import Dual, value_of

pytestmark = pytest.mark.filterwarnings("ignore::kinetree.errors.DerivativeWarning")
Array = np.ndarray[Any, Any]
ARM = [Revolute((0, 0, 1)), Revolute(TILTED), Prismatic((1, 0, 0)), Revolute((0, 1, 0)), Spherical()]
ROBOTS = {
    "mimic": exact_tree("mimic", 1, ARM, followers=1, straight=1.0),
    "floating": exact_tree("floating", 2, [FreeFlyer(), *ARM[1:4]]),
    "every other joint": exact_tree("every other joint", 3, one_of_each(-1)[::2], straight=0.8),
    "the others": exact_tree("the others", 4, one_of_each(-1)[1::2], straight=0.8),
}
ULPS = 2000.0
"""Of the largest entry. Both sides solve with M, whose condition they square; without that it is below 300."""


class Case(NamedTuple):
    robot: str
    name: str
    way: int


def ways(algorithm: Any, robot: str) -> list[Use]:
    return uses(algorithm, ("tip", "link1"), ROBOTS[robot].joint_names[0])


CASES = cover(
    Case(robot, name, way)
    for robot in ROBOTS
    for name, algorithm in ALGORITHMS.items()
    for way in range(len(ways(algorithm, robot)))
    if name != "step"
)


class Function:
    """A function of a robot with arguments, and its derivatives by the interpreter: nothing is compiled."""

    def __init__(self, case: Case) -> None:
        self.model, self.algorithm = ROBOTS[case.robot], ALGORITHMS[case.name]
        self.use = ways(self.algorithm, case.robot)[case.way]
        self.function = robot_function(self.model, case.name)
        rng, rows = np.random.default_rng(len(case.name)), self.use.options.get("rows", "pose")
        declared = {**self.algorithm.inputs, **self.algorithm.optional}
        self.names = [*self.algorithm.inputs, *self.use.optional]
        self.shapes = {name: shape_of(declared[name], self.model, rows) for name in self.names}
        self.configurations = {name for name, shape in declared.items() if shape == ("nq",)}
        self.arguments = {
            name: random_states(self.model, 7 + k, 1)[0][0] if name in self.configurations else rng.normal(size=shape)
            for k, (name, shape) in enumerate(self.shapes.items())
        }
        self.outputs = list(self.algorithm.outputs.items())

    def __call__(self, kind: str, further: dict[str, Array] | None = None, **options: Any) -> list[Array]:
        spec, further = getattr(self.function, kind).spec, further or {}
        optional = tuple(x for x in spec.optional if x in self.use.optional or x in further)
        own = spec.of(optional, spec.chosen({**self.use.options, **options}))
        return interpret(own.trace(Variant((), (), "float64")), {**self.arguments, **further})

    @property
    def sizes(self) -> dict[str, int]:
        return {
            name: self.model.nv if name in self.configurations else int(np.prod(shape))
            for name, shape in self.shapes.items()
        }

    def stepped(self, name: str, direction: Array) -> list[Array]:
        """The rates of the results, flat, along a direction of an argument, by a step of the page.

        It is complex, but dual where an angle of two numbers is taken: NumPy has that of real numbers only.
        """
        real = self.algorithm.name in ("integrate", "difference", "interpolate")
        small = [Dual(0.0, x * STEP) if real else np.complex128(1j * STEP * x) for x in direction]
        x = list(self.arguments[name].ravel())
        x = self._moved(x, small) if name in self.configurations else [a + b for a, b in zip(x, small, strict=True)]
        moved = np.empty(len(x), dtype=object)
        moved[:] = x
        given = {key: nested(value) for key, value in self.arguments.items()}
        given[name] = nested(moved.reshape(self.shapes[name]))
        results = self.algorithm(self.model, given, self.use.options)
        each = (results,) if len(self.outputs) == 1 else results
        return [
            self._rate(entries(value), shape == ("nq",)) for value, (_, shape) in zip(each, self.outputs, strict=True)
        ]

    def _moved(self, q: list[Any], dv: list[Any]) -> list[Any]:
        moved = list(q)
        for body in self.model.leading:
            own = body.joint.integrate([q[k] for k in body.q_index], [dv[k] for k in body.v_index])
            for k, x in zip(body.q_index, own, strict=True):
                moved[k] = x
        return moved

    def _rate(self, value: list[Any], is_configuration: bool) -> Array:
        if not is_configuration:
            return rates(value)
        found = np.zeros(self.model.nv)
        for body in self.model.leading:
            own = [value[k] for k in body.q_index]
            before = [float(np.real(value_of(x))) for x in own]
            found[list(body.v_index)] = rates(body.joint.difference(before, own))
        return found


def nested(x: Array) -> Any:
    """An array as nested lists of its scalars as they are."""
    return [nested(row) for row in x] if x.ndim > 1 else list(x) if x.ndim else x[()]


def entries(value: Any) -> list[Any]:
    return [x for row in value for x in entries(row)] if isinstance(value, list | tuple) else [value]


def rates(values: list[Any]) -> Array:
    return np.array([x.rate if isinstance(x, Dual) else np.imag(x) for x in values]) / STEP


@cache
def function(case: Case) -> Function:
    return Function(case)


def close(got: Array, wanted: Array, scale: float | None = None) -> None:
    scale = max(np.abs(wanted).max(initial=0.0), 1.0) if scale is None else scale
    assert np.abs(np.ravel(got) - np.ravel(wanted)).max(initial=0.0) <= ULPS * 2.0**-52 * scale


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.robot}-{case.name}-{case.way}")
def test_jacobians_are_those_of_complex_steps(case):
    f = function(case)
    found = iter(f("derivatives", wrt=tuple(f.names)))
    wanted = {name: [f.stepped(name, e) for e in np.eye(n)] for name, n in f.sizes.items()}
    for k, _ in enumerate(f.outputs):
        for name in f.names:
            close(next(found), np.array([rates[k] for rates in wanted[name]]).T)


BY_LOOPS = {"operational_inertia", "operational_space_dynamics", "task_space_dynamics"}
BY_LOOPS |= {"dynamically_consistent_inverse", "null_space_projector"}
"""They find singular values by a loop: second derivatives of all by all would take minutes to trace."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.robot}-{case.name}-{case.way}")
def test_products_and_hessians_belong_together(case):
    f, rng = function(case), np.random.default_rng(1)
    shapes = {name: (f.model.nv,) if name in f.configurations else f.shapes[name] for name in f.names}
    directions = {f"d{name}": rng.normal(size=shape) for name, shape in shapes.items()}
    along = f("jvp", directions)
    weights = {f"{name}_bar": rng.normal(size=rate.shape) for (name, _), rate in zip(f.outputs, along, strict=True)}
    adjoints = f("vjp", weights, wrt=tuple(f.names))
    forward = sum(np.vdot(a, b) for a, b in zip(weights.values(), along, strict=True))
    back = sum(np.vdot(a, b) for a, b in zip(adjoints, directions.values(), strict=True))
    scale = sum(np.abs(a * b).sum() for a, b in zip(adjoints, directions.values(), strict=True))
    close(np.array(back), np.array(forward), max(1.0, scale))
    if case.name in BY_LOOPS:
        return
    (hessian,) = f("hessian", weights, wrt=tuple(f.names))
    assert np.array_equal(hessian, hessian.T)
