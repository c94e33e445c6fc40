"""Writes docs/examples.md, the gallery of examples, and draws its pictures: ``python docs/gallery.py``.

Each example of the folder ``examples`` has a function here, of the same name, that draws what it is about.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import kinetree as kt

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures" / "examples"
SIZE = (3.6, 2.6)  # inches
COLUMNS = 3

HEAD = """# Examples

Each is a program of 25 to 105 lines: `python examples/NAME.py`. The tests run them and check what they print.
This page is made by `python docs/gallery.py`, the moving pictures by `python docs/moving_pictures.py`, in the
[viewer](viewer.md).

"""


@cache
def example(name: str) -> SimpleNamespace:
    """Return what a program defines, without running its `main`."""
    return SimpleNamespace(**runpy.run_path(str(ROOT / "examples" / f"{name}.py")))


def computed_torque_10khz() -> Figure:
    """Draw the joints' way to and fro, which the loop follows."""
    run = example("computed_torque_10khz")
    t = np.linspace(0.0, 2 * np.pi / run.RATE, 50)
    q = run.START + run.AMPLITUDE * (1.0 - np.cos(run.RATE * t))[:, None]
    v = run.AMPLITUDE * run.RATE * np.sin(run.RATE * t)[:, None] * np.ones(7)
    return lines(t, [run.controller(*x) for x in zip(q, v, t, strict=True)], "t [s]", "torques [N·m]")


def controlled_panda() -> Figure:
    """Draw how the joints come to their goal."""
    run = example("controlled_panda")
    law = kt.Controller(run.computed_torque, inputs={"q_des": run.HOME, "kp": 100.0})
    motion = run.robot.simulate(run.HOME + 0.3, duration=1.0, controller=law, record=kt.Record(every=20))
    return lines(motion.t, np.degrees(motion.q - run.HOME), "t [s]", "errors [°]")


def falling_double_pendulum() -> Figure:
    """Draw the arm as it falls."""
    run = example("falling_double_pendulum")
    motion = run.arm().simulate(run.START, duration=0.6, joints="none")
    return sticks(motion, [0.0, 0.3, 0.6], projection="top")


def first_torque() -> Figure:
    """Draw the torques of a random state."""
    robot = kt.load("panda")
    tau = robot.inverse_dynamics(*robot.random_state(seed=0))
    figure, ax = panel("joint", "torque [N·m]")
    ax.bar(range(1, 8), tau)
    return figure


def follow_a_circle() -> Figure:
    """Draw the way of the hand."""
    run, robot = example("follow_a_circle"), kt.load("panda")
    step, q = robot.differential_inverse_kinematics(run.HAND), run.HOME
    target = robot.frame_placement(q, frame=run.HAND)
    centre, places = target[:3, 3] - np.array([0.0, run.RADIUS, 0.0]), []
    for angle in np.linspace(0.0, 2.0 * np.pi, 400):
        target[:3, 3] = centre + run.RADIUS * np.array([0.0, np.cos(angle), np.sin(angle)])
        q, *_ = step(q, target, run.PERIOD / 400, posture=run.HOME)
        places.append(robot.frame_placement(q, frame=run.HAND)[1:3, 3])
    figure, ax = panel("y [m]", "z [m]")
    ax.plot(*np.transpose(places))
    ax.set_aspect("equal")
    return figure


def hopping_leg() -> Figure:
    """Draw the fall, the landing and the first hop."""
    run = example("hopping_leg")
    return sticks(run.hop(*run.leg()), [0.0, 0.26, 0.41], projection="side")


def identify_panda() -> Figure:
    """Draw the estimates with their error bars beside the truth."""
    run, robot = example("identify_panda"), kt.load("panda")
    rng, truth = np.random.default_rng(0), run.reality()
    q, v, a = robot.random_state(seed=1, size=2000)
    tau = truth.inverse_dynamics(q, v, a) + 0.5 * rng.normal(size=q.shape)
    fit = robot.identify((q, v, a, tau), ["armature", "damping", "friction"], smoothing=0.01)
    figure, ax = panel("base parameter", "error [standard deviations]")
    ax.errorbar(range(len(fit.std)), (fit.values - fit.base.of(truth)) / fit.std, yerr=1.0, fmt=".", lw=0.8)
    return figure


