"""Digests of what the compiler makes: of the optimised programs, and of the text of their LLVM IR.

They do not depend on the machine: the target is fixed, and the lines of the IR that name the machine are left out.
Nor do they depend on what functions and values are called in the IR: names are numbered in order of appearance.
"""

import hashlib
import json
import re
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import numpy as np

import kinetree as kt
from helpers.compiler import ALGORITHMS, batch_text, digest, optimize, single_text, trace, uses
from helpers.constraints import exact_mechanism
from helpers.exact_trees import exact_tree
from helpers.joints import EXAMPLES
from helpers.mechanisms import four_bar
from kinetree.constraints import MECHANISM_ALGORITHMS
from kinetree.errors import ModelError
from kinetree.runtime.spec import Variant

PATH = Path(__file__).parents[1] / "golden" / "digests.json"

FROZEN = {
    "Revolute": 3,
    "Continuous": 1,
    "Prismatic": 2,
    "Spherical": 0,
    "FreeFlyer": 0,
    "Universal": 2,
    "Helical": 1,
    "Cylindrical": 1,
    "Planar": 2,
    "RollPitchYaw": 0,
    "Mimic": 2,
}
"""The types of joints in the two trees of examples, with their last examples. A later type has a tree of its own, so
that it adds digests and changes none."""

EMBEDDED = ("ur5", "panda", "go2", "g1")

KINDS = {
    "single float64": lambda program: single_text(program, "float64"),
    "single float32": lambda program: single_text(program, "float32"),
    "batch float64": lambda program: batch_text(program, "float64", 8),
}
"""Of code."""

MECHANISM = "tree with constraints"

WITH_OPTIONS = ("tree of last examples, with friction", MECHANISM)
"""Robots of which there are programs with all options."""

SOLVERS = ("inverse_kinematics_solver", "differential_inverse_kinematics", "contact_solver", "simulation_step")

_NAME = re.compile(r"(?P<label>^[\w.]+(?=:))|(?P<name>[%@][\w.]+)|^(?P<machine>target \w+) = .*", re.MULTILINE)


def robots():
    """Return the names of the robots: the embedded ones, trees of all types of joints, and a mechanism."""
    later = [f"tree of {name}" for name, row in EXAMPLES.items() if name not in FROZEN and row[-1].nv > 0]
    return [*EMBEDDED, "tree of first examples", "tree of last examples, with friction", *later, MECHANISM]


@lru_cache
def robot(name):
    """Return the model of one of the robots."""
    if name in EMBEDDED:
        return kt.load(name).model
    if name == MECHANISM:
        return exact_mechanism()
    if name == "tree of first examples":
        return exact_tree("first", 11, [EXAMPLES[joint][0] for joint in FROZEN], followers=2)
    if name == "tree of last examples, with friction":
        tree = exact_tree("last", 12, [EXAMPLES[joint][last] for joint, last in FROZEN.items()], followers=1)
        return kt.Robot(tree).with_friction(damping=True, coulomb=True).model
    later = EXAMPLES[name.removeprefix("tree of ")][-1]
    return exact_tree("later", 13, [EXAMPLES["Planar"][0], later, EXAMPLES["Revolute"][3]])


def algorithms(name):
    """Return the table of a robot's algorithms."""
    return MECHANISM_ALGORITHMS if name == MECHANISM else ALGORITHMS


