"""Tables of algorithms; a page is imported when its algorithm is first used."""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

from kinetree.errors import ArgumentError
from kinetree.glossary.symbols import OneFrame, Option, Shape
from kinetree.groups import Group
from kinetree.locks import importing
from kinetree.validation import Range

C = TypeVar("C", bound=type)

PAGES = {
    "dynamics.aba": "forward_dynamics hybrid_dynamics",
    "dynamics.coriolis": "coriolis_matrix",
    "dynamics.crba": "mass_matrix",
    "dynamics.factorization": "mass_matrix_factor solve_mass_matrix",
    "dynamics.inverse": "mass_matrix_inverse",
    "dynamics.passive_forces": "joint_physics_regressor",
    "dynamics.rnea": "inverse_dynamics bias_forces gravity_forces joint_reactions",
    "dynamics.task_space": "external_wrench wrench_forces task_space_dynamics operational_space_dynamics "
    "operational_inertia dynamically_consistent_inverse null_space_projector",
    "kinematics.frames": "forward_kinematics frame_placement frame_placements frame_velocity frame_acceleration "
    "jacobian jacobian_rate jacobian_bias manipulability relative_jacobian relative_placement",
    "kinematics.manifold": "integrate difference interpolate",
    "quantities": "center_of_mass center_of_mass_velocity center_of_mass_acceleration center_of_mass_jacobian "
    "kinetic_energy potential_energy mechanical_energy centroidal_momentum centroidal_momentum_rate "
    "centroidal_momentum_matrix centroidal_momentum_matrix_rate",
    "regressors": "joint_torque_regressor momentum_regressor kinetic_energy_regressor potential_energy_regressor",
    "kinetree.integrators.step": "step",
}
"""The algorithms of each page, in the order of their definition, those of this package first; a test compares it."""


