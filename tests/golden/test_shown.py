"""What people see is what they saw: pictures artist by artist, and printed text.

Where a change is intended, write the files anew with ``python tests/golden/regenerate.py shown`` and look at the
difference.
"""

import argparse
import inspect
import io
import math
import re
import warnings
from contextlib import suppress
from dataclasses import fields
from enum import Enum, EnumMeta
from fractions import Fraction
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from files import SDF, URDF, odd_files
from headers import headers, understood
from matplotlib.figure import Figure
from rich.console import Console

import kinetree as kt
from calls import calls as calls_of
from calls import odd, outcome
from helpers.mechanisms import four_bar
from helpers.shown import FOLDER, differences, figure_lines, stored, summary
from helpers.trees import toy
from kinetree.algorithms.registry import ALGORITHMS
from kinetree.aliases import KEYWORDS
from kinetree.cli import main
from kinetree.cli.arguments import COMMANDS
from kinetree.cli.commands import info
from kinetree.cli.program import make_parser
from kinetree.constraints.pages import MECHANISM_ALGORITHMS
from kinetree.formats import read_graph
from kinetree.identification import Generalised, Samples, cross_validate, prepare
from kinetree.identification.report import joints
from kinetree.integrators import INTEGRATORS
from kinetree.joints import Continuous, FreeFlyer, Planar, Prismatic, Revolute, Spherical
from kinetree.robot.table import joint_table, massless, missing_limits
from kinetree.tables import Cells, number

CASES = {}


def case(made):
    CASES[made.__name__] = made
    return made


def body(k):
    return kt.Inertia.from_com(1.0 + k, [0.1, 0.05 * k, -0.5], np.diag([0.3, 0.2, 0.1 + 0.01 * k]).tolist())


def tree(*joints, branch=False, name="tree", limits=None):
    builder = kt.ModelBuilder(name)
    builder.add_link("base")
    for k, joint in enumerate(joints):
        builder.add_link(f"b{k}", body(k))
        place = np.eye(4)
        place[:3, 3] = 0.1 * k, 0.2, -1.0 if k else 0.0
        parent = "base" if k == 0 else "b0" if branch else f"b{k - 1}"
        own = {"limits": limits[k]} if limits and limits[k] else {}
        builder.add_joint(f"j{k}", parent=parent, child=f"b{k}", joint=joint, placement=place.tolist(), **own)
    return kt.Robot(builder.build())


def arm():
    """Return an arm of which one joint has no limit of its force."""
    limits = [kt.JointLimits(-1, 2, 3, 90), kt.JointLimits(-2, 1.5, 2, np.inf), kt.JointLimits(-0.5, 1, 1, 60)]
    robot = tree(Revolute((0, 1, 0)), Revolute((1, 0, 0)), Prismatic((0, 0, 1)), name="arm", limits=limits)
    return robot.with_joint_physics(damping=[0.5, 1.0, 0.2], friction=[2.0, 1.0, 0.5]).with_friction(smoothing=0.05)


def waves(robot, n=60, lead=(), **kept):
    """Return a motion in closed form, the robots of a batch one after the other."""
    t = np.linspace(0.5, 2.0, n)
    size = np.linspace(0.4, 1.0, robot.nv) * (1.0 + np.arange(np.prod(lead, dtype=int)).reshape(*lead, 1, 1))
    v = 3.0 * np.cos(3.0 * t)[:, None] * size
    q = robot.integrate(np.broadcast_to(robot.neutral(), (*lead, n, robot.nq)), np.sin(3.0 * t)[:, None] * size)
    return kt.Trajectory(robot, t, q, v, **{"tau": 2.0 * v**2, **kept})


def samples(robot, phase=0.0):
    """Return waves of three speeds, and forces with a residual that no model explains."""
    t, w = 0.01 * np.arange(500.0)[:, None], 2.0 + np.arange(robot.nv)
    q, v, a = (0.5 * w**n * np.sin(w * t + phase + n * np.pi / 2) for n in range(3))
    rest = 0.3 * np.sin(40.0 * w * t) + 0.2 * np.sin(500.0 * t**2)
    return Samples(q, v, a, robot.inverse_dynamics(q, v, a) + rest, t=t[:, 0])


