"""What cannot be is one line on standard error, with code 1, or 2 for wrong usage, and leaves no file."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from helpers.cli import ARM, LEG, SWING, real, recorded, write_csv

WRONG: dict[str, list[tuple[str, int, str]]] = {
    "": [
        ("", 2, "usage: kinetree"),
        ("fly", 2, "usage: kinetree"),
        ("info --floating-base --fixed-base", 2, "not allowed with argument"),
        ("info --what", 2, "unrecognized arguments: --what"),
        ("info pandas", 1, "did you mean 'panda'"),
        ("info missing.urdf", 1, "missing.urdf"),
        ("cache empty", 2, "invalid choice: 'empty'"),
    ],
    "inverse-dynamics panda": [
        ("missing.csv", 1, "missing.csv: No such file or directory"),
        ("bad.csv", 1, "bad.csv, line 3, column 'v.panda_joint2': nan is not a finite number"),
        ("other.csv", 1, "lacks q.panda_joint1, q.panda_joint2"),
        ("good.csv -o good.csv", 1, "'good.csv' is the trajectory that is read"),
        ("good.csv --plot good.csv", 1, "end it in .png or .svg or .pdf"),
        ("good.csv -o out.xlsx", 1, "end it in .csv or .npz"),
        ("good.csv -o no/out.csv", 1, "there is no directory 'no'"),
        ("short.csv", 1, "6 samples are too few"),
        ("back.csv", 1, "time must increase: sample 5 is at 1 s"),
        ("good.csv --seed 1", 1, "--seed is for the motion made without a TRAJECTORY"),
        ("--window 9", 1, "--window is for a TRAJECTORY"),
        ("--json -q", 1, "--quiet leaves nothing for --json to print"),
        ("--payload 3@hand", 1, "no frame 'hand'"),
        ("--payload=-1", 2, "'-1' is not a payload: give a mass ≥ 0, as in 1.5 or 1.5,0,0,0.1@tool"),
        ("--payload 1,2@hand", 2, "'1,2@hand' is not a payload"),
        ("--payload heavy", 2, "'heavy' is not a payload"),
        ("--payload 1,0,0,nan", 2, "'1,0,0,nan' is not a payload"),
        ("--window 4", 2, "4 is out of range, it must be an integer ≥ 5"),
        ("--window 7.5", 2, "'7.5' is not a number, it must be an integer ≥ 5"),
        ("--rate 0", 2, "0 is out of range, it must be a number > 0"),
        ("--duration inf", 2, "inf is out of range, it must be a number > 0"),
        ("--seed -3", 2, "-3 is out of range, it must be an integer ≥ 0"),
        ("--gravity nan 0 0", 2, "'nan 0 0' is not a gravity: give three numbers"),
        ("--what in.csv", 2, "unrecognized arguments: "),
        ("-o out.csv a.csv b.csv", 2, "unrecognized arguments: "),
        ("a.csv -q b.csv", 2, "unrecognized arguments: "),
    ],
    "inverse-dynamics": [
        ("", 2, "arguments are required: ROBOT"),
        ("go2 --payload 3", 1, "--payload: go2 is not a single chain; say where, as in 1.5@"),
        ("go2 zero.npz -o out.csv", 1, "the torques of sample 4 are not finite: a quaternion is zero"),
        *(
            (f"g1 {long}", 1, "samples: at most 934579 can be made for g1; give a smaller --duration or --rate")
            for long in ("--duration 1e9", "--rate 1e9", "--duration 1e308 --rate 1e308", "--duration 1e5")
        ),
    ],
    "simulate swing.urdf": [
        ("--rtol 1e-4", 1, "--rtol is for --integrator tsitouras"),
        ("--q 1 2", 1, "--q takes 1 numbers (swing); 2 were given"),
        ("--v fast", 1, "--v: could not convert string to float: 'fast'"),
        ("--q raedy", 1, "no configuration 'raedy'"),
        ("--q=-1,nan", 1, "--q takes 1 numbers"),
        ("--q 1 --random", 1, "--q and --random both say where it begins"),
        ("--seed 1", 1, "--seed is for --random"),
        ("--quiet --json", 1, "--quiet leaves nothing for --json"),
        ("--dt 0.3", 1, "--duration 1 is 3.33333333 steps of --dt 0.3"),
        ("--duration 2000.0004", 1, "--duration 2000 is 2000000.4 steps of --dt 0.001"),
        ("--dt 1e-12", 1, "is 1e+12 steps of --dt 1e-12, 278 hours at a million a second; at most 1e+09 are done"),
        ("--duration 1e5 --record-every 1", 1, "samples would be kept, at most"),
        ("--integrator rk5", 1, "no integrator 'rk5'"),
        ("-o fall.mat", 1, "end it in .csv or .npz or .parquet"),
        ("--plot fall.gif", 1, "end it in .png or .svg or .pdf"),
        ("--animate fall.png", 1, "end it in .gif or .mp4"),
        ("--friction", 2, "unrecognized arguments: --friction"),
        ("--tau 1 --hold", 2, "argument --hold: not allowed with argument --tau"),
        ("--hold 5", 2, "'5' are no gains: give two numbers ≥ 0, as in 100,20"),
        ("--dt 0", 2, "0 is out of range"),
        ("--duration long", 2, "'long' is not a number"),
        ("--gravity 0 0", 2, "is not a gravity"),
        ("--gravity", 2, "argument --gravity: expected one argument"),
    ],
    "excite arm.urdf --terms friction --iterations 5": [
        ("", 1, "wheel: there is no range of positions; give one, such as robot.with_limits("),
        ("--limit wheel=1", 2, "'wheel=1' is not JOINT=LOWER,UPPER,SPEED"),
        ("--limit wheal=-1,1,1", 1, "wheal"),
    ],
    "excite arm.urdf --terms friction --iterations 5 --limit wheel=-3,3,2": [
        ("--box hand=1,2", 2, "is not NAME=X0,X1,Y0,Y1,Z0,Z1"),
        ("--fraction 2", 2, "fraction is 2.0"),
        ("--noise 1,2,3", 1, "one for each of the 2 joints"),
        ("--start 0", 1, "--start takes 2 numbers (swing, wheel); 1 were given"),
        ("--terms fiction", 1, "did you mean 'friction'?"),
        ("--joints swing,nobody", 1, "no joint 'nobody'"),
        ("-q --json", 1, "--quiet leaves nothing for --json to print"),
        ("-o motion.txt", 1, "motion.txt"),
    ],
    "identify leg.urdf": [
        ("a.npz --validate a.npz", 1, "a.npz is among the motions that are used"),
        ("a.npz -o new.txt", 1, "end it in .urdf or .xml"),
        ("a.npz --report r.pdf", 1, "end it in .html"),
        ("a.npz --payload c --report r.html", 1, "--report is for the parameters of the robot"),
        ("a.npz --payload c --known 'm of c=0'", 1, "--known is for the parameters of the robot"),
        ("a.npz --known damping", 2, "'damping' is not PARAMETER=STD with STD ≥ 0, as in 'damping of elbow=0'"),
        ("a.npz --known 'damping of ankle=0'", 1, "no base parameter 'damping of ankle'"),
        ("a.npz --known 'damping of knee=-1'", 2, "is not PARAMETER=STD with STD ≥ 0"),
        ("a.npz --known mass=x", 2, "'mass=x' is not PARAMETER=STD"),
        ("a.npz --bounds c=0,1", 2, "is not NAME=X0,X1,Y0,Y1,Z0,Z1"),
        ("a.npz --bounds d=0,1,0,1,0,1", 1, "no moving link 'd'"),
        ("a.npz --bounds c=1,0,0,1,0,1", 1, "has to be a box"),
        ("a.npz --wrench =foot", 2, "is not FRAME[=NAME]"),
        ("a.npz --wrench c", 1, "a.npz: the header lacks wrench.c.nx, wrench.c.ny"),
        ("a.npz --weights covariance --loss huber", 1, "--loss needs the noise of each joint"),
        ("a.npz --payload d", 1, "no frame 'd'"),
        ("a.npz --terms damping@ankle", 1, "no joint 'ankle'"),
        ("a.npz --terms dumping", 1, "no joint term 'dumping'"),
        ("a.npz --terms damping,damping@hip", 2, "are no terms: give them as in"),
        ("a.npz --gear-ratios 1,2,3", 1, "gear_ratios has shape (3,): a number, or 2 are needed, of hip, knee"),
        ("a.npz --load b.npz=1@c", 1, "--load: b.npz is not a LOG of this command"),
        ("a.npz --load a.npz=1", 2, "is not a load: give a log, a mass and a frame, as in held.csv=5@flange"),
        ("a.npz --motor-constants ankle", 1, "no joint 'ankle'"),
        ("a.npz --standing 1e9 --cutoff 20", 1, "every joint is slower than standing"),
        ("a.npz --validate ./a.npz", 1, "motion 2 is motion 1 once more"),
        ("none.npz", 1, "none.npz: No such file"),
        ("", 2, "the following arguments are required: LOG"),
    ],
    "export ur5": [
        ("rnea", 1, "no function 'rnea'; here it is 'inverse_dynamics'"),
        ("mass_matrx", 1, "no function 'mass_matrx', did you mean 'mass_matrix'"),
        ("jacobian", 1, "jacobian needs frame=: one of "),
        ("jacobian --option frame", 1, "--option frame: give it as NAME=VALUE, such as frame=panda_hand"),
        ("jacobian --option dtype=float32", 1, "jacobian has no option 'dtype'; there are: frame, reference"),
        ("jacobian --option frame=tool", 1, "jacobian: frame: no frame 'tool', did you mean 'tool0'"),
        ("mass_matrix --optional f_ext", 1, "mass_matrix has no argument 'f_ext'"),
        ("mass_matrix --name int", 1, "mass_matrix: 'int' cannot be the name of a function in C and C++"),
        ("mass_matrix --lanes 3", 1, "one of 1, 2, 4, 8, 16"),
        ("mass_matrix --lanes 0", 2, "it must be an integer ≥ 1"),
        ("mass_matrix --json -o -", 1, "-o - prints the source, and --json something else"),
        ("mass_matrix -o no/where.c", 1, "no/where.c: No such file or directory"),
        ("mass_matrix --dtype float16", 2, "invalid choice: 'float16'"),
    ],
}
"""By the beginning of calls, their ends, exit codes and messages."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with robots, motions, and what is no motion."""
    folder, panda, dog = tmp_path_factory.mktemp("errors"), kt.load("panda"), kt.load("go2")
    for name, text in {"swing": SWING, "arm": ARM, "leg": LEG}.items():
        (folder / f"{name}.urdf").write_text(text)
    np.savez(folder / "a.npz", **recorded(real(), 0))
    q, v, a = panda.random_state(seed=1, size=6)
    write_csv(folder / "good.csv", panda, q=q, v=v, a=a)
    write_csv(folder / "bad.csv", panda, q=q, v=np.where(np.arange(42).reshape(6, 7) == 8, np.nan, v), a=a)
    write_csv(folder / "other.csv", kt.load("ur5"), t=np.arange(6), q=q[:, :6])
    write_csv(folder / "short.csv", panda, t=np.arange(6), q=q)
    write_csv(folder / "back.csv", panda, t=[*range(4), *range(1, 17)], q=np.tile(q[0], (20, 1)))
    q, v, a = dog.random_state(seed=1, size=6)
    q[3, 3:7] = 0.0
    np.savez(folder / "zero.npz", q=q, v=v, a=a)
    return folder


@pytest.mark.parametrize(
    ("call", "code", "message"), [(f"{start} {end}", *rest) for start, ends in WRONG.items() for end, *rest in ends]
)
def test_what_cannot_be_is_said(
    kinetree: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int, message: str
) -> None:
    monkeypatch.chdir(folder)
    before = {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}
    found, out, err = kinetree(*shlex.split(call))
    assert (found, out) == (code, "")
    assert message in err
    assert err.startswith("kinetree: " if code == 1 else "usage: kinetree")
    assert code == 2 or err.count("\n") == 1
    assert {file.name: file.stat().st_mtime_ns for file in folder.iterdir()} == before
