"""Write the stubs that are made of tables: ``python tools/make_signatures.py``.

``__init__.pyi`` of a package imports what its `NAMES` names. ``robot/signatures.pyi`` has a class for each function of
a robot or mechanism, with the parameters of its calls, and `RobotFunctions` and `MechanismFunctions`, whose attributes
they are: type checkers and editors take `kinetree.Robot` and `kinetree.Mechanism` to be derived from these.
``inverse_kinematics/signatures.pyi`` has the compiled functions of that room; ``motions/signatures.pyi`` and
``identification/signatures.pyi`` have the methods of a trajectory and of a fit that modules above define. They are not
in git: installing makes them (`tools/build_hook.py`), and who works without installing makes them by this command.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[1] / "src"
sys.path.insert(0, str(SOURCE))

import kinetree as kt
from kinetree.algorithms import ALGORITHMS, Algorithm
from kinetree.algorithms.registry import Joints, OneFrame, Option
from kinetree.algorithms.table import Table
from kinetree.constraints import MECHANISM_ALGORITHMS
from kinetree.lazy import lazy_method

HEAD = '''"""Compiled functions as type checkers see them. Made by `python tools/make_signatures.py`."""

# mypy: disable-error-code="override, overload-overlap"

from collections.abc import Mapping, Sequence
from typing import Any, Generic, Literal, NamedTuple, Self, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.constraints.inputs import ContactInputs
from kinetree.runtime import Function

_T = TypeVar("_T", bound=np.floating[Any])
_F32: TypeAlias = NDArray[np.float32]
_F64: TypeAlias = NDArray[np.float64]
_Wrenches: TypeAlias = ArrayLike | Mapping[str, ArrayLike]  # an array, or wrenches by the names of frames
_Number: TypeAlias = Any  # a NumPy scalar for one state, an array for many: as NumPy's own functions have it
'''


def title(name: str) -> str:
    """Return a name as that of a class, as the named tuples of results have it."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def option_type(option: Option) -> str:
    """Return the type of an option's values."""
    if isinstance(option, OneFrame):
        return "str" if option.required else "str | None"
    if isinstance(option, Joints):
        return "Sequence[str]"
    return f"Literal[{', '.join(map(repr, option))}]".replace("'", '"')


def option_default(option: Option) -> str:
    """Return the default of an option, empty if it must be given."""
    if isinstance(option, OneFrame):
        return "" if option.required else "None"
    return "()" if isinstance(option, Joints) else repr(option[0]).replace("'", '"')


def required(a: Algorithm) -> list[str]:
    """Return the options that a call must give."""
    return [name for name, option in a.options.items() if not option_default(option)]


def result(a: Algorithm, width: str) -> str:
    """Return the type of the results in float32 or float64."""
    if len(a.outputs) > 1:
        return f"{title(a.name)}[np.float{width}]"
    return f"_F{width}" if next(iter(a.outputs.values())) else "_Number"


def calls(a: Algorithm, left_out: list[str]) -> list[str]:
    """Return the overloads of a call: the result is float32 where all arrays are.

    Arrays of a dtype that is not known match the first one, which is therefore one of float64.
    """
    narrow = {name: "_F32" if shape else "np.float32 | _F32" for name, shape in {**a.inputs, **a.optional}.items()}
    wide = {name: "_Wrenches" if name == "f_ext" else "ArrayLike" for name in narrow}
    first = next(iter(narrow))
    kinds = ({**wide, first: narrow[first].replace("32", "64")}, "64"), (narrow, "32"), (wide, "64")
    return [call(a, arrays, width, left_out) for arrays, width in kinds]


def call(a: Algorithm, arrays: dict[str, str], width: str, left_out: list[str]) -> str:
    """Return the overload of a call with arrays of these types."""
    parts = ["self", *(f"{name}: {arrays[name]}" for name in a.inputs)]
    kinds = {name: arrays[name] for name in a.optional}
    if a.group is not None:
        kinds = {a.group.name if name in a.group.inner else name: kind for name, kind in kinds.items()}
        kinds[a.group.name] = a.group.kind
    parts += [f"{name}: {kind} | None = None" for name, kind in kinds.items()]
    options = {name: option for name, option in outside(a).items() if name not in left_out}
    out = f"_F{width}" if len(a.outputs) == 1 else f"Sequence[_F{width}]"
    parts += ["*", *keywords(options), f"out: {out} | None = None"]
    return f"    @overload\n    def __call__({', '.join(parts)}) -> {result(a, width)}: ..."