def impedance_control() -> Figure:
    """Draw how the hand gives way to the push."""
    run = example("impedance_control")
    push = np.zeros((4000, 3))
    push[:2000, 1] = 30.0
    rollout = kt.scan(run.step, {"q": "q", "v": "v"}, per_step=["push"], record=["distance"])
    _, record = rollout(run.HOME, np.zeros(7), push, every=20)
    return lines(run.DT * 20 * np.arange(1, 201), 1e3 * record.distance, "t [s]", "off its goal [mm]")


def own_robot() -> Figure:
    """Draw the cart and the pole as it falls."""
    motion = example("own_robot").cart_pole().simulate([0.0, np.pi / 2], duration=1.0)
    return sticks(motion, [0.0, 0.3, 0.5], projection="side")


def path_within_limits() -> Figure:
    """Draw how the joints move on the way."""
    run = example("path_within_limits")
    path = run.minimum_time(kt.load("panda"), run.START, run.END, acceleration=10.0)
    t = np.linspace(0.0, path.duration, 100)
    return lines(t, path(t)[1], "t [s]", "speeds [rad/s]")


def randomised_pandas() -> Figure:
    """Draw the errors of 300 robots over what they carry."""
    run, rng, n = example("randomised_pandas"), np.random.default_rng(0), 300
    loads = np.zeros((n, 10))
    loads[:, 0] = rng.uniform(0.0, 3.0, n)
    loads[:, 3] = 0.1 * loads[:, 0]
    loads[:, [4, 6]] = 0.01 * loads[:, :1]
    inputs = {kt.payload("panda_hand"): loads}
    law = kt.Controller(run.hold, inputs={"q_des": run.HOME, "scale": 1.0})
    motion = run.robot.simulate(
        run.HOME + rng.normal(0.0, 0.05, (n, 7)),
        duration=1.0,
        controller=law,
        inputs=inputs,
        record=kt.Record(every=1000),
    )
    figure, ax = panel("load [kg]", "error [°]")
    ax.plot(loads[:, 0], np.degrees(abs(motion.q[:, -1] - run.HOME).max(axis=-1)), ".", ms=2)
    return figure


def spinning_bodies() -> Figure:
    """Draw the spin of the T-handle, which turns over again and again."""
    run = example("spinning_bodies")
    b = kt.ModelBuilder("T-handle")
    b.add_link("handle", kt.Inertia(0.1, [0, 0, 0], np.diag(run.HANDLE)))
    robot = kt.Robot(b.build(floating_base=True, gravity=(0, 0, 0)))
    start = [0.05, 10.0, 0.01, 0.0, 0.0, 0.0]
    motion = robot.simulate(robot.neutral(), start, duration=8.0, integrator="rk4", record=kt.Record(every=20))
    return lines(motion.t, motion.v[:, :3], "t [s]", "angular velocity [rad/s]")


def stepping_stones() -> Figure:
    """Draw how high the feet are as they land on their stones."""
    run = example("stepping_stones")
    mech, stones, heights = run.quadruped(), run.Stones(), []
    q, v, f = np.array([0.0, 0.0, 0.45, 0.0, 0.0, 0.0, 1.0, *run.STANCE]), np.zeros(18), np.zeros(12)
    for _ in range(400):
        centres = {foot: mech.tree.frame_placement(q, frame=foot)[:3, 3] for foot in run.FEET}
        slots = mech.slots({foot: stones.nearest(centre) for foot, centre in centres.items()})
        q, v, f, _, _ = mech.contact_step(q, v, np.zeros(18), run.DT, contacts=kt.ContactInputs(slots=slots), f_start=f)
        heights.append([1e3 * (centre[2] - run.RADIUS) for centre in centres.values()])
    return lines(run.DT * np.arange(400), heights, "t [s]", "feet above the ground [mm]")


