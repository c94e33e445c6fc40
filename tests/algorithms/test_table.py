"""The table of algorithms is complete and imports nothing before it is needed; pages' docstrings are complete."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import inspect
import itertools
import pickle
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kinetree as kt
from helpers.compiler import Use, trace, uses
from helpers.mechanisms import four_bar
from kinetree import algorithms, integrators
from kinetree.algorithms import ALGORITHMS
from kinetree.algorithms.registry import OneFrame, algorithm
from kinetree.algorithms.table import INDEX, PAGES
from kinetree.constraints import MECHANISM_ALGORITHMS, pages
from kinetree.constraints.pages import PAGES as MECHANISM_PAGES
from kinetree.errors import ArgumentError, ModelError
from kinetree.glossary.symbols import OPTIONS, SYMBOLS, TEXTS, shape_of_name
from kinetree.graph import Program
from kinetree.graph.graph import digest


def run(code: str) -> str:
    """Return what a new interpreter prints."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


LOADED = "print(sorted(m for m in sys.modules if m.startswith('kinetree.algorithms.') and m.count('.') > 2))"

TABLES = {"robot": ALGORITHMS, "mech": MECHANISM_ALGORITHMS}


@pytest.mark.parametrize("owner", TABLES)
def test_the_index_lists_what_the_pages_register(owner: str) -> None:
    packages, table, index = {
        "robot": ((algorithms, integrators), ALGORITHMS, PAGES),
        "mech": ((pages,), MECHANISM_ALGORITHMS, MECHANISM_PAGES),
    }[owner]
    registered: dict[str, str] = {}
    modules = (pkgutil.walk_packages(room.__path__, f"{room.__name__}.") for room in packages)
    for module in itertools.chain(*modules):
        page = importlib.import_module(module.name)
        functions = [v for v in vars(page).values() if inspect.isfunction(v) and v.__module__ == module.name]
        names = [a.name for f in functions for a in table._registered.values() if a.function is f]
        if names:
            registered[module.name.removeprefix(f"{packages[0].__name__}.")] = " ".join(names)
    expected = "\n".join(f'    "{page}": "{names}",' for page, names in registered.items())
    assert list(index.items()) == list(registered.items()), f"PAGES in the table of a {owner} must be\n{expected}"
    assert all(table[name].name == name for name in table.index)


def test_importing_and_loading_import_no_page() -> None:
    code = "import sys, kinetree as kt; r = kt.load('ur5'); from kinetree.algorithms import ALGORITHMS as A; dir(r); "
    code += "'jacobian' in A, 'nothing' in A, list(A), len(A), hasattr(r, 'nothing'); "
    assert run(code + LOADED) == "[]"
    one = run(code + "r.integrate; " + LOADED)
    assert one == "['kinetree.algorithms.kinematics.manifold']"


@pytest.mark.parametrize("name", algorithms.__all__)
def test_names_of_the_package(name: str) -> None:
    assert getattr(algorithms, name) is not None
    assert run(f"from kinetree.algorithms import {name}; print('there')") == "there"
    assert name in dir(algorithms)


def test_a_name_that_is_not_in_the_package() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        algorithms.nothing  # noqa: B018  # type: ignore[attr-defined]


def test_the_table_is_a_mapping() -> None:
    assert len(ALGORITHMS) == len(list(ALGORITHMS)) >= len(INDEX)
    assert list(ALGORITHMS)[: len(INDEX)] == list(INDEX)
    with pytest.raises(KeyError):
        ALGORITHMS["nothing"]
    with pytest.raises(TypeError):
        ALGORITHMS["mine"] = ALGORITHMS["jacobian"]  # type: ignore[index]


