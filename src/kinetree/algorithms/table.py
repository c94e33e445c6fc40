"""Tables of algorithms; a page is imported when its algorithm is first used."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from kinetree.errors import ArgumentError
from kinetree.locks import importing

if TYPE_CHECKING:
    from kinetree.algorithms.registry import Algorithm

PAGES = {
    "dynamics.aba": "forward_dynamics",
    "dynamics.coriolis": "coriolis_matrix",
    "dynamics.crba": "mass_matrix",
    "dynamics.factorization": "mass_matrix_factor mass_matrix_inverse solve_mass_matrix",
    "dynamics.hybrid": "hybrid_dynamics",
    "dynamics.passive_forces": "joint_physics_regressor",
    "dynamics.reactions": "joint_reactions",
    "dynamics.rnea": "inverse_dynamics bias_forces gravity_forces",
    "dynamics.task_space": "task_space_dynamics operational_space_dynamics "
    "operational_inertia dynamically_consistent_inverse null_space_projector",
    "dynamics.wrenches": "external_wrench wrench_forces",
    "kinematics.forward": "forward_kinematics",
    "kinematics.frames": "frame_placement frame_placements frame_velocity frame_acceleration",
    "kinematics.jacobian": "jacobian jacobian_rate jacobian_bias",
    "kinematics.manifold": "integrate difference interpolate",
    "kinematics.manipulability": "manipulability",
    "kinematics.relative": "relative_jacobian relative_placement",
    "quantities.center_of_mass": "center_of_mass center_of_mass_velocity "
    "center_of_mass_acceleration center_of_mass_jacobian",
    "quantities.energy": "kinetic_energy potential_energy mechanical_energy",
    "quantities.momentum": "centroidal_momentum centroidal_momentum_rate "
    "centroidal_momentum_matrix centroidal_momentum_matrix_rate",
    "regressors": "joint_torque_regressor momentum_regressor kinetic_energy_regressor potential_energy_regressor",
    "kinetree.integrators.step": "step",
}
"""The algorithms of each page, in the order of their definition, those of this package first; a test compares it."""


class Table(Mapping[str, "Algorithm"]):
    """A read-only mapping from names to algorithms: those of the index, then those registered elsewhere.

    Parameters
    ----------
    package : str
        Where the pages are; that of another package has its whole name.
    pages : mapping of str to str
        The names of the algorithms of each page, with spaces between.
    setup : str
        The lines with which the examples of its algorithms begin.
    """

    def __init__(self, package: str, pages: Mapping[str, str], setup: str) -> None:
        self.index = {
            name: page if page.startswith("kinetree.") else f"{package}.{page}"
            for page, names in pages.items()
            for name in names.split()
        }
        self.setup = setup
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
)
"""Those of a robot."""

INDEX = ALGORITHMS.index
"""The module of each algorithm of this package."""


@functools.singledispatch
def table_of(model: Any) -> Table:
    """Return the table of the algorithms of such a model; the room of another kind of model registers its own."""
    return ALGORITHMS


class DocumentedFunctions:
    """The docstring of a class with the list of all algorithms, made when it is read because it imports every page."""

    def __init__(self, doc: str | None, table: Table = ALGORITHMS) -> None:
        self.doc, self._table = doc, table

    def __get__(self, instance: object, owner: type | None = None) -> str:
        docs = {name: (a.function.__doc__ or "").strip() for name, a in self._table.items()}
        lines = (f"    {name} : {doc.splitlines()[0] if doc else ''}" for name, doc in docs.items())
        return "\n".join([inspect.cleandoc(self.doc or ""), "", "Functions", "---------", *lines, ""])


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
    """Make the algorithms of this package's tables attributes of a class, and list them in its docstring."""
    for name in table.index:
        setattr(owner, name, FunctionOfClass(table, name))
    owner.__doc__ = DocumentedFunctions(owner.__doc__, table)  # type: ignore[assignment]  # it returns the string
