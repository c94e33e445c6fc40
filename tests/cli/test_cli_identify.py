"""``kinetree identify``: from files to a robot file."""

import json
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from helpers.logs import HOPPER, hop
from helpers.shell import KNEE as URDF
from kinetree.cli.commands.identify import Logs
from kinetree.identification import read_log

N = 400


def recorded(robot, seed):
    q, v, a = robot.random_state(seed, N)
    noise = np.random.default_rng(seed).normal(size=v.shape)
    return {"t": 0.01 * np.arange(N), "q": q, "v": v, "a": a, "tau": robot.inverse_dynamics(q, v, a) + 0.02 * noise}


@pytest.fixture(scope="module")
def real():
    tool = kt.Inertia(0.8, [0.0, 0.1, 0.0], np.diag([0.02, 0.01, 0.02]))
    return kt.load(URDF).attach(tool, "c").with_joint_physics(damping=0.4).with_friction()


@pytest.fixture
def identify(shell, real):
    """Run ``kinetree identify`` beside the files of an arm and of two motions."""
    Path("arm.urdf").write_text(URDF)
    np.savez("a.npz", **recorded(real, 0))
    np.savez("b.npz", **recorded(real, 1))
    return partial(shell, "identify")


def test_a_robot_file_with_what_the_motions_tell(identify, real):
    pytest.importorskip("matplotlib")
    code, out, err = identify(
        "arm.urdf", "--terms", "damping", "a.npz", "--validate", "b.npz", "-o", "new.urdf", "--report", "r.html"
    )
    assert (code, err) == (0, "")
    assert "arm: 12 base parameters from 400 samples, validated on 400 others" in out
    assert out.count("wrote ") == 2
    text = Path("new.urdf").read_text()
    for line in (*(x for x in URDF.splitlines() if "mesh" in x), "<!-- c -->", 'effort="99"'):
        assert line in text
    found = kt.load("new.urdf").with_friction()
    q, v, a = real.random_state(5, 50)
    np.testing.assert_allclose(found.inverse_dynamics(q, v, a), real.inverse_dynamics(q, v, a), atol=0.05)
    assert "damping of knee" in Path("r.html").read_text()


def test_json_has_all_figures(identify):
    code, out, _ = identify("arm.urdf", "a.npz", "--validate", "b.npz", "--terms", "damping", "--json")
    assert code == 0
    found = json.loads(out)
    assert [joint["name"] for joint in found["joints"]] == ["hip", "knee"]
    assert all(joint["residual_validation"] < 0.05 < joint["before"] for joint in found["joints"])
    (damping,) = (x for x in found["parameters"] if x["parameter"] == "damping of knee")
    assert abs(damping["estimate"] - 0.4) < 5 * damping["std"]
    assert identify("arm.urdf", "a.npz", "--terms", "damping", "-q") == (0, "", "")
    assert "motion 2 is motion 1 once more" in identify("arm.urdf", "a.npz", "--validate", "./a.npz")[2]
    assert "damping of knee" in identify("arm.urdf", "a.npz", "--terms", "damping", "--parameters")[1]


def test_what_it_holds(identify, real):
    np.savez("held.npz", **recorded(real.attach(kt.Inertia.from_com(1.5, [0, 0, 0.2], np.zeros((3, 3))), "c"), 2))
    Path("real.urdf").write_text(real.to_urdf(original="arm.urdf"))
    code, out, err = identify("real.urdf", "--friction", "held.npz", "--payload", "c", "-o", "holding.urdf")
    assert (code, err) == (0, "")
    assert re.search(r"arm holds 1\.(49|50|51)\d* kg at c", out)
    assert abs(kt.load("holding.urdf").mass - real.mass - 1.5) < 0.05
    held = json.loads(identify("real.urdf", "held.npz", "--payload", "c", "--friction", "--json")[1])
    assert all(joint["rms_with"] < 0.03 < joint["rms_without"] for joint in held["joints"])