def test_a_page_that_another_thread_is_importing_is_waited_for() -> None:
    """Its algorithm is registered before the functions further down on the page are there."""
    code = """
import sys, threading, time
from kinetree.algorithms import ALGORITHMS
registered, go = threading.Event(), threading.Event()
register = type(ALGORITHMS).register
def slow(self, algorithm):
    register(self, algorithm)
    if algorithm.name == "inverse_dynamics":
        registered.set()
        go.wait(1)
type(ALGORITHMS).register = slow
threading.Thread(target=lambda: ALGORITHMS["bias_forces"]).start()
registered.wait()
print(hasattr(sys.modules[ALGORITHMS["inverse_dynamics"].function.__module__], "gravity_forces"))
"""
    assert run(code) == "True"


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Register an algorithm from outside the package, and remove it after the test."""
    monkeypatch.setattr(ALGORITHMS, "_registered", dict(ALGORITHMS._registered))

    @algorithm("toy_power", outputs={"power": ()}, inputs={"gains": ("nv", 2)}, options={"sign": ("plus", "minus")})
    def toy_power(model: kt.Model, v: Any, gains: Any, tau: Any = None, *, sign: str = "plus", frame: str) -> Any:
        """Power of a toy."""
        model.frame(frame)
        factor = 1.0 if sign == "plus" else -1.0
        return sum((x * y[0] * factor for x, y in zip(tau or v, gains, strict=True)), 0.0)

    return toy_power


def test_an_algorithm_from_outside(toy: Any) -> None:
    robot = kt.load("panda")
    assert "toy_power" in ALGORITHMS
    assert list(ALGORITHMS)[-1] == "toy_power"
    assert "toy_power" in dir(robot)
    gains = [[1.0, 2.0]] * 7
    assert robot.toy_power([1.0] * 7, gains, frame="panda_hand") == 7.0
    assert robot.toy_power([1.0] * 7, gains, [2.0] * 7, sign="minus", frame="panda_hand") == -14.0
    assert pickle.loads(pickle.dumps(robot.toy_power)).__name__ == "toy_power"
    assert "toy_power : Power of a toy." in (kt.Robot.__doc__ or "")
    for line in ("gains : (..., nv, 2) array", "tau : (..., nv) array, optional", 'sign : {"plus", "minus"}'):
        assert line in toy.__doc__
    assert "If there is no frame of that name." in toy.__doc__


def test_a_robot_made_before_finds_it() -> None:
    code = "import kinetree as kt; r = kt.load('ur5'); from kinetree.algorithms.registry import algorithm\n"
    code += "@algorithm('ratio', outputs={'r': ()})\ndef ratio(model, q): return q[0] / q[1]\n"
    assert run(code + "print(r.ratio([1.0, 2.0, 0, 0, 0, 0]), ratio.__doc__)") == "0.5 None"


def test_another_process_does_not_get_the_code_of_a_changed_algorithm() -> None:
    code = "import kinetree as kt; r = kt.load('ur5'); from kinetree.algorithms.registry import algorithm\n"
    code += "@algorithm('changing', outputs={{'r': ()}})\ndef changing(model, q): return q[0] {} q[1]\n"
    code += "print(r.changing([3.0, 2.0, 0, 0, 0, 0]))"
    assert [run(code.format(operation)) for operation in "/*"] == ["1.5", "6.0"]


def test_a_pickle_imports_the_module_of_its_algorithm(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.py").write_text(
        "from kinetree.algorithms.registry import algorithm\n\n"
        "@algorithm('half', outputs={'r': ()})\ndef half(model, q):\n    return 0.5 * q[0]\n"
    )
    path = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import pickle, kinetree as kt\n"
    made = run(path + "import elsewhere; print(pickle.dumps(kt.load('ur5').half).hex())")
    assert run(path + f"print(pickle.loads(bytes.fromhex({made!r}))([3.0] * 6))") == "1.5"
    lost = f"import pickle\ntry: pickle.loads(bytes.fromhex({made!r}))\nexcept ImportError as error: print(error.name)"
    assert run(lost) == "elsewhere"


def test_names_are_unique(toy: Any) -> None:
    def other(model: kt.Model, q: Any) -> Any:
        """Do something else."""

    algorithm("toy_power", outputs="tau")(other)  # the same module: a notebook's cell that is run again
    assert ALGORITHMS["toy_power"].function is other
    with pytest.raises(ArgumentError, match=r"kinematics.frames has an algorithm named 'jacobian' already"):
        algorithm("jacobian", outputs="J")(other)

    def elsewhere(model: kt.Model, q: Any) -> Any:
        """Do something else."""

    elsewhere.__module__ = "elsewhere"
    with pytest.raises(ArgumentError, match=r"already: give yours another name"):
        algorithm("toy_power", outputs="tau")(elsewhere)


def test_a_symbol_that_the_glossary_does_not_have(toy: Any) -> None:
    def wrong(model: kt.Model, torque: Any) -> Any:
        """Do nothing."""

    with pytest.raises(ArgumentError, match=r"no symbol 'torque'"):
        algorithm("wrong", outputs="tau")(wrong)
    assert "wrong" not in ALGORITHMS


def test_sections_that_a_page_writes_itself_take_precedence(toy: Any) -> None:
    def page(model: kt.Model, q: Any, v: Any) -> Any:
        """Do something.

        Parameters
        ----------
        v
            What I say.

        Returns
        -------
        (..., nv) array
            Mine.

        Raises
        ------
        KeyError
            Never.

        Warnings
        --------
        Beware.
        """

    doc = algorithm("mine", outputs="tau", raises="If it fails.")(page).__doc__
    assert doc is not None
    assert "v : (..., nv) array\n    What I say." in doc
    assert TEXTS["q"] in doc
    assert "Returns\n-------\n(..., nv) array\n    Mine.\n\nRaises\n------\nKeyError\n    Never.\n\nExamples\n" in doc
    assert doc.endswith("Warnings\n--------\nBeware.\n")


def test_a_source_and_an_example_need_no_title(toy: Any) -> None:
    def page(model: kt.Model, q: Any) -> Any:
        """Do something.

        Parameters
        ----------
        q
            Mine.

        References: A book,
        page 3.

        >>> robot.mine(q).shape
        (7,)

        >>> 1 + 1
        2
        """

    doc = algorithm("mine", outputs="tau")(page).__doc__
    assert doc is not None
    assert "    Mine.\n\nReturns\n" in doc
    assert "\n\nReferences\n----------\nA book,\npage 3.\n\nExamples\n--------\n>>> import kinetree" in doc
    assert doc.endswith(">>> robot.mine(q).shape\n(7,)\n\n>>> 1 + 1\n2\n")


def test_the_package_has_the_page_of_every_algorithm(toy: Any) -> None:
    for name in ("jacobian", "inverse_dynamics", "toy_power"):
        assert getattr(algorithms, name) is ALGORITHMS[name].function
    assert algorithms.fk is algorithms.forward_kinematics  # type: ignore[attr-defined]
    assert not hasattr(algorithms, "ik")


@pytest.mark.parametrize(("owner", "name"), [(owner, name) for owner in TABLES for name in TABLES[owner].index])
def test_docstrings_are_complete(owner: str, name: str) -> None:
    a = TABLES[owner][name]
    doc = a.function.__doc__ or ""
    sections = [
        s for s in ("Parameters", "Returns", "Raises", "Notes", "References", "Examples") if f"\n{s}\n---" in doc
    ]
    assert sections == sorted(
        sections, key=["Parameters", "Returns", "Raises", "Notes", "References", "Examples"].index
    )
    parameters, _, rest = doc.partition("\nReturns\n")
    taken = [*a.inputs, *a.optional, *a.options]
    if a.group is not None:
        taken = [x for x in taken if x not in (*a.group.inputs, *a.group.late, *a.group.options)] + [a.group.name]
        assert all(f"`{a.group.kind}.{field}`" in parameters for field in a.group.fields)
    for described, part in ((taken, parameters), (a.outputs, rest)):
        for symbol in described:
            entry = part.partition(f"\n{symbol} : ")[2].split("\n")
            assert entry[1].startswith("    "), f"{symbol} is not described"
            assert entry[1].strip()
    assert ("Raises" in sections) >= any(isinstance(o, OneFrame) for o in a.options.values())
    examples = doctest.DocTestParser().get_examples(doc)
    assert any(f"{owner}.{name}(" in e.source for e in examples)
    assert 4 <= len(examples) <= 8
    found = [t for t in doctest.DocTestFinder().find(sys.modules[a.function.__module__]) if t.examples]
    assert any(t.docstring == doc for t in found), "doctest does not collect it"


def test_the_glossary_has_no_symbol_that_no_page_uses() -> None:
    all_of_them = [table[n] for table in TABLES.values() for n in table.index]
    used = {name for a in all_of_them for name in (*a.inputs, *a.optional, *a.outputs)}
    assert set(SYMBOLS) <= used | {"t"}  # that one is for arguments of users' functions
    assert set(OPTIONS) == {name for a in all_of_them for name in a.options}


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        *((name, ("nq",)) for name in ("q", "q_des", "q_")),
        *((name, ("nv",)) for name in ("v", "a", "tau", "v_des", "a_max", "tau_max", "b")),
        ("f_ext", ("nb", 6)),
        *((name, None) for name in ("b_1", "kp", "f_ext_2", "x", "", "_q", "velocity", "q0")),
    ],
)
def test_shapes_of_users_arguments(name: str, shape: tuple[str | int, ...] | None) -> None:
    assert shape_of_name(name) == shape


def used(program: Program) -> set[str]:
    """Return the names of the inputs on which a program's results depend."""
    nodes = (program.graph[i] for i in program.schedule())
    return {program.inputs[node.payload[0]].name for node in nodes if node.op == "input"}