def saved(write):
    """Yield what the figures show that are written to files, at last, and how they are written."""
    seen = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", saver(seen, Figure.savefig))
        write()
    for figure, options in seen.items():
        yield from figure_lines(figure)
        yield f"written with {options}"


def saver(seen, save):
    def savefig(figure: Figure, *arguments: Any, **options: Any) -> None:
        seen[figure] = options
        save(figure, *arguments, **options)

    return savefig


@case
def pictures_of_motions(folder):
    turning, moving = tree(Revolute((0, 1, 0)), Revolute((0, 1, 0))), tree(FreeFlyer(), Planar())
    yield from figure_lines(waves(turning, stopped_at=1.5).plot())
    yield from figure_lines(waves(arm(), lead=(3,)).plot(frames=["b1"]))
    yield from figure_lines(waves(moving, 30, (2,), stopped_at=[np.nan, 1.0]).plot())
    yield from figure_lines(waves(turning, 30, stopped_at=1.5).plot_motion([0.5, 1.0, 2.0]))
    yield from figure_lines(waves(moving, 30).plot_motion(2, projection="3d"))
    far = waves(moving, 30)
    far = kt.Trajectory(moving, far.t, far.q + np.outer(far.t, [50.0, *[0.0] * (moving.nq - 1)]), far.v)
    yield from figure_lines(far.plot_motion(2))
    for name, options in (
        ("front.gif", {"projection": "front"}),
        ("top.gif", {"projection": "top"}),
        ("space.gif", {"speed": 0.5}),
    ):
        yield from saved(partial(waves(moving, 30).animate, folder / name, fps=2, **options))


@case
def pictures_of_identification(folder):
    fit = arm().identify(samples(arm()), ["damping"])
    two = [samples(arm(), 0.3), samples(arm(), 0.7)]
    yield from saved(lambda: fit.report(folder / "fit.html", training=samples(arm()), validation=two))
    yield from saved(lambda: fit.report(folder / "fit.html", training=samples(arm())))


@case
def picture_of_an_excitation(folder):
    plan = arm().excite(
        ["damping", "friction"],
        series=kt.Series(period=4.0, harmonics=2),
        limits=kt.MotionLimits(fraction=1.0, acceleration=6.0),
        iterations=3,
        noise=[0.5, 0.2, 1.0],
    )
    yield from figure_lines(plan.plot())


@case
def pictures_of_the_shell(folder):
    robot, motion = folder / "arm.urdf", folder / "motion.npz"
    waves(arm(), 40).save(motion)
    for effort in (1e4, 60.0, 10.0):
        robot.write_text(arm().with_friction(damping=False, coulomb=False).with_limits(effort=effort).to_urdf())
        call = ["inverse-dynamics", robot, motion, "--quiet", "--plot", folder / "tau.svg"]
        yield from saved(partial(main, [*map(str, call)]))


@case
def texts(folder):
    odd = tree(FreeFlyer(), Prismatic((0, 3, 4)), Continuous((-1, 0, 0)), Spherical(), branch=True, name="[b]:smile:")
    odd = odd.with_joint_physics(stiffness={"j1": 3.0}, rest_position={"j1": 0.25}).with_frame(
        "[i]tip:cat:", on="b1", placement=np.eye(4)
    )
    mech, q = four_bar()
    fit, motion = arm().identify(samples(arm()), ["damping"]), samples(arm())
    filtered = arm().identify(prepare(arm(), motion.t, motion.q, motion.tau, filter=kt.Filter(cutoff=5.0)), ["damping"])
    series, limits = kt.Series(period=4.0, harmonics=2), kt.MotionLimits(acceleration=6.0)
    plan = arm().excite(["damping"], series=series, limits=limits, iterations=0, noise=[0.5, 0.2, 1.0])
    yield " ".join(number(x * 10.0**k) for k in range(-6, 14) for x in (1.0, -9.99996))
    yield from (f"{name}{inspect.signature(getattr(odd, name))}" for name in ("inverse_dynamics", "jacobian", "step"))
    for shown in (
        odd,
        kt.Mechanism(odd, [kt.Gear({"j1": 1.0, "j2": 2.0})]),
        arm(),
        mech,
        mech.mobility(q),
        fit.base,
        filtered,
        fit,
        fit.validate(samples(arm(), 0.3)),
        plan,
        waves(odd),
    ):
        yield from (text for text in (repr(shown), str(shown)) if not text.startswith("Validation("))