def stewart_platform() -> Figure:
    """Draw the platform on its way."""
    run = example("stewart_platform")
    return sticks(run.follow(*run.platform())[2], [0.0, 1.0], projection="3d")


def turning_quadruped() -> Figure:
    """Draw the body's turn, from above."""
    run = example("turning_quadruped")
    start = np.concatenate([run.robot.neutral()[:7], run.STANCE])
    motion = run.robot.simulate(
        start, duration=run.SECONDS, controller=run.circling, joints="none", record=kt.Record(every=20)
    )
    body = motion.frame_placement(frame=run.robot.body_names[0])
    return lines(motion.t, np.degrees(np.arctan2(body[:, 1, 0], body[:, 0, 0])), "t [s]", "turned by [°]")


def unknown_payload() -> Figure:
    """Draw the share of postures in which the motors can hold a mass."""
    run, robot = example("unknown_payload"), kt.load("panda")
    holding = kt.compile(robot, "gravity_forces", inputs=[kt.payload(run.HAND, name="load")])
    q, masses, share = robot.random_configuration(seed=0, size=5000), np.linspace(0.0, 12.0, 40), []
    for mass in masses:
        load = np.asarray(kt.Inertia(mass, [0.0, 0.0, 0.1], np.zeros((3, 3))))
        share.append(100 * (np.abs(holding(q, load)) <= robot.effort_limits).all(axis=1).mean())
    return lines(masses, share, "mass [kg]", "postures held [%]")


def panel(x: str, y: str) -> tuple[Figure, Axes]:
    """Return a small figure with one pair of axes."""
    figure = Figure(figsize=SIZE, layout="constrained")
    ax = figure.subplots()
    ax.set(xlabel=x, ylabel=y)
    return figure, ax


def lines(x: kt.Array, y: object, x_label: str, y_label: str) -> Figure:
    """Draw lines, one for each column of `y`."""
    figure, ax = panel(x_label, y_label)
    ax.plot(x, np.asarray(y))
    return figure


def sticks(motion: kt.Trajectory, times: list[float], projection: str) -> Figure:
    """Draw some moments of a motion as stick figures."""
    return motion.plot_motion(times, projection=projection)


DRAW: dict[str, Callable[[], Figure]] = {
    path.stem: globals()[path.stem] for path in sorted((ROOT / "examples").glob("*.py"))
}


def page() -> str:
    """Return the text of docs/examples.md."""
    cells = []
    for name in DRAW:
        title = example_title(name)
        shown = [f"{name}.webp"] * (PICTURES / f"{name}.webp").exists() + [f"{name}.svg"]
        cells.append(
            "".join(f"[![{title}](pictures/examples/{picture})](../examples/{name}.py)<br>" for picture in shown)
            + f"**[{name}](../examples/{name}.py)** {title}"
        )
    rows = [cells[k : k + COLUMNS] for k in range(0, len(cells), COLUMNS)]
    rows[-1] += [""] * (COLUMNS - len(rows[-1]))
    table = ["|" + " |" * COLUMNS, "|" + "---|" * COLUMNS, *("| " + " | ".join(row) + " |" for row in rows)]
    return HEAD + "\n".join(table) + "\n"


def example_title(name: str) -> str:
    """Return the first sentence of a program's docstring, without the command."""
    first = (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8").split('"""')[1].split("\n\n")[0]
    return " ".join(first.split(": ``")[0].split()).rstrip(".") + "."


def draw_all(svg: Callable[[Figure], str]) -> None:
    """Draw the pictures of the gallery, and write its page."""
    PICTURES.mkdir(exist_ok=True)
    for name, draw in DRAW.items():
        with mpl.rc_context({"font.size": 8, "lines.linewidth": 1.0}):
            (PICTURES / f"{name}.svg").write_text(svg(draw()), encoding="utf-8")
    (ROOT / "docs" / "examples.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    draw_all(runpy.run_path(str(Path(__file__).with_name("draw_pictures.py")))["svg"])
    sys.exit(0)