def ways(model, algorithm):
    """Return the ways to call an algorithm: the optional inputs left out, given, and then with every option."""
    names = model.frame_names
    return uses(algorithm, (names[-1], names[len(names) // 2]), model.joint_names[0])


def digests(name, algorithm, kinds=KINDS):
    """Return for each way to call an algorithm of a robot the digests of the program, and of these kinds of code.

    Of what is called with other options than the default ones there are digests of programs alone.
    """
    default = 1 + bool(algorithms(name)[algorithm].optional)
    found = enumerate(programs(name, algorithm).items())
    return {way: _of_program(program, kinds if k < default else ()) for k, (way, program) in found}


@lru_cache(maxsize=1)
def programs(name, algorithm):
    """Return the optimised program for each way to call an algorithm of a robot; with all options of some robots."""
    model, row = robot(name), algorithms(name)[algorithm]
    found = {}
    for use in ways(model, row)[: None if name in WITH_OPTIONS else 1 + bool(row.optional)]:
        with suppress(ModelError):  # contacts that jump have no integrator of higher order
            found[f"{name} {row.name}({use.name})"] = optimize(trace(model, row, use))
    return found


def solver_digests(name):
    """Return the digests of a function of `SOLVERS`: of UR5's tool, and the programs with all that can be given."""
    if name == "contact_solver":
        spec = kt.contact_solver(contacts=1, limits=1, bounded=1).spec
        variants = {
            f"{way} {name}(all)": Variant(spec.optional, (("solver", way),), "float64") for way in ("pgs", "admm")
        }
        return {use: _of_program(optimize(spec.trace(variant)), ()) for use, variant in variants.items()}
    if name == "simulation_step":
        return {f"{way} {name}()": _of_program(program, ()) for way, program in simulation_steps()}
    tree, mech = kt.Robot(robot("tree of first examples")), four_bar().mech
    several = {"tool": "pose", "link5": ["position", "orientation"], "link9": "look_at"}
    made = {
        "ur5 {}(tool0)": getattr(kt.load("ur5"), name)("tool0"),
        "tree of first examples {}(all)": getattr(tree, name)(several, fixed=tree.joint_names[:1]),
        "four-bar {}(all)": getattr(mech, name)({"coupler_tip": "position"}),
        "four-bar {}(all, fixed)": getattr(mech, name)({"coupler_tip": "position"}, fixed=["motor"]),
    }
    found = {}
    for use, function in made.items():
        given = function.spec.optional if "all" in use else ()
        program = optimize(function.spec.trace(Variant(given, (), "float64")))
        found[use.format(name)] = _of_program(program, () if given else KINDS)
    return found


def simulation_steps():
    """Yield the programs of steps of simulations, by what is chosen."""
    mech, q = four_bar()
    tree = kt.Robot(exact_tree("steps", 14, [EXAMPLES["Prismatic"][0], EXAMPLES["Universal"][0]]))
    falls = tree.compile(lambda q, v, least: v[0] - least, shapes={"least": ()}, name="falls")
    turns = tree.compile(lambda q, t: q[-1] - t, name="turns")
    law = tree.compile(lambda q, v, t, gain: -gain * v - t, shapes={"gain": ()}, name="law")
    events = [kt.Event(falls, most=2), kt.Event(turns, direction=-1), kt.Event(falls, name="end", stop=True)]
    forces = kt.Forces(tau=np.zeros((4, tree.nv)), interpolation="linear")
    resting = kt.Mechanism(tree, [kt.Contact(tree.frame_names[-1], radius=0.1)])
    integrators = ["euler", "semi_implicit_euler", "implicit_euler", "rk4", "tsitouras", "variational"]
    chosen = {
        i: {"integrator": i, "events": events[k % 2 :], "inputs": {"least": 0.5}} for k, i in enumerate(integrators)
    }
    chosen |= {
        "controller": {"controller": law, "inputs": {"gain": 2.0}},
        "called": {"controller": lambda q, v, t: v},
        "forces": {"forces": forces},
    }
    made = {way: (tree, tree.neutral(), more) for way, more in chosen.items()}
    made |= {"loop": (mech, q, {}), "contact": (resting, tree.neutral(), {"joints": "none"})}
    for way, (system, start, more) in made.items():
        step = system.simulation(start, **{"steps": 3, **more}).step
        yield way, optimize(step.spec.trace(Variant(step.spec.optional, (), "float64")))


def _of_program(program, kinds):
    texts = {kind: normalized(KINDS[kind](program)) for kind in kinds}
    found = {kind: hashlib.sha256(text.encode()).hexdigest()[:16] for kind, text in texts.items()}
    return {"program": digest(program).hex()[:16], **found}


def normalized(ir):
    """Return the IR with its functions, and the values and blocks of each, numbered in order of appearance.

    The names of LLVM's own functions stay, and the lines of the machine lose what they say of it.

    Examples
    --------
    >>> normalized("define void @f(ptr %x) {\\nentry:\\n  call void @llvm.g(ptr %x)\\n  ret void\\n}\\n")
    'define void @0(ptr %0) {\\n%1:\\n  call void @llvm.g(ptr %0)\\n  ret void\\n}\\n'
    """
    functions = {}
    locals_ = {}

    def number(match: re.Match[str]) -> str:
        if match["machine"]:
            return match["machine"]
        if match["label"]:
            return locals_.setdefault(f"%{match['label']}", f"%{len(locals_)}")
        name = match["name"]
        if name.startswith("%"):
            return locals_.setdefault(name, f"%{len(locals_)}")
        return name if name.startswith("@llvm.") else functions.setdefault(name, f"@{len(functions)}")

    parts = []
    for part in re.split(r"(?<=^}\n)", ir, flags=re.MULTILINE):  # function by function
        locals_.clear()
        parts.append(_NAME.sub(number, part))
    return "".join(parts)


def stored():
    """Return the digests on file."""
    return dict(json.loads(PATH.read_text())) if PATH.exists() else {}


def changes(now, before):
    """Return what differs, one line a way to call an algorithm of a robot."""
    lines = []
    for name in sorted(now.keys() | before.keys()):
        if name not in before:
            lines.append(f"{name}: new")
        elif name not in now:
            lines.append(f"{name}: gone")
        elif now[name] != before[name]:
            differ = [what for what in now[name] if now[name][what] != before[name].get(what)]
            lines.append(f"{name}: changed are {', '.join(differ) or 'its kinds'}")
    return lines


def everything():
    """Return all digests."""
    found = {k: v for name in robots() for a in algorithms(name) for k, v in digests(name, a).items()}
    return found | {k: v for name in SOLVERS for k, v in solver_digests(name).items()}


def regenerate():
    """Write all digests to the file, one line each, and print which are not what they were."""
    now = everything()
    lines = changes(now, stored())
    rows = (f"{json.dumps(name)}: {json.dumps(now[name], sort_keys=True)}" for name in sorted(now))
    PATH.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    print("\n".join(lines))
    print(f"{len(lines)} of {len(now)} changed; {PATH}")
