"""What each command refuses: the code, one line of what to do, and no file."""

import shlex
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from helpers.shell import KNEE, SWING, WHEEL, write_csv

ERRORS = {
    "": [
        ("", 2, "usage: kinetree"),
        ("fly", 2, "usage: kinetree"),
        ("info --floating-base --fixed-base", 2, "usage: kinetree"),
        ("info pandas", 1, "did you mean 'panda'"),
        ("info missing.urdf", 1, "missing.urdf"),
        ("cache empty", 2, "usage: kinetree"),
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
        ("mass_matrix --lanes 3", 1, "lanes is 3, it must be one of 1, 2, 4, 8, 16"),
        ("mass_matrix -o no/where.c", 1, "there is no folder 'no' to save in: make it first"),
        ("mass_matrix --dtype float16", 2, "invalid choice: 'float16'"),
        ("gravity_forces --json -o -", 1, ""),
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
        ("--json -q", 1, ""),
        ("--what in.csv", 2, "unrecognized arguments: "),
        ("-o out.csv a.csv b.csv", 2, "unrecognized arguments: "),
        ("a.csv -q b.csv", 2, "unrecognized arguments: "),
        ("--payload=-1", 2, "'-1' is not a payload: give a mass ≥ 0, as in 1.5 or 1.5,0,0,0.1@tool"),
        ("--rate=0", 2, "--rate: '0' is not a number > 0"),
        ("--gravity nan 0 0", 2, "--gravity: 'nan 0 0' is not a gravity: give three numbers"),
    ],
    "inverse-dynamics": [
        ("", 2, "usage: kinetree"),
        ("go2 --payload 3", 1, "--payload: go2 is not a single chain; say where, as in 1.5@"),
        ("ur5 --payload 3@hand", 1, "no frame 'hand'"),
        *(
            (f"g1 {options}", 1, "samples: at most 934579 can be made for g1; give a smaller --duration or --rate")
            for options in ("--duration 1e9", "--rate 1e9", "--duration 1e308 --rate 1e308", "--duration 1e5")
        ),
    ],
    "simulate swing.urdf": [
        ("--rtol 1e-4", 1, "--rtol is for --integrator tsitouras"),
        ("--q 1 2", 1, "--q takes 1 numbers (swing); 2 were given"),
        ("--v fast", 1, "--v: could not convert string to float: 'fast'"),
        ("--q=-1,nan", 1, "--q takes 1 numbers"),
        ("--q 1 --random", 1, "--q and --random both say where it begins"),
        ("--seed 1", 1, "--seed is for --random"),
        ("--quiet --json", 1, "--quiet leaves nothing for --json"),
        ("--dt 0.3", 1, "duration = 1 s is 3.33333333 steps of dt = 0.3 s: give a whole number"),
        ("--dt 1e-12", 1, "1e+12 steps take 278 hours "),
        ("--dt 1e-12", 1, "at most 1e+09 are done: take a larger --dt than 1e-12"),
        ("--duration 1e5 --record-every 1", 1, "samples would be kept, at most"),
        ("--integrator rk5", 1, "no integrator 'rk5'"),
        ("-o fall.mat", 1, "end it in .csv or .npz or .parquet"),
        ("--plot fall.gif", 1, "end it in .png or .svg or .pdf"),
        ("--animate fall.png", 1, "end it in .gif or .mp4"),
        *(
            (options, 2, "")
            for options in ("--friction", "--tau 1 --hold", "--hold 5", "--dt 0", "--duration long", "--gravity 0 0")
        ),
        ("--gravity", 2, ""),
    ],
    "excite wheel.urdf --iterations 5 --terms friction": [
        ("", 1, "wheel: there is no range of positions; give one, such as robot.with_limits("),
        ("--limit wheal=-1,1,1", 1, "wheal"),
    ],
    "excite wheel.urdf --iterations 5 --terms friction --limit wheel=-3,3,2": [
        ("--noise 1,2,3", 1, "one for each of the 2 joints"),
        ("--start 0", 1, "--start takes 2 numbers (swing, wheel); 1 were given"),
        ("--terms fiction", 1, "did you mean 'friction'?"),
        ("--joints swing,nobody", 1, "no joint 'nobody'"),
        ("-q --json", 1, "--quiet leaves nothing for --json to print"),
        ("-o motion.txt", 1, "motion.txt"),
    ],
    "identify knee.urdf": [
        ("", 2, "the following arguments are required: LOG"),
        ("none.npz", 1, "none.npz: No such file"),
    ],
    "identify knee.urdf a.npz": [
        ("--validate a.npz", 1, "a.npz is among the motions that are used"),
        ("-o new.txt", 1, "end it in .urdf or .xml"),
        ("--report r.pdf", 1, "end it in .html"),
        ("--payload c --report r.html", 1, "--report is for the parameters of the robot"),
        ("--payload c --terms none", 1, "--terms is for the parameters of the robot"),
        ("--payload c --prior-spread 2", 1, "--prior-spread is for the parameters of the robot"),
        ("--payload c --known 'm of c=0'", 1, "--known is for the parameters of the robot"),
        ("--known 'damping of ankle=0'", 1, "no base parameter 'damping of ankle'"),
        ("--bounds d=0,1,0,1,0,1", 1, "no moving link 'd'"),
        ("--bounds c=1,0,0,1,0,1", 1, "has to be a box"),
        ("--wrench c", 1, "a.npz: the header lacks wrench.c.nx, wrench.c.ny"),
        ("--weights covariance --loss huber", 1, "--loss needs the noise of each joint"),
        ("--payload d", 1, "no frame 'd'"),
        ("--terms damping@ankle", 1, "no joint 'ankle'"),
        ("--terms dumping", 1, "no joint term 'dumping'"),
        ("--gear-ratios 1,2,3", 1, "gear_ratios has shape (3,): a number, or 2 are needed, of hip, knee"),
        ("--load b.npz=1@c", 1, "--load: b.npz is not a LOG of this command"),
        ("--load a.npz=1@c --block 9", 1, "--load needs whole files: leave out --block"),
        ("--motor-constants ankle", 1, "no joint 'ankle'"),
        ("--stream", 1, "there is no --stream; here it is --block"),
        ("--standing 1e9 --cutoff 20", 1, "every joint is slower than standing"),
    ],
}
ROWS = [(f"{command} {rest}", code, said) for command, rows in ERRORS.items() for rest, code, said in rows]