class Algorithm(NamedTuple):
    """An algorithm as its page declares it, with shapes for one state in the order of the arguments and results."""

    name: str
    """Name of the robot's function."""
    function: Callable[..., Any]
    """The page: ``function(model, *inputs, **options)`` over any scalar, arrays as nested sequences."""
    inputs: Mapping[str, Shape]
    optional: Mapping[str, Shape]
    options: Mapping[str, Option]
    """Fixed when a function is compiled; names of joints reach the page as a tuple in the order of the joints."""
    outputs: Mapping[str, Shape]
    joint_space: bool
    """Whether inertias count through M(q) and h(q, v) alone, as they do in the regrouped model (`regrouped`)."""
    ranges: Mapping[str, Range]
    """The numbers that inputs may hold; others may hold all."""
    group: Group | None = None
    """The argument whose fields are some of the optional inputs and of the options."""

    def __call__(self, model: Any, arguments: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
        """Return the results of the page for inputs and options by name."""
        given = {**arguments, **options}
        return self.function(model, **(given if self.group is None else self.group.gathered(given)))

    @property
    def needs_option(self) -> bool:
        """Whether some option has no default."""
        return any(isinstance(option, OneFrame) and option.required for option in self.options.values())


class Table(Mapping[str, Algorithm]):
    """A read-only mapping from names to algorithms: those of the pages of a package, then those registered elsewhere.

    `setup` are the lines with which examples begin, `system` is ``"module:name"`` of what integrators see of such a
    model.
    """

    def __init__(self, package: str, pages: Mapping[str, str], setup: str, system: str) -> None:
        self.index = {
            name: page if page.startswith("kinetree.") else f"{package}.{page}"
            for page, names in pages.items()
            for name in names.split()
        }
        self.setup, self._system = setup, system
        self._registered: dict[str, Algorithm] = {}
        self._imported: set[str] = set()

    def __getitem__(self, name: str) -> Algorithm:
        # A registered page may still be half imported by another thread: importing it again waits for that thread.
        if name in self.index and name not in self._imported:
            with importing:
                import_module(self.index[name])
            self._imported.add(name)
        return self._registered[name]

    def __contains__(self, name: object) -> bool:
        return name in self.index or name in self._registered

    def __iter__(self) -> Iterator[str]:
        return iter([*self.index, *(name for name in list(self._registered) if name not in self.index)])

    def __len__(self) -> int:
        return len(self.index.keys() | self._registered.keys())

    @property
    def system(self) -> Any:
        """What integrators see of such a model, a `kinetree.integrators.System`; imported at its first use."""
        module, name = self._system.split(":")
        with importing:
            return getattr(import_module(module), name)

    def register(self, algorithm: Algorithm) -> None:
        """Add an algorithm; the same module may replace its own, which robots that have used it continue to use."""
        name, module = algorithm.name, algorithm.function.__module__
        known = self._registered.get(name)
        owner = self.index.get(name) or (known.function.__module__ if known else module)
        if owner != module:
            raise ArgumentError(f"{owner} has an algorithm named {name!r} already: give yours another name")
        self._registered[name] = algorithm


ALGORITHMS = Table(
    __package__,
    PAGES,
    '>>> import kinetree as kt\n>>> robot = kt.load("panda")\n>>> q, v, a = robot.random_state(seed=0)\n',
    "kinetree.integrators.contract:System",
)
"""Those of a robot."""

INDEX = ALGORITHMS.index
"""The module of each algorithm of this package."""


@functools.singledispatch
def table_of(model: Any) -> Table:
    """Return the table of the algorithms of such a model; the room of another kind of model registers its own."""
    return ALGORITHMS


def documented(table: Table) -> Callable[[C], C]:
    """Decorate a class: the functions of a table are in the rows ``{functions}`` of its docstring, and in a list."""

    def decorate(owner: C) -> C:
        owner.__doc__ = DocumentedFunctions(owner.__doc__ or "", table)  # type: ignore[assignment]  # returns a string
        return owner

    return decorate


class DocumentedFunctions:
    """The docstring of a class with the list of all algorithms, made when it is read because it imports every page."""

    def __init__(self, doc: str, table: Table) -> None:
        self.doc, self._table = inspect.cleandoc(doc).replace("{functions}", "\n".join(_rows(table))), table

    def __get__(self, instance: object, owner: type | None = None) -> str:
        docs = {name: (a.function.__doc__ or "").strip() for name, a in self._table.items()}
        lines = (f"    {name} : {doc.splitlines()[0] if doc else ''}" for name, doc in docs.items())
        return "\n".join([self.doc, "", "Functions", "---------", *lines, ""])


def _rows(table: Table) -> Iterator[str]:
    """Yield rows of a table with the functions of this package, by what their pages are about."""
    rooms = {"kinetree", "algorithms", "constraints", "pages", "integrators"}
    groups: dict[str, list[str]] = {}
    for name, page in table.index.items():
        groups.setdefault(next(part for part in page.split(".") if part not in rooms), []).append(name)
    for group, names in groups.items():
        lines = textwrap.wrap(", ".join(names), 99)
        yield from (f"{group if k == 0 else '':14}  {line}" for k, line in enumerate(lines))


class FunctionOfClass:
    """A function of a table as an attribute of a class, for `help`; of an object it is the compiled function."""

    def __init__(self, table: Table, name: str) -> None:
        self._table, self._name = table, name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        name = self._name
        if instance is not None:
            return instance._function(name)

        def function(self: Any, *args: Any, **kwargs: Any) -> Any:
            return getattr(self, name)(*args, **kwargs)

        page = self._table[name].function
        functools.update_wrapper(function, page, ("__module__", "__doc__"))
        function.__name__, function.__qualname__ = name, f"{owner.__name__ if owner else ''}.{name}"
        first, *others = (p.replace(annotation=p.empty) for p in inspect.signature(page).parameters.values())
        function.__signature__ = inspect.Signature([first.replace(name="self"), *others])  # type: ignore[attr-defined]
        return function


def give_functions(owner: type, table: Table) -> None:
    """Make the algorithms of this package's tables attributes of a class."""
    for name in table.index:
        setattr(owner, name, FunctionOfClass(table, name))
