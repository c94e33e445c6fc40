"""Films motions in the viewer, for README.md and docs/examples.md: ``python docs/moving_pictures.py [NAME …]``.

It needs Chromium, Pillow, and the meshes of example-robot-data (the extra ``test``), and takes a minute a picture.
The pictures are kept: the site's build does not make them.
"""

from __future__ import annotations

import runpy
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from PIL import Image

import kinetree as kt

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
JUMP, JUMPS = 1.0, 4  # s; how many
STRETCH, TRIM, TURN = 0.2, 0.57, 0.1  # rad of the legs; more by the hind ones; of the hips
FEET = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")
SIZE, RATE, QUALITY = (300, 220), 12.5, 70  # pixels; pictures a second; of WebP
sys.path.insert(0, str(ROOT / "tests"))

from helpers.chromium import Chromium  # noqa: E402
from kinetree.viewer.view import moments  # noqa: E402
from robots import erd_urdf  # noqa: E402

DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))))"
"""A promise of JavaScript that is kept when what has come is drawn."""


class Shot(NamedTuple):
    """A motion, where it is seen from (m), and how."""

    motion: kt.Trajectory
    camera: tuple[float, float, float]
    target: tuple[float, float, float]
    size: tuple[int, int] = SIZE
    speed: float = 1.0
    dressed: str = ""


@cache
def example(name: str) -> SimpleNamespace:
    """Return what an example defines, without running its `main`."""
    return SimpleNamespace(**runpy.run_path(str(ROOT / "examples" / f"{name}.py")))


def go2_that_jumps() -> Shot:
    """Film Go2: each second its legs bend, stretch, are drawn in, and land a quarter turn further."""
    robot = kt.load("go2").with_friction(coulomb=False)
    thigh = np.array([float("thigh" in name) for name in robot.joint_names[1:]])
    calf = np.array([float("calf" in name) for name in robot.joint_names[1:]])
    hip = np.array([float("hip" in name) for name in robot.joint_names[1:]])
    front = np.array([1.0 if name.startswith("F") else -1.0 for name in robot.joint_names[1:]])

    @robot.compile
    def jumping(q: kt.Array, v: kt.Array, t: float) -> kt.Array:
        phase = t - np.floor(t / JUMP) * JUMP
        push = kt.where(phase > 0.45, kt.where(phase < 0.55, 1.0, 0.0), 0.0)
        low = kt.where(phase < 0.45, 1.0, 0.0)
        bend = 0.85 + 0.25 * low - STRETCH * push * (1.0 - TRIM * front)
        wanted = bend * thigh - 2.0 * bend * calf + TURN * push * front * hip
        return np.concatenate([np.zeros(6), 90.0 * (wanted - q[7:]) - 3.0 * v[6:]])

    mech = kt.Mechanism(robot, [kt.Contact(foot, radius=0.02, friction=0.8) for foot in FEET])
    start = np.array([0.0, 0.0, 0.33, 0.0, 0.0, 0.0, 1.0, *(0.9 * thigh - 1.8 * calf)])
    motion = mech.simulate(start, duration=JUMP * JUMPS, controller=jumping, dt=1e-3, record=kt.Record(every=40))
    return Shot(motion, (0.95, -0.85, 0.5), (0.0, 0.0, 0.27), (400, 300), dressed="go2")


def panda_on_its_way() -> Shot:
    """Film Panda on its way between two configurations, there and back."""
    robot = kt.load("panda")
    ends = np.array([0.9, -0.6, 0.2, -2.3, 0.0, 2.2, 0.8]), np.array([-0.9, 0.5, -0.2, -1.4, 0.0, 1.9, 0.8])
    t = np.linspace(0.0, 1.0, 51)
    there, back = (kt.motions.quintic(robot, *way, duration=1.0)(t)[0] for way in (ends, ends[::-1]))
    return Shot(
        still(robot, np.concatenate([there, back[1:]]), 4.0),
        (1.35, -1.15, 1.0),
        (0.15, 0.0, 0.45),
        (400, 300),
        dressed="panda",
    )


def still(robot: kt.Robot, q: kt.Array, duration: float) -> kt.Trajectory:
    """Return configurations at equal times as a motion."""
    return kt.Trajectory(robot, np.linspace(0.0, duration, len(q)), q, np.zeros((len(q), robot.nv)))


def computed_torque_10khz() -> Shot:
    """Film the way to and fro, on which the loop is closed."""
    run = example("computed_torque_10khz")
    t = np.linspace(0.0, 2.0 * np.pi / run.RATE, 60)
    q = run.START + run.AMPLITUDE * (1.0 - np.cos(run.RATE * t))[:, None]
    return Shot(still(kt.load("panda"), q, t[-1]), (1.5, -1.0, 0.9), (0.2, 0.1, 0.4), dressed="panda")