def test_what_urdf_has_no_place_for_is_said(identify):
    code, out, err = identify("arm.urdf", "a.npz", "--terms", "armature,damping,offset", "-o", "new.urdf")
    assert (code, err) == (0, "")
    said = " ".join(out.split())
    assert "URDF has no place for offset: new.urdf lacks" in said
    assert "new.urdf: left out of the URDF" in said
    assert "armature: that of hip, knee (there is none)" in said


def test_motor_constants(identify, real):
    constants = np.array([4.0, 0.3])
    holding = real.attach(kt.Inertia.from_com(3.0, [0.0, 0.1, 0.3], np.zeros((3, 3))), "c")
    for name, robot, seed in (("free", real, 6), ("held", holding, 7)):
        log = recorded(robot, seed)
        log["current"] = log.pop("tau") / constants
        np.savez(f"{name}.npz", **log)
    command = ["arm.urdf", "free.npz", "held.npz", "--terms", "damping", "--torque-constants", "1"]
    command += ["--motor-constants", "all"]
    code, _, err = identify(*command)
    assert (code, "nothing determines the motor constants of hip, knee" in err) == (1, True)
    code, out, _ = identify(*command, "--load", "held.npz=3,0,0.1,0.3@c", "--json")
    assert code == 0
    for joint, constant in zip(json.loads(out)["joints"], constants, strict=True):
        assert abs(joint["motor_constant"] - constant) < 4 * joint["motor_constant_std"] < 0.01 * constant
    code, _, err = identify(*command, "--load", "held.npz=3@c")  # it may be anywhere along the knee's axis
    assert (code, "nothing determines the motor constants of hip, knee" in err) == (1, True)
    code, out, _ = identify(*command[:2], *command[3:-1], "knee,hip", "--known", "m c_z of c=0")
    assert (code, "motor constant std" in out) == (0, True)


def test_a_load_of_known_mass(identify, real):
    box = kt.Inertia.from_com(3.0, [0.0, 0.1, 0.3], np.zeros((3, 3)))
    np.savez("held.npz", **recorded(real.attach(box, "c"), 7))
    command = ["arm.urdf", "a.npz", "held.npz", "--terms", "damping", "--load", "held.npz=3@c"]
    code, out, err = identify(*command, "--json")
    assert code == 0, err
    told = json.loads(out)
    (load,) = told["held_loads"]
    assert (load["link"], load["mass"]) == ("c", 3.0)
    np.testing.assert_allclose(load["values"][1:3], [0.3, 0.9], atol=0.02)
    assert max(joint["residual"] for joint in told["joints"]) < 0.05
    code, out, _ = identify(*command)
    assert (code, "load of 3 kg on c: centre of mass at" in out) == (0, True)


def test_what_is_known_before_and_where_mass_is(identify):
    options = ["--known", "damping of knee=0", "--bounds", "c=-0.5,0.5,-0.4,0.02,-0.5,0.5", "--weights", "none"]
    code, out, _ = identify("arm.urdf", "a.npz", "--terms", "damping", "-o", "new.urdf", "--json", *options)
    assert code == 0
    (damping,) = (x for x in json.loads(out)["parameters"] if x["parameter"] == "damping of knee")
    assert (damping["estimate"], damping["std"]) == (damping["before"], 0.0)
    found = kt.load("new.urdf")
    m, _, h_y = found.inertial_parameters.reshape(-1, 10)[found.body_names.index("c")][:3]
    assert h_y / m < 0.02