@pytest.mark.parametrize("owner", TABLES)
def test_every_input_and_every_choice_counts(owner: str) -> None:
    """What is not passed on to where it counts makes no difference to any program, of models that have everything."""
    mech = four_bar().mech
    tree = mech.tree.with_limits(lower=-2.0, upper=2.0, effort=5.0).with_joint_physics(damping=0.1).with_friction()
    touching = [kt.Contact("coupler", radius=0.1, friction=0.2), kt.ContactSlot("slot", "rocker")]
    held = [kt.Mechanism(tree, [*mech.constraints, *more], ["motor"]).model for more in ([], touching[:1], touching)]
    robot = kt.load("ur5").with_friction()
    models = held if owner == "mech" else [robot.model]
    for name, row in TABLES[owner].items():
        first = uses(row, ("rocker_tip" if held is models else "tool0", models[0].frame_names[2]), "")[0].options
        several = {
            option: x[1:] if isinstance(x, tuple) else [models[0].joint_names[:1]] for option, x in row.options.items()
        }
        others = [{option: x} for option in row.options.keys() - first.keys() for x in several[option]]
        seen, alike = set[str](), others
        for model in models:
            plain = trace(model, row, Use(tuple(row.optional), first))
            seen |= used(plain)
            same = []
            for other in others:
                with contextlib.suppress(ModelError):  # not for contacts, or not in slots
                    program = trace(model, row, Use(tuple(row.optional), first | other))
                    seen |= used(program)
                    same += [other] if digest(program) == digest(plain) else []
            alike = [other for other in alike if other in same]
        assert (seen, alike) == ({*row.inputs, *row.optional}, []), name