def outside(a: Algorithm) -> dict[str, Option]:
    """Return the options that are not fields of an argument."""
    return {name: option for name, option in a.options.items() if a.group is None or name not in a.group.inner}


def keywords(options: dict[str, Option]) -> list[str]:
    """Return the options as parameters."""
    defaults = {name: option_default(option) for name, option in options.items()}
    return [f"{n}: {option_type(o)}" + (f" = {defaults[n]}" if defaults[n] else "") for n, o in options.items()]


def binds(a: Algorithm) -> list[str]:
    """Return the overloads of `bind`."""
    needed = required(a)
    optional = [f"{name}: {option_type(option)} = ..." for name, option in outside(a).items() if name not in needed]
    if not needed:
        return [f"    def bind({', '.join(['self', '*', *optional]).removesuffix(', *')}) -> Self: ..."]
    given = [f"{name}: {option_type(a.options[name])}" for name in needed]
    some = ", ".join(["self", "*", *(f"{x} = ..." for x in given[:-1]), *optional])
    return [
        f"    @overload\n    def bind(self, *, {', '.join(given + optional)}) -> Bound{title(a.name)}: ...",
        f"    @overload\n    def bind({some.removesuffix(', *')}) -> Self: ...",
    ]


def warmup(a: Algorithm) -> str:
    """Return `warmup`, with the options of the function."""
    own = ['dtype: str = "float64"', "optional: tuple[str, ...] = ()", "single: bool = True", "batch: bool = True"]
    return f"    def warmup({', '.join(['self', '*', *own, *keywords(dict(a.options))])}) -> None: ..."


def classes(a: Algorithm) -> str:
    """Return the type of the results, if there are several, and that of the function; and with what it needs bound."""
    name, blocks = title(a.name), []
    if len(a.outputs) > 1:
        fields = [f"    {key}: {'NDArray[_T]' if shape else '_Number'}" for key, shape in a.outputs.items()]
        blocks.append("\n".join([f"class {name}(NamedTuple, Generic[_T]):", *fields]))
    blocks.append("\n".join([f"class {name}Function(Function):", *calls(a, []), *binds(a), warmup(a)]))
    if needed := required(a):
        options = {key: option for key, option in a.options.items() if key not in needed}
        bound = a._replace(options=options)
        parts = [*calls(a, needed), *binds(bound), warmup(bound)]
        blocks.append("\n".join([f"class Bound{name}(Function):", *parts]))
    return "\n\n".join(blocks)


def package(module: Any, *more: str) -> str:
    """Return the stub of a package: the imports of its public names."""
    lines = [f"from kinetree import {name} as {name}" for name in getattr(module, "SUBMODULES", ())]
    for home, names in module.NAMES.items():
        lines += [f"from kinetree.{home} import {name} as {name}" for name in names.split()]
    return f'"""{module.__doc__}"""\n\n' + "\n".join([*lines, "", "NAMES: dict[str, str]", *more, ""])


def functions_of(owner: str, table: Table) -> list[str]:
    """Return the classes of the functions of this owner, and the one whose attributes they are."""
    own = "Mechanism" if table is MECHANISM_ALGORITHMS else ""
    algorithms = [table[name] for name in table.index]
    attributes = []
    for a in algorithms:
        first = (inspect.getdoc(a.function) or "").splitlines()[0]
        attributes.append(
            f'    @property\n    def {a.name}(self) -> {own}{title(a.name)}Function:\n        r"""{first}"""'
        )
    functions = f'class {owner}Functions:\n    """The functions of a {owner.lower()}."""\n\n' + "\n\n".join(attributes)
    return [*(classes(a._replace(name=f"{own}_{a.name}")) for a in algorithms), functions]