def controlled_panda() -> Shot:
    """Film how the joints come to their goal."""
    run = example("controlled_panda")
    law = kt.Controller(run.computed_torque, inputs={"q_des": run.HOME, "kp": 30.0})
    motion = run.robot.simulate(run.HOME + 0.6, duration=2.0, controller=law, record=kt.Record(every=20))
    return Shot(motion, (1.5, -1.0, 0.9), (0.2, 0.1, 0.4), dressed="panda")


def falling_double_pendulum() -> Shot:
    """Film the arm as it falls."""
    run = example("falling_double_pendulum")
    motion = run.arm().simulate(run.START, duration=2.0, joints="none", record=kt.Record(every=10))
    return Shot(motion, (0.3, -0.6, 2.0), (0.0, -0.35, 0.0))


def follow_a_circle() -> Shot:
    """Film the hand as it goes around."""
    run, robot = example("follow_a_circle"), kt.load("panda")
    step, q = robot.differential_inverse_kinematics(run.HAND), run.HOME
    target = robot.frame_placement(q, frame=run.HAND)
    centre, places = target[:3, 3] - np.array([0.0, run.RADIUS, 0.0]), []
    for angle in np.linspace(0.0, 2.0 * np.pi, 400):
        target[:3, 3] = centre + run.RADIUS * np.array([0.0, np.cos(angle), np.sin(angle)])
        q, *_ = step(q, target, run.PERIOD / 400, posture=run.HOME)
        places.append(q)
    return Shot(
        still(robot, np.array(places), run.PERIOD), (1.5, -0.7, 0.8), (0.2, 0.0, 0.4), speed=1.5, dressed="panda"
    )