@pytest.mark.parametrize(("command", "code", "message"), ROWS)
def test_what_is_refused(shell, tmp_path, command, code, message):
    if ".csv" in command:
        panda = kt.load("panda")
        q, v, a = panda.random_state(seed=1, size=6)
        write_csv("good.csv", panda, q=q, v=v, a=a)
        write_csv("bad.csv", panda, q=q, v=np.where(np.arange(42).reshape(6, 7) == 8, np.nan, v), a=a)
        write_csv("other.csv", kt.load("ur5"), t=np.arange(6), q=q[:, :6])
        write_csv("short.csv", panda, t=np.arange(6), q=q)
        write_csv("back.csv", panda, t=[*range(4), *range(1, 17)], q=np.tile(q[0], (20, 1)))
    for name, text in (("swing", SWING), ("wheel", WHEEL), ("knee", KNEE)):
        if f"{name}.urdf" in command:
            Path(f"{name}.urdf").write_text(text)
    if "knee.urdf" in command:
        robot = kt.load(KNEE)
        q, v, a = robot.random_state(0, 400)
        np.savez("a.npz", t=0.01 * np.arange(400), q=q, v=v, a=a, tau=robot.inverse_dynamics(q, v, a))
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    found, out, err = shell(*shlex.split(command))
    assert (found, out) == (code, "")
    assert message in err
    assert "Traceback" not in err
    if code == 1:
        assert err.startswith("kinetree: ")
        assert err.count("\n") == 1 or "identify" in command
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