def robots() -> str:
    """Return the stub of the functions of robots and mechanisms."""
    parts = [HEAD.strip(), *functions_of("Robot", ALGORITHMS), *functions_of("Mechanism", MECHANISM_ALGORITHMS)]
    return "\n\n".join(parts) + "\n"


def by_kind(name: str, first: str) -> str:
    """Return the class of a function for a dict of frames, whose targets have names that nobody knows beforehand."""
    kinds = ("_F32", "np.float32 | _F32", "32"), ("ArrayLike", "ArrayLike", "64")
    calls = (
        f"    def __call__(self, {first}: {kind}, *targets: {any_of}, out: Sequence[_F{width}] | None = None, "
        f"**named: {any_of} | None) -> {name}[np.float{width}]: ..."
        for kind, any_of, width in kinds
    )
    return f"class {name}FunctionByKind({name}Function):\n" + "\n".join(f"    @overload\n{call}" for call in calls)


def inverse_kinematics() -> str:
    """Return the stub of the solver and the differential step, for the pose of one frame and for dicts of frames."""
    robot, parts = kt.from_dh([kt.DHLink(a=1.0)]), [HEAD.strip()]
    made = {"solution": robot.inverse_kinematics_solver("tool"), "step": robot.differential_inverse_kinematics("tool")}
    for name, function in made.items():
        spec = function.spec
        inputs, optional = ({p.name: p.shape for p in ports} for ports in (spec.required, spec.inputs))
        optional = {key: shape for key, shape in optional.items() if key not in inputs}
        outputs = {p.name: p.shape for p in spec.outputs}
        parts.append(classes(Algorithm(name, function, inputs, optional, {}, outputs, False, {})))
        parts.append(by_kind(title(name), next(iter(inputs))))
    return "\n\n".join(parts) + "\n"


TRAJECTORIES = '''"""Methods of a trajectory as type checkers see them. Made by `python tools/make_signatures.py`."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Self

from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from kinetree.robot import Robot
from kinetree.robot.mechanism import Mechanism
from kinetree.tables import Cells
from kinetree.viewer.view import View

class PicturesAndFiles:
    """The methods of a trajectory that are imported at first use."""
'''

FITS = '''"""Methods of a fit as type checkers see them. Made by `python tools/make_signatures.py`."""

from os import PathLike
from typing import Any

from kinetree.identification.validation import Validation
from kinetree.logs.samples import Filter

class ReportAndValidation:
    """The methods of a fit that modules above define."""
'''


def methods(kind: type, head: str) -> str:
    """Return the stub of the methods of a class that are imported at first use."""
    parts = [head]
    for name in (name for name, method in vars(kind).items() if isinstance(method, lazy_method)):
        function = getattr(kind, name)
        signature = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(function)))
        signature = re.sub(rf"^\(\w+: {kind.__name__}\b", "(self", signature)
        if not signature.startswith("(self"):
            parts.append("    @classmethod\n")
            signature = signature.replace("(", "(cls, ", 1).replace(f"-> {kind.__name__}", "-> Self")
        text = (inspect.getdoc(function) or "").replace("\n", "\n        ")
        parts.append(f'    def {name}{signature}:\n        r"""{text}"""\n\n')
    return "".join(parts)


FILES = {
    SOURCE / "kinetree" / "__init__.pyi": lambda: package(kt, "__version__: str"),
    SOURCE / "kinetree" / "excitation" / "__init__.pyi": lambda: package(kt.excitation),
    SOURCE / "kinetree" / "identification" / "__init__.pyi": lambda: package(kt.identification),
    SOURCE / "kinetree" / "motions" / "signatures.pyi": lambda: methods(kt.Trajectory, TRAJECTORIES),
    SOURCE / "kinetree" / "identification" / "signatures.pyi": lambda: methods(kt.identification.Fit, FITS),
    SOURCE / "kinetree" / "robot" / "signatures.pyi": robots,
    SOURCE / "kinetree" / "inverse_kinematics" / "signatures.pyi": inverse_kinematics,
}

if __name__ == "__main__":
    for file, text in FILES.items():
        file.write_text(text(), encoding="utf-8")
