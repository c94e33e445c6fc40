"""``kinetree identify``: from files to a robot file."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import kinetree as kt
from helpers import kr300
from helpers.logs import HOPPER, hop
from kinetree.cli import main
from kinetree.cli.commands.identify import Logs
from kinetree.identification import read_log

LINK = '<link name="{0}"><visual><geometry><mesh filename="package://{0}.stl"/></geometry></visual><!-- {0} -->\n'
LINK += '<inertial><origin xyz="0.1 0 {1}"/><mass value="{2}"/>'
LINK += '<inertia ixx="{3}" iyy="{3}" izz="{3}" ixy="0" ixz="0" iyz="0"/></inertial></link>\n'
JOINT = '<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/><origin xyz="0.3 0 0"/>'
JOINT += '<axis xyz="{3}"/><limit lower="-2" upper="2" effort="99" velocity="9"/></joint>\n'
URDF = '<robot name="arm"><link name="a"/>' + LINK.format("b", 0.05, 2, 0.02) + LINK.format("c", 0.2, 1, 0.01)
URDF += JOINT.format("hip", "a", "b", "0 1 0") + JOINT.format("knee", "b", "c", "1 0 0") + "</robot>"
N = 400


def identify(capsys, *arguments):
    """Run ``kinetree identify``: exit code, standard output, standard error."""
    try:
        code = main(["identify", *map(str, arguments)])
    except SystemExit as leave:
        code = leave.code
    return (code, *capsys.readouterr())


def recorded(robot: kt.Robot, seed: int) -> dict[str, np.ndarray]:
    q, v, a = robot.random_state(seed, N)
    noise = np.random.default_rng(seed).normal(size=v.shape)
    return {"t": 0.01 * np.arange(N), "q": q, "v": v, "a": a, "tau": robot.inverse_dynamics(q, v, a) + 0.02 * noise}


@pytest.fixture(scope="module")
def real() -> kt.Robot:
    tool = kt.Inertia(0.8, [0.0, 0.1, 0.0], np.diag([0.02, 0.01, 0.02]))
    return kt.load(URDF).attach(tool, "c").with_joint_physics(damping=0.4).with_friction()


@pytest.fixture
def files(tmp_path, monkeypatch, real: kt.Robot):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.urdf").write_text(URDF)
    np.savez("a.npz", **recorded(real, 0))
    np.savez("b.npz", **recorded(real, 1))
    return tmp_path


def test_a_robot_file_with_what_the_motions_tell(files, capsys, real: kt.Robot):
    pytest.importorskip("matplotlib")
    code, out, err = identify(
        capsys, "arm.urdf", "--terms", "damping", "a.npz", "--validate", "b.npz", "-o", "new.urdf", "--report", "r.html"
    )
    assert (code, err) == (0, "")
    assert "arm: 12 base parameters from 400 samples, validated on 400 others" in out
    assert out.count("wrote ") == 2
    text = (files / "new.urdf").read_text()
    for line in (*(x for x in URDF.splitlines() if "mesh" in x), "<!-- c -->", 'effort="99"'):
        assert line in text
    found = kt.load("new.urdf").with_friction()
    q, v, a = real.random_state(5, 50)
    np.testing.assert_allclose(found.inverse_dynamics(q, v, a), real.inverse_dynamics(q, v, a), atol=0.05)
    assert "damping of knee" in (files / "r.html").read_text()


def test_joints_that_tell_little_are_warned_of(files, capsys, real: kt.Robot):
    log = recorded(real, 8)
    log["v"][:, 0] = log["a"][:, 0] = 0.0
    log["q"][:, 0] = 0.5
    log["tau"] = real.inverse_dynamics(log["q"], log["v"], log["a"]) + 0.01 * np.cos(np.outer(np.arange(N), [3.0, 5.0]))
    np.savez("held.npz", **log)
    code, out, err = identify(capsys, "arm.urdf", "held.npz", "--terms", "damping")
    assert (code, err) == (0, "")
    assert "warning: hip never moves" in out


def test_json_has_all_figures(files, capsys):
    code, out, _ = identify(capsys, "arm.urdf", "a.npz", "--validate", "b.npz", "--terms", "damping", "--json")
    assert code == 0
    found = json.loads(out)
    assert [joint["name"] for joint in found["joints"]] == ["hip", "knee"]
    assert all(joint["residual_validation"] < 0.05 < joint["before"] for joint in found["joints"])
    (damping,) = (x for x in found["parameters"] if x["parameter"] == "damping of knee")
    assert abs(damping["estimate"] - 0.4) < 5 * damping["std"]
    assert identify(capsys, "arm.urdf", "a.npz", "--terms", "damping", "-q") == (0, "", "")
    assert "motion 2 is motion 1 once more" in identify(capsys, "arm.urdf", "a.npz", "--validate", "./a.npz")[2]
    assert "damping of knee" in identify(capsys, "arm.urdf", "a.npz", "--terms", "damping", "--parameters")[1]


def test_what_no_bodies_explain_is_said(files, capsys):
    log = dict(np.load("a.npz"))
    np.savez("odd.npz", **log | {"tau": log["tau"] - log["a"] * [0.0, 0.5]})
    code, out, _ = identify(capsys, "arm.urdf", "odd.npz", "--terms", "damping")
    assert code == 0
    assert "less well than the estimates" in " ".join(out.split())


def test_what_it_holds(files, capsys, real: kt.Robot):
    np.savez("held.npz", **recorded(real.attach(kt.Inertia.from_com(1.5, [0, 0, 0.2], np.zeros((3, 3))), "c"), 2))
    (files / "real.urdf").write_text(real.to_urdf("arm.urdf"))
    code, out, err = identify(capsys, "real.urdf", "--friction", "held.npz", "--payload", "c", "-o", "holding.urdf")
    assert (code, err) == (0, "")
    assert re.search(r"arm holds 1\.(49|50|51)\d* kg at c", out)
    assert abs(kt.load("holding.urdf").mass - real.mass - 1.5) < 0.05
    held = json.loads(identify(capsys, "real.urdf", "held.npz", "--payload", "c", "--friction", "--json")[1])
    assert all(joint["rms_with"] < 0.03 < joint["rms_without"] for joint in held["joints"])


def test_what_urdf_has_no_place_for_is_said(files, capsys):
    code, out, err = identify(capsys, "arm.urdf", "a.npz", "--terms", "armature,damping,offset", "-o", "new.urdf")
    assert (code, err) == (0, "")
    said = " ".join(out.split())
    assert "URDF has no place for offset: new.urdf lacks" in said
    assert "new.urdf: left out of the URDF" in said
    assert "armature and springs: those of hip, knee" in said


def test_a_robot_that_hangs_comes_from_its_file_as_it_was(tmp_path, monkeypatch, capsys):
    """The KR300 as in docs/from_log_to_robot.md: its base is turned round, which the file says."""
    monkeypatch.chdir(tmp_path)
    with pytest.warns(kt.FormatWarning, match="armature and springs: those of joint1"):
        (tmp_path / "kr300.urdf").write_text(kr300.kr300().to_urdf())
    for name in "AB":
        with np.load(kr300.FOLDER / f"repeat_{name}.npz") as data:
            q, tau = np.cumsum(data["q_1e7"], axis=0) * 1e-7, data["motor_torque_1e2"] * 1e-2 * kr300.GEARS
        np.savez(f"{name}.npz", t=0.004 * np.arange(len(q)), q=q, tau=tau)
    terms = "armature,damping,friction,offset,stiffness@joint2,damping_asymmetry@joint2,damping_asymmetry@joint3"
    choices = ["--terms", terms, "--cutoff", "6", "--presliding", "5e-5", "--prior-spread", "0.2"]
    code, out, _ = identify(capsys, "kr300.urdf", "A.npz", "--validate", "B.npz", *choices, "--json")
    assert code == 0
    residuals = [joint["residual_validation"] for joint in json.loads(out)["joints"]]
    assert min(residuals) > 0.14
    assert max(residuals) < 0.3  # 0.24 to 1.06 with the base upside down


def test_motor_constants(files, capsys, real: kt.Robot):
    constants = np.array([4.0, 0.3])
    holding = real.attach(kt.Inertia.from_com(3.0, [0.0, 0.1, 0.3], np.zeros((3, 3))), "c")
    for name, robot, seed in (("free", real, 6), ("held", holding, 7)):
        log = recorded(robot, seed)
        log["current"] = log.pop("tau") / constants
        np.savez(f"{name}.npz", **log)
    command = ["arm.urdf", "free.npz", "held.npz", "--terms", "damping", "--torque-constants", "1"]
    command += ["--motor-constants", "all"]
    code, _, err = identify(capsys, *command)
    assert (code, "nothing determines the motor constants of hip, knee" in err) == (1, True)
    code, out, _ = identify(capsys, *command, "--load", "held.npz=3,0,0.1,0.3@c", "--json")
    assert code == 0
    for joint, constant in zip(json.loads(out)["joints"], constants, strict=True):
        assert abs(joint["motor_constant"] - constant) < 4 * joint["motor_constant_std"] < 0.01 * constant
    code, _, err = identify(capsys, *command, "--load", "held.npz=3@c")  # it may be anywhere along the knee's axis
    assert (code, "nothing determines the motor constants of hip, knee" in err) == (1, True)
    code, out, _ = identify(capsys, *command[:2], *command[3:-1], "knee,hip", "--known", "m c_z of c=0")
    assert (code, "motor constant std" in out) == (0, True)


def test_a_load_of_known_mass(files, capsys, real: kt.Robot):
    box = kt.Inertia.from_com(3.0, [0.0, 0.1, 0.3], np.zeros((3, 3)))
    np.savez("held.npz", **recorded(real.attach(box, "c"), 7))
    command = ["arm.urdf", "a.npz", "held.npz", "--terms", "damping", "--load", "held.npz=3@c"]
    code, out, err = identify(capsys, *command, "--json")
    assert code == 0, err
    told = json.loads(out)
    (load,) = told["held_loads"]
    assert (load["link"], load["mass"]) == ("c", 3.0)
    np.testing.assert_allclose(load["values"][1:3], [0.3, 0.9], atol=0.02)
    assert max(joint["residual"] for joint in told["joints"]) < 0.05
    code, out, _ = identify(capsys, *command)
    assert (code, "load of 3 kg on c: centre of mass at" in out) == (0, True)


def wrong(what: str):
    def change(log):
        match what:
            case "flipped":
                log["tau"][:, 1] *= -1.0
            case "degrees":
                log["q"] *= 57.3
            case "at its end":
                log["tau"] = np.clip(log["tau"], -2.0, 2.0)
            case "milliseconds":
                log["t"] *= 1000.0
            case "millinewtons":
                log["tau"] *= 1000.0
            case "back":
                log["t"][50:] -= 1.0
            case "without":
                del log["tau"]
        return log

    return change


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("flipped", "bad.npz: the forces of knee have the other sign"),
        ("degrees", "bad.npz: the positions of hip and knee are far beyond the joints' limits: are they in degrees?"),
        ("at its end", "bad.npz: the forces of hip and knee stay at their greatest or least value"),
        ("milliseconds", "bad.npz: samples are 10 s apart: is the time in seconds?"),
        ("millinewtons", "bad.npz: the forces of all joints are about 1"),
        ("back", "bad.npz: time goes back from 0.49 s to -0.5 s at sample 50"),
        ("without", "bad.npz: there are neither joint forces nor currents. Expected columns: t, q.hip, q.knee, v.hip"),
    ],
)
def test_bad_data_are_named(files, capsys, real: kt.Robot, what: str, message: str):
    np.savez("bad.npz", **wrong(what)(recorded(real, 3)))
    for arguments in (["a.npz", "bad.npz"], ["a.npz", "--validate", "bad.npz"]):
        code, out, err = identify(capsys, "arm.urdf", *arguments, "-o", "new.urdf")
        assert (code, out) == (1, "")
        assert message in err.replace("hip, knee are", "hip and knee are").replace(
            "hip, knee stay", "hip and knee stay"
        )
        assert err.count(message.partition(": ")[2][-40:]) == 1
        assert not (files / "new.urdf").exists()
    if what == "flipped":
        assert identify(capsys, "arm.urdf", "bad.npz", "--force", "-q", "--terms", "damping")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["a.npz", "--validate", "a.npz"], 1, "a.npz is among the motions that are used"),
        (["a.npz", "-o", "new.txt"], 1, "end it in .urdf or .xml"),
        (["a.npz", "--report", "r.pdf"], 1, "end it in .html"),
        (["a.npz", "--payload", "c", "--report", "r.html"], 1, "--report is for the parameters of the robot"),
        (["a.npz", "--payload", "c", "--known", "m of c=0"], 1, "--known is for the parameters of the robot"),
        (["a.npz", "--known", "damping"], 2, "'damping' is not PARAMETER=STD with STD ≥ 0, as in 'damping of elbow=0'"),
        (["a.npz", "--known", "damping of ankle=0"], 1, "no base parameter 'damping of ankle'"),
        (["a.npz", "--known", "damping of knee=-1"], 2, "is not PARAMETER=STD with STD ≥ 0"),
        (["a.npz", "--bounds", "c=0,1"], 2, "is not NAME=X0,X1,Y0,Y1,Z0,Z1"),
        (["a.npz", "--bounds", "d=0,1,0,1,0,1"], 1, "no moving link 'd'"),
        (["a.npz", "--bounds", "c=1,0,0,1,0,1"], 1, "has to be a box"),
        (["a.npz", "--wrench", "=foot"], 2, "is not FRAME[=NAME]"),
        (["a.npz", "--wrench", "c"], 1, "a.npz: the header lacks wrench.c.nx, wrench.c.ny"),
        (["a.npz", "--weights", "covariance", "--loss", "huber"], 1, "--loss needs the noise of each joint"),
        (["a.npz", "--payload", "d"], 1, "no frame 'd'"),
        (["a.npz", "--terms", "damping@ankle"], 1, "no joint 'ankle'"),
        (["a.npz", "--terms", "dumping"], 1, "no joint term 'dumping'"),
        (["a.npz", "--gear-ratios", "1,2,3"], 1, "gear_ratios has shape (3,): a number, or 2 are needed, of hip, knee"),
        (["a.npz", "--terms", "damping,damping@hip"], 2, "are no terms: give them as in"),
        (["a.npz", "--load", "b.npz=1@c"], 1, "--load: b.npz is not a LOG of this command"),
        (["a.npz", "--load", "a.npz=1"], 2, "is not a load: give a log, a mass and a frame, as in held.csv=5@flange"),
        (["a.npz", "--motor-constants", "ankle"], 1, "no joint 'ankle'"),
        (["a.npz", "--known", "mass=x"], 2, "'mass=x' is not PARAMETER=STD"),
        (["a.npz", "--stream"], 1, "there is no --stream; here it is --block"),
        (["none.npz"], 1, "none.npz: No such file"),
        ([], 2, "the following arguments are required: LOG"),
    ],
)
def test_wrong_arguments_are_named(files, capsys, arguments, code, message):
    found, out, err = identify(capsys, "arm.urdf", *arguments)
    assert (found, out) == (code, "")
    assert message in err


def test_what_is_known_before_and_where_mass_is(files, capsys):
    options = ["--known", "damping of knee=0", "--bounds", "c=-0.5,0.5,-0.4,0.02,-0.5,0.5", "--weights", "none"]
    code, out, _ = identify(capsys, "arm.urdf", "a.npz", "--terms", "damping", "-o", "new.urdf", "--json", *options)
    assert code == 0
    (damping,) = (x for x in json.loads(out)["parameters"] if x["parameter"] == "damping of knee")
    assert (damping["estimate"], damping["std"]) == (damping["before"], 0.0)
    found = kt.load("new.urdf")
    m, _, h_y = found.inertial_parameters.reshape(-1, 10)[found.body_names.index("c")][:3]
    assert h_y / m < 0.02


def test_a_floating_base_with_wrenches_and_a_file_that_is_streamed(files, capsys):
    (files / "hopper.urdf").write_text(HOPPER)
    log = hop(kt.load(HOPPER, floating_base=True), 600)
    np.savez("hop.npz", t=log["t"], q=log["q"], wrench=log["wrench"])
    options = ["hopper.urdf", "--floating-base", "hop.npz", "--terms", "none", "--cutoff", "25", "--json"]
    code, out, err = identify(capsys, *options)
    assert (code, out) == (1, "")
    assert "the floating base needs" in err
    assert "no wrenches are given" in err
    whole, streamed = (identify(capsys, *options, "--wrench", "foot", *more) for more in ([], ["--block", "200"]))
    assert whole[0] == streamed[0] == 0
    whole, streamed = (json.loads(x[1]) for x in (whole, streamed))
    assert whole["samples"] == streamed["samples"]
    assert "hop.npz: no joint forces: only the equations of the base tell" in whole["warnings"]
    assert sorted(whole["warnings"]) == sorted(streamed["warnings"])
    assert [joint["noise"] is None for joint in whole["joints"]] == [False] * 6 + [True]
    for one, other in zip(whole["parameters"], streamed["parameters"], strict=True):
        assert abs(one["estimate"] - other["estimate"]) < 0.1 * one["std"] + 1e-6


def test_progress_goes_from_nothing_to_all(files, real: kt.Robot):
    shown: list[float] = []
    log = read_log("a.npz", real, block=100).filtered()
    logs = Logs(None, real, [], lambda done, total: shown.append(done / total))
    logs.motions = [log, next(iter(log))]
    assert sum(len(part.q) for part in logs()) == N + 100
    assert shown == sorted(shown)
    assert shown[-1] == 1.0


def test_choices_of_how_samples_are_made(files, capsys):
    def count(*options):
        code, out, _ = identify(capsys, "arm.urdf", "a.npz", "--terms", "none", "--force", "--json", *options)
        assert code == 0
        return json.loads(out)["samples"]

    every = count("--decimate", "1", "--cutoff", "20")
    assert 300 < every < N
    assert every / 2 - 1 < count("--decimate", "2", "--cutoff", "20") < every / 2 + 1
    assert count("--decimate", "1", "--cutoff", "20", "--outliers", "3") < every
    assert count("--decimate", "1", "--cutoff", "20", "--standing", "0.1") == every, (
        "equations are left out, no samples"
    )
    code, _, err = identify(capsys, "arm.urdf", "a.npz", "--standing", "1e9", "--cutoff", "20")
    assert (code, "every joint is slower than standing" in err) == (1, True)