@case
def terminals(folder):
    """Yield tables as terminals of some widths show them, and what is said of joints and bodies."""
    solid = kt.Inertia.from_com(2.0, [0, 0, 0], np.eye(3))
    rotor = kt.Inertia.from_com(0.0, [0, 0, 0], np.diag([1.0, 2.0, 3.0]))  # its mass is counted elsewhere
    whole, half, none = ({"limits": kt.JointLimits(-1, 1, *x)} for x in ((2, 3), (2, 0), (0, 0)))
    slide, roll = ("slide rail slider", Prismatic((-1, 0, 0)), whole), ("roll slider wheel", Continuous((0, 3, 4)))
    grip, z = ("grip slider hand", Revolute((0, 1, 0)), whole), Revolute((0, 0, 1))
    empty = {"rail": kt.Inertia.zero(), "hand": kt.Inertia.zero(), "slider": solid}
    cart = toy(slide, roll, grip, links=empty, name="cart")
    pair = toy(("j1 base one", z, none), ("j2 one two", z, half), name="pair")
    yield " ".join(map(number, (math.inf, math.nan, 0.0, 87.0, 1e-9, 1.7e9)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from (*massless(cart), *massless(kt.Robot(cart).attach(rotor, "hand").model))
    yield from (*missing_limits(cart), *missing_limits(pair))
    fit = arm().identify(samples(arm()), ["damping"])
    found = fit.validate(samples(arm(), 0.3))
    for width in (30, 40, 60, 66, 72, 120):
        shown = Console(width=width, file=io.StringIO())
        for model in (cart, pair, *([kt.load("g1").model] if width in (30, 60, 72) else [])):
            shown.print(joint_table(model, width))
        shown.print(WIDE.for_terminal(width))
        shown.print(joints(fit, found, found).for_terminal(width), fit.table().for_terminal(width))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(info, "console", lambda shown=shown: shown)
            info.list_embedded(argparse.Namespace(json=False))
        lines = [line.rstrip() for line in shown.file.getvalue().splitlines()]
        assert max(map(len, lines)) <= width
        yield from (f"in {width} columns", *lines)


WIDE = Cells({"name": "left", "wide": "left", "slim": "right"}, [("n" * 20, "w" * 20, "s" * 4)], ["slim", "wide"])


@case
def numbers_of_identification(folder):
    """Yield what estimators make of a log, and what filters make of one with noise, outliers and gaps."""
    robot, log, other, terms = arm(), samples(arm()), samples(arm(), 1.0), ["damping", "friction"]
    ways = {
        "joints": {},
        "plain": {"by": kt.LeastSquares(weights=None, correlated=False)},
        "generalised": {"by": Generalised()},
        "huber": {"by": kt.Robust()},
        "cauchy": {"by": kt.Robust("cauchy")},
        "instruments": {"by": kt.Instrumental(other)},
        "spread": {"bodies": kt.Bodies(spread=0.05)},
        "bounds": {"bodies": kt.Bodies(bounds={"b2": [[-0.1, -0.1, -0.4], [0.3, 0.3, 0.1]]})},
        "known": {"known": {"damping of j0": 0.01, "friction of j1": 0.0}, "smoothing": 0.1},
        "motors": {"motor_constants": ["j1"]},
        "stribeck": {"stribeck_speed": 0.2},
    }
    for name, way in ways.items():
        fit = robot.identify(log, [*terms, "stribeck"] if name == "stribeck" else terms, check=False, **way)
        yield f"{name}: {summary(fit.values)} | {summary(fit.std)} | {summary(fit.consistent_values)}"
    for found in (fit.validate(other), *cross_validate(robot, [log, other], terms)):
        yield f"validation: {summary(found.rms)} | {summary(found.autocorrelation)} | {found.bound:.6g}"
    t = np.delete(log.t + 1e-4 * np.sin(1e3 * log.t), slice(200, 210))
    q, tau = (np.delete(np.asarray(x), slice(200, 210), axis=0) for x in (log.q, log.tau))
    q = q + 1e-5 * np.sin(1e4 * t)[:, None]
    q[100], tau[300] = q[100] + 0.5, 1e3
    for choice in ({}, {"cutoff": 5.0}, {"presliding": 0.01}, {"standing": 0.1}, {"decimate": 4}, {"outliers": 8.0}):
        made = prepare(robot, t, q, tau, filter=kt.Filter(**{"cutoff": 8.0, **choice}), check=False)
        arrays = (made.t, made.q, made.v, made.a, made.tau, made.direction, made.standing)
        yield f"{choice}: {made.cutoff} | {' | '.join(summary(x) for x in arrays if x is not None)}"


@case
def numbers_of_simulations(folder):
    """Yield where motions end, and what happened on the way."""
    robot, (mech, q) = arm(), four_bar()
    ball = kt.Mechanism(tree(FreeFlyer(), Revolute((0, 1, 0))), [kt.Contact("b0", radius=0.2, restitution=0.4)])
    start = np.concatenate([[0.0, 0.0, 0.5], ball.tree.neutral()[3:]])
    rises = robot.compile(lambda q, v: -0.5 - v[2], name="rises")
    motions = {
        integrator: robot.simulate(np.zeros(3), [0.5, 0.0, 0.1], duration=0.1, dt=0.01, integrator=integrator, **more)
        for integrator, more in (
            ("semi_implicit_euler", {"record": ["q", "v", "a", "tau"]}),
            ("implicit_euler", {"forces": kt.Forces(tau=[1.0, 2.0, 3.0])}),
            ("rk4", {"controller": lambda q, v, t: -5.0 * q - v, "events": [kt.Event(rises, name="rises", stop=True)]}),
            ("variational", {"joints": "none"}),
            (
                "tsitouras",
                {"forces": kt.Forces(tau=np.linspace([0.0, 0.0, 0.0], [9.0, -9.0, 9.0], 11), interpolation="linear")},
            ),
        )
    }
    floating = tree(FreeFlyer(), Revolute((0, 1, 0)))
    held = floating.compile(lambda q, v: -2.0 * v, name="held")
    v = np.linspace(-1.0, 1.0, floating.nv)
    motions["floating"] = floating.simulate(
        floating.neutral(),
        v,
        duration=0.1,
        dt=0.01,
        integrator="variational",
        controller=held,
        record=["q", "v", "tau"],
    )
    motions["loop"] = mech.simulate(q, duration=0.2, dt=0.01, record=["q", "v", "f"])
    motions["contact"] = ball.simulate(start, duration=0.6, dt=0.005, record=["q", "v", "f"])
    for name, motion in motions.items():
        kept = {x: getattr(motion, x) for x in motion.recorded}
        counts = [f"{what} {float(count):.3g}" for what, count in motion.counts.items()]
        happened = [f"{event.name} at {event.time:.6g}" for event in motion.events]
        yield f"{name}: {motion!r} {' '.join([*counts, *happened])}"
        yield from (f"  {x}: {summary(array)}" for x, array in kept.items())
        middle = motion.at(0.4 * motion.t[-1])
        others = middle.q, middle.v, motion.mechanical_energy, motion.momentum()
        yield f"  {' | '.join(map(summary, others))}"


GIVEN = (
    *("-1", "0", "0.5", "1", "7", "1e400", "nan", "x", "1,2", "-1,2", "1,-2", "1,inf", "1,0,0,0.1@f", "1,nan,0,0"),
    *("a=1", "a=b@c", "a=0,1,2", "a=1,0,2", "a=0,1,0,1,0,1", "a=0,1,0,1,1,0", "l=2@f", "l=2,0,0,1@f", "a@b,a@c", "a,a"),
)


@case
def options_of_the_shell(folder):
    """Yield each option with its default, and what it makes of some texts; those that make the same are together."""
    readers = {}
    for name in COMMANDS:
        for action in make_parser(name)._actions[1:]:
            option = f"{name} {'/'.join(action.option_strings) or action.dest}"
            choices = [*action.choices] if action.choices else ""
            yield f"{option}: {action.default!r} {action.nargs} {action.required} {action.metavar} {choices}"
            if callable(action.type):
                texts = made({text: (partial(action.type, text), text) for text in GIVEN})
                readers.setdefault(texts, []).append(option)
    for results, options in readers.items():
        yield from (f"{', '.join(options)}:", results)


NUMBERS = {
    **{repr(x): x for x in (True, -1, 0, 1, 7, 0.5, 1.5, math.nan, math.inf, "x", None, [1.0, 2.0])},
    **{"float32": np.float32(0.5), "1/2": Fraction(1, 2), "int64": np.int64(7)},
}
NEEDED = {
    "Contact": {"frame": "a"},
    "ContactSlot": {"name": "s", "frame": "a"},
    "FrameTarget": {"pose": np.eye(4).tolist()},
    "Gear": {"ratios": {"a": 1.0, "b": 2.0}},
    "Loop": {"frame": "a", "to": "b", "joint": Revolute((0, 1, 0))},
    "LookAt": {"point": [1.0, 2.0, 3.0]},
    "Mimic": {"joint": Revolute((0, 1, 0)), "factor": 2, "offset": 1},
    "OutputError": {"simulate": max},
    "Rod": {"frame": "a", "to": "b", "length": 1.0},
    "Weld": {"frame": "a"},
    "Wheel": {"frame": "a", "radius": 1.0},
}
ROOMS = ("conventions", "excitation", "identification", "inverse_kinematics", "joints", "modern_robotics")
PLACES = (kt, *(import_module(f"kinetree.{room}") for room in ROOMS))
PUBLIC = {name: getattr(place, name) for place in PLACES for name in place.__all__}
VALUES = [
    *("ADMM", "Bodies", "Contact", "ContactInputs", "ContactSlot", "ContactSolver", "DHLink", "Filter", "Forces"),
    *("FrameTarget", "GaussSeidel", "Gear", "JointLimits", "LeastSquares", "Loop", "LookAt", "MotionLimits"),
    *("Cylindrical", "Helical", "Mimic", "Planar", "Prismatic", "Revolute", "RollPitchYaw", "Universal"),
    *("OutputError", "Record", "Robust", "Rod", "Sensors", "Series", "Tsitouras", "Weld", "Wheel"),
]


@case
def values(folder):
    """Yield what the fields of public values are by default, and what is made of numbers and others in their place."""
    for name in VALUES:
        kind: Any
        kind, needed = PUBLIC[name], NEEDED.get(name, {})
        yield repr(kind(**needed))
        for field in fields(kind):
            taken = {text: (partial(kept, kind, field.name, needed, x), x) for text, x in NUMBERS.items()}
            if not (told := made(taken)).endswith(f"{[*NUMBERS][-1]} → kept"):
                yield f" {field.name}:\n{told}"


@case
def signatures(folder):
    """Yield the arguments of public functions and methods of which some may be left out, and what they are then."""
    classes = [x for x in PUBLIC.values() if isinstance(x, type) and not issubclass(x, Enum)]
    methods = [getattr(kind, name) for kind in classes for name in dir(kind) if not name.startswith("_")]
    found = set()
    for function in filter(callable, [*PUBLIC.values(), *methods]):
        if not isinstance(function, EnumMeta) and str(getattr(function, "__module__", "")).startswith("kinetree"):
            with suppress(ValueError):
                given = inspect.signature(function).parameters.values()
                bare = inspect.Signature([x.replace(annotation=x.empty) for x in given])
                found.add(f"{getattr(function, '__qualname__', function)}{bare}")
    yield from sorted(line for line in found if "=" in line)


@case
def keywords(folder):
    """Yield what is said of arguments that have this name in another library, or are a part of a value here."""
    robot, mech = arm(), four_bar().mech
    twice, thrice = ([0.0] * 3,) * 2, ([0.0] * 3,) * 3
    names = sorted({*KEYWORDS, *(x.name for value in VALUES for x in fields(PUBLIC[value])), "nobody"})
    for function, given in (
        (robot.simulate, ([0.0] * 3,)),
        (robot.simulation, ([0.0] * 3,)),
        (robot.step, (*thrice, 0.1)),
        (robot.inverse_kinematics, ([0.0] * 3, "b2")),
        (robot.identify, (samples(robot),)),
        (robot.excite, (["damping"],)),
        (mech.contact_dynamics, thrice),
        (mech.impulse, twice),
        (kt.load, ("ur5",)),
        (kt.Contact, ("a",)),
    ):
        known = inspect.signature(function).parameters
        tried = {name: (partial(function, *given, **{name: 1.0}), name) for name in names if name not in known}
        yield f"{getattr(function, '__qualname__', function.__name__)}:\n{made(tried)}"


@case
def calls(folder):
    """Yield what functions return, and what they make of one argument after the other that is odd."""
    for name, (function, given) in calls_of(arm(), samples(arm())).items():
        yield f"{name}: {(usual := outcome(function, given))}"
        for argument, value in given.items():
            tried = {text: (partial(outcome, function, given | {argument: x}, usual), x) for text, x in odd(value)}
            yield f" {argument}:\n{made(tried)}"


@case
def files(folder):
    """Yield what files say, and what they say with one thing after the other that is odd."""
    yield re.sub(r"[(),=]", " ", repr(read_graph(URDF)[0]._replace(geometry=None)))
    for kind, text in (("URDF", URDF), ("SDF", SDF.read_text())):
        yield f"{kind}: {(usual := outcome(kt.load, {'source': text}))}"
        lenient = partial(kt.load, lenient=True)
        elements = {}
        for name, what, value, other in odd_files(text):
            elements.setdefault(name, {})[what] = partial(outcome, kt.load, {"source": other}, usual), value
            elements[name][f"({what})"] = partial(outcome, lenient, {"source": other}, usual), value
        for name, tried in elements.items():
            yield f" {name}:\n{made(tried)}"


@case
def columns(folder):
    """Yield what the columns of tables are by their headers, those together that are the same, and what is refused."""
    for name, kind, tried in headers():
        read = {text: (partial(understood, header, name, kind), text) for text, header in tried.items()}
        yield f"{name}, {kind}:\n{made(read)}"


@case
def tables(folder):
    """Yield of each function of robots and mechanisms what goes in, of what range, what is chosen, what comes out."""
    for table in (ALGORITHMS, MECHANISM_ALGORITHMS):
        for name, row in table.items():
            parts = [f"{part}: {x}" for part, x in row._asdict().items() if x and part not in ("name", "function")]
            yield re.sub(r" at 0x\w+", "", "\n  ".join([name, *parts]))


def kept(kind, field, needed, value):
    return getattr(kind(**{**needed, field: value}), field)


def made(calls):
    """Return what is made of values, those together of which the same is said."""
    results = {}
    for text, (call, given) in calls.items():
        try:
            result = "kept" if (value := call()) is given else repr(value)
        except (argparse.ArgumentTypeError, AttributeError, TypeError, ValueError, ArithmeticError) as error:
            known = isinstance(error, kt.errors.KinetreeError | argparse.ArgumentTypeError)
            it = f"(?:(?<= )|^)(?:{re.escape(repr(given))}|{re.escape(str(given))})(?=[ ,:;]|$)"
            result = re.sub(it, "it", str(error)) if known else type(error).__name__
        results.setdefault(result, []).append(text)
    return "\n".join(f"  {' | '.join(texts)} → {result}" for result, texts in results.items())


@pytest.mark.parametrize("name", CASES)
def test_it_is_what_it_was(name, tmp_path, monkeypatch):
    for own, x in [*INTEGRATORS.items()]:
        if not getattr(x, "function", x).__module__.startswith("kinetree"):  # other tests have registered it
            monkeypatch.delitem(INTEGRATORS, own)
    now = "\n".join(CASES[name](tmp_path)) + "\n"
    assert not differences(now, stored(name))


def regenerate(folder):
    """Write the files anew."""
    FOLDER.mkdir(exist_ok=True)
    for name, lines in CASES.items():
        (FOLDER / f"{name}.txt").write_text("\n".join(lines(folder)) + "\n", encoding="utf-8")