def hopping_leg() -> Shot:
    """Film the fall, the landing and hops."""
    run = example("hopping_leg")
    motion = run.hop(*run.leg())
    return Shot(motion[: len(motion) // 2], (0.35, -0.9, 0.45), (0.0, 0.0, 0.25), speed=0.5)


def impedance_control() -> Shot:
    """Film how the hand gives way to a push, and comes back."""
    run = example("impedance_control")
    push = np.zeros((4000, 3))
    push[:2000, 1] = 60.0
    _, record = kt.scan(run.step, {"q": "q", "v": "v"}, per_step=["push"], record=["q"])(
        run.HOME, np.zeros(7), push, every=50
    )
    return Shot(still(kt.load("panda"), record.q, 4.0), (1.5, -0.7, 0.8), (0.2, 0.0, 0.4), speed=1.5, dressed="panda")


def own_robot() -> Shot:
    """Film the cart and the pole as it falls."""
    motion = example("own_robot").cart_pole().simulate([0.0, np.pi / 2], duration=3.2, record=kt.Record(every=20))
    return Shot(motion, (0.3, -2.0, 0.4), (0.0, 0.0, 0.1))


def path_within_limits() -> Shot:
    """Film the way, as fast as the limits let it."""
    run, robot = example("path_within_limits"), kt.load("panda")
    path = run.minimum_time(robot, run.START, run.END, acceleration=10.0)
    q = path(np.linspace(0.0, path.duration, 80))[0]
    return Shot(still(robot, q, path.duration), (1.6, -1.0, 1.0), (0.1, 0.0, 0.45), speed=0.5, dressed="panda")


def randomised_pandas() -> Shot:
    """Film some of the robots side by side: the more they carry, the more they give way."""
    run, n = example("randomised_pandas"), 4
    loads = np.zeros((n, 10))
    loads[:, 0] = np.linspace(0.0, 6.0, n)
    loads[:, 3] = 0.1 * loads[:, 0]
    loads[:, [4, 6]] = 0.01 * loads[:, :1]
    law = kt.Controller(run.hold, inputs={"q_des": run.HOME, "scale": 1.0})
    start = run.HOME + np.random.default_rng(0).normal(0.0, 0.3, (n, 7))
    inputs = {kt.payload("panda_hand"): loads}
    motion = run.robot.simulate(start, duration=1.5, controller=law, inputs=inputs, record=kt.Record(every=20))
    return Shot(motion, (2.4, -1.9, 1.6), (0.2, 0.0, 0.2))  # as boxes: four with meshes are much for software rendering


def spinning_bodies() -> Shot:
    """Film the T-handle, which turns over again and again."""
    run = example("spinning_bodies")
    b = kt.ModelBuilder("T-handle")
    b.add_link("handle", kt.Inertia(0.1, [0, 0, 0], np.diag(run.HANDLE)))
    robot = kt.Robot(b.build(floating_base=True, gravity=(0, 0, 0)))
    v = [0.05, 10.0, 0.01, 0.0, 0.0, 0.0]
    motion = robot.simulate(robot.neutral(), v, duration=2.5, integrator="rk4", record=kt.Record(every=20))
    return Shot(motion, (0.25, -0.25, 0.2), (0.0, 0.0, 0.0))


def stepping_stones() -> Shot:
    """Film the landing on stones of different heights."""
    run = example("stepping_stones")
    mech, stones, places = run.quadruped(), run.Stones(), []
    q, v, f = np.array([0.0, 0.0, 0.45, 0.0, 0.0, 0.0, 1.0, *run.STANCE]), np.zeros(18), np.zeros(12)
    for k in range(1000):
        centres = {foot: mech.tree.frame_placement(q, frame=foot)[:3, 3] for foot in run.FEET}
        slots = mech.slots({foot: stones.nearest(centre) for foot, centre in centres.items()})
        q, v, f, _, _ = mech.contact_step(q, v, np.zeros(18), run.DT, contacts=kt.ContactInputs(slots=slots), f_start=f)
        places += [q] * (k % 10 == 0)
    return Shot(still(mech.tree, np.array(places), 1.0), (0.8, -0.7, 0.5), (0.0, 0.0, 0.25), speed=0.4, dressed="go2")


def stewart_platform() -> Shot:
    """Film the platform on its way."""
    run = example("stewart_platform")
    return Shot(run.follow(*run.platform())[2], (2.2, -1.6, 1.8), (0.0, 0.0, 0.6))


def turning_quadruped() -> Shot:
    """Film the body's turn in free fall, without the fall."""
    run = example("turning_quadruped")
    start = np.concatenate([run.robot.neutral()[:7], run.STANCE])
    motion = run.robot.simulate(
        start, duration=run.SECONDS, controller=run.circling, joints="none", record=kt.Record(every=20)
    )
    q = motion.q.copy()
    q[:, :3] = [0.0, 0.0, 0.35]
    return Shot(still(run.robot, q, run.SECONDS), (0.8, -0.7, 0.75), (0.0, 0.0, 0.3), speed=1.5, dressed="go2")


EXAMPLES: dict[str, Callable[[], Shot]] = {
    path.stem: globals()[path.stem] for path in sorted((ROOT / "examples").glob("*.py")) if path.stem in globals()
}


def dressed(shot: Shot) -> Shot:
    """Return the motion of a robot with the meshes of example-robot-data, where it has none."""
    if not shot.dressed:
        return shot
    robot, motion = shot.motion.robot, shot.motion
    with_meshes = kt.Robot(robot.model, geometry=kt.load(erd_urdf(f"{shot.dressed}.urdf")).geometry)
    return shot._replace(motion=kt.Trajectory(with_meshes, motion.t, motion.q, motion.v))


def film(shot: Shot, browser: Chromium) -> list[Image.Image]:
    """Return the pictures of a motion."""
    shot, pictures = dressed(shot), []
    motion = shot.motion
    at = moments(motion, None)
    browser.resize(*shot.size)
    with motion.view(browser=False) as shown:
        shown._player.playing.value = False
        browser.open(shown.url)
        browser.only_the_scene()
        while not (clients := shown._server.get_clients()):
            time.sleep(0.1)
        (client,) = clients.values()
        client.camera.fov, client.camera.position, client.camera.look_at = 0.75, shot.camera, shot.target
        browser.until(lambda picture: picture.std() > 8.0, 10.0)
        time.sleep(3.0)  # until all meshes are there
        for t in np.linspace(motion.t[0], motion.t[-1], round(motion.duration / shot.speed * RATE), endpoint=False):
            shown._scene.show(*at(float(t)))
            shown._server.flush()
            time.sleep(0.05)
            browser.call("Runtime.evaluate", expression=DRAWN, awaitPromise=True)
            pictures.append(Image.fromarray(browser.pixels()))
    return pictures


def save(pictures: list[Image.Image], path: Path) -> None:
    """Write pictures as one that moves."""
    first, *rest = pictures
    first.save(path, save_all=True, append_images=rest, duration=1000 / RATE, loop=0, quality=QUALITY, method=6)
    print(f"{path.relative_to(ROOT)}: {len(pictures)} pictures, {path.stat().st_size / 1e3:.0f} kB")


def main(names: list[str]) -> None:
    """Film these, or all."""
    with Chromium() as browser:
        if not names or "robots" in names:
            both = zip(film(go2_that_jumps(), browser), film(panda_on_its_way(), browser), strict=True)
            save([Image.fromarray(np.hstack([np.asarray(x) for x in two])) for two in both], PICTURES / "robots.webp")
        for name, shot in EXAMPLES.items():
            if not names or name in names:
                save(film(shot(), browser), PICTURES / "examples" / f"{name}.webp")


if __name__ == "__main__":
    main(sys.argv[1:])