def test_what_the_data_lack_is_said(identify, real):
    log = recorded(real, 8)
    log["v"][:, 0] = log["a"][:, 0] = 0.0
    log["q"][:, 0] = 0.5
    log["tau"] = real.inverse_dynamics(log["q"], log["v"], log["a"]) + 0.01 * np.cos(np.outer(np.arange(N), [3.0, 5.0]))
    np.savez("held.npz", **log)
    code, out, err = identify("arm.urdf", "held.npz", "--terms", "damping")
    assert (code, err) == (0, "")
    assert "warning: hip never moves" in out
    log = dict(np.load("a.npz"))
    np.savez("odd.npz", **log | {"tau": log["tau"] - log["a"] * [0.0, 0.5]})
    code, out, _ = identify("arm.urdf", "odd.npz", "--terms", "damping")
    assert code == 0
    assert "less well than the estimates" in " ".join(out.split())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"tau": lambda x: x * [1.0, -1.0]}, "bad.npz: the forces of knee have the other sign"),
        ({"q": lambda x: 57.3 * x}, "are far beyond the joints' limits: are they in degrees, or those of motors"),
        ({"t": lambda x: x - (x > 0.495)}, "bad.npz: time goes back from 0.49 s to -0.5 s at sample 50"),
    ],
)
def test_bad_data_are_named(identify, real, wrong, message):
    log = recorded(real, 3)
    ((name, change),) = wrong.items()
    np.savez("bad.npz", **{k: change(x) if k == name else x for k, x in log.items()})
    for arguments in (["a.npz", "bad.npz"], ["a.npz", "--validate", "bad.npz"]):
        code, out, err = identify("arm.urdf", *arguments, "-o", "new.urdf")
        assert (code, out) == (1, "")
        assert err.count(message) == 1
        assert not Path("new.urdf").exists()
    if "other sign" in message:
        assert identify("arm.urdf", "bad.npz", "--force", "-q", "--terms", "damping")[0] == 0


def test_a_floating_base_with_wrenches_and_a_file_that_is_streamed(identify):
    Path("hopper.urdf").write_text(HOPPER)
    log = hop(kt.load(HOPPER, floating_base=True), 600)
    np.savez("hop.npz", t=log["t"], q=log["q"], wrench=log["wrench"])
    options = ["hopper.urdf", "--floating-base", "hop.npz", "--terms", "none", "--cutoff", "25", "--json"]
    code, out, err = identify(*options)
    assert (code, out) == (1, "")
    assert "the floating base needs" in err
    assert "no wrenches are given" in err
    whole, streamed = (identify(*options, "--wrench", "foot", *more) for more in ([], ["--block", "200"]))
    assert whole[0] == streamed[0] == 0
    whole, streamed = (json.loads(x[1]) for x in (whole, streamed))
    assert whole["samples"] == streamed["samples"]
    assert "hop.npz: no joint forces: only the equations of the base tell" in whole["warnings"]
    assert sorted(whole["warnings"]) == sorted(streamed["warnings"])
    assert [joint["noise"] is None for joint in whole["joints"]] == [False] * 6 + [True]
    for one, other in zip(whole["parameters"], streamed["parameters"], strict=True):
        assert abs(one["estimate"] - other["estimate"]) < 0.1 * one["std"] + 1e-6


def test_progress_goes_from_nothing_to_all(identify, real):
    shown = []
    log = read_log("a.npz", real, block=100).filtered()
    logs = Logs(None, real, [], lambda done, total: shown.append(done / total))
    logs.motions = [log, next(iter(log))]
    assert sum(len(part.q) for part in logs()) == N + 100
    assert shown == sorted(shown)
    assert shown[-1] == 1.0


def test_choices_of_how_samples_are_made(identify):
    def count(*options):
        code, out, _ = identify("arm.urdf", "a.npz", "--terms", "none", "--force", "--json", *options)
        assert code == 0
        return json.loads(out)["samples"]

    every = count("--decimate", "1", "--cutoff", "20")
    assert 300 < every < N
    assert every / 2 - 1 < count("--decimate", "2", "--cutoff", "20") < every / 2 + 1
    assert count("--decimate", "1", "--cutoff", "20", "--outliers", "3") < every
    assert count("--decimate", "1", "--cutoff", "20", "--standing", "0.1") == every, "no samples are left out"
