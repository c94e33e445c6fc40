"""``--json``: the keys that programs read, of each command."""

import json

import numpy as np
import pytest

import kinetree as kt
from kinetree.cli import main
from kinetree.cli.arguments import COMMANDS

MOVED = "name low high beyond peak_v limit_v fast peak_tau at rms limit_tau strong samples_over"
LOADED = "name type axis body parent q_index v_index lower upper velocity effort damping friction armature mass"
ESTIMATED = "name noise correlation_time residual before white"
FIT = "robot samples joints parameters unidentifiable held_loads verdict warnings"
PARAMETERS = "parameter estimate std before consistent"
PLAN = "robot duration condition held iterations converged joints parameters warnings"
SIMULATED = (
    "robot samples start end batch_shape recorded stopped_at reason counts joints steps dt integrator "
    "steps_per_second energy_drift final_q"
)
KEYS = {
    "info": {"": "name floating description source licence"},
    "info ur5": {"": "name nq nv mass actuated joints frames warnings", "joints": LOADED},
    "view ur5 --html ur5.html": {"": "name page warnings"},
    "inverse-dynamics ur5 --duration 0.1": {
        "": "robot samples motion joints warnings notes",
        "joints": MOVED,
    },
    "simulate ur5 --duration 0.01": {"": f"{SIMULATED} warnings", "joints": MOVED},
    "excite ur5 --terms none --iterations 1 --period 2 --harmonics 2 --rate 50": {
        "": PLAN,
        "joints": MOVED,
        "parameters": "name combination value std",
    },
    "identify ur5 0.npz --terms none": {"": FIT, "joints": ESTIMATED, "parameters": PARAMETERS},
    "identify ur5 0.npz --terms none --validate 1.npz": {
        "": FIT,
        "joints": f"{ESTIMATED} residual_validation",
        "parameters": PARAMETERS,
    },
    "identify ur5 0.npz --payload tool0": {
        "": "robot frame inertia estimates std joints warnings",
        "joints": "name rms_without rms_with",
    },
    "convert ur5 ur5.sdf": {"": "robot format output warnings"},
    "export ur5 gravity_forces": {"": "robot function prototype static_bytes source header warnings"},
    "cache": {"": "directory entries size largest oldest problem"},
    "cache clear": {"": "directory removed bytes"},
}
"""By calls, the keys of what is printed, and of the entries of its lists."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with two logs of a ur5, and its file with inertias that no body has."""
    folder, robot = tmp_path_factory.mktemp("json"), kt.load("ur5")
    for seed in (0, 1):
        q, v, a = (0.25 * x for x in robot.random_state(seed, 200))
        tau = robot.inverse_dynamics(q, v, a) + np.random.default_rng(seed).normal(size=v.shape)
        np.savez(folder / f"{seed}.npz", t=0.01 * np.arange(200), q=q, v=v, a=a, tau=tau)
    text = robot.to_urdf().replace('ixx="', 'ixx="1')
    (folder / "flat.urdf").write_text(text)
    return folder


def keys(value):
    """Return the keys of a value or of a list of these, and of lists in it by their names."""
    every = value if isinstance(value, list) else [value]
    found = {"": {key for each in every for key in each}}
    for name, own in every[0].items():
        if isinstance(own, list) and own and isinstance(own[0], dict):
            found[name] = keys(own)[""]
    return found


@pytest.mark.parametrize("call", KEYS)
def test_the_keys_are(call, folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(folder / "cache"))
    assert main([*call.split(), "--json"]) == 0
    assert keys(json.loads(capsys.readouterr().out)) == {name: {*text.split()} for name, text in KEYS[call].items()}


def test_each_command_is_there():
    assert {call.split()[0] for call in KEYS} == {*COMMANDS}


WARNED = [(call, form) for call in KEYS if " ur5" in call for form in ("", "--json")]
WARNED += [(call, "-o -") for call in KEYS if call.startswith(("inverse-dynamics", "export"))]


@pytest.mark.parametrize(("call", "form"), WARNED)
def test_warnings_of_the_file_are_passed_on(call, form, folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    assert main([*call.replace("ur5", "flat.urdf").split(), *form.split()]) == 0
    out, err = capsys.readouterr()
    told = str(json.loads(out)["warnings"]) if form == "--json" else err if form else out
    assert "no body has these inertias" in told.replace("\n", " ")
