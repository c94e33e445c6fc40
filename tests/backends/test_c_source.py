"""The files that `Function.to_c` makes: what compilers say of them, what they need, what is in them, and errors."""

from __future__ import annotations

import ctypes
import itertools
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from helpers.c_backend import CLANG, COMPILERS, NATIVE, STRICT, CBackend, compile_c, run_c, wrapper
from helpers.sampling import SEED, cover
from helpers.told import told
from kinetree.backends.c.source import CSource
from kinetree.errors import ArgumentError

PANDA = kt.load("panda")
ROBOTS = ("panda", "go2")
P = ctypes.c_void_p
compilers = pytest.mark.parametrize("compiler", COMPILERS)


def square_root(a: object) -> object:
    """Newton's iteration."""
    return kt.repeat(lambda x: (x + a / x) / 2, a, until=lambda x: abs(x * x - a) < 1e-6 * a, most=50)


@PANDA.compile
def everything(q, v, a):  # type: ignore[no-untyped-def]
    """A loop, functions of NumPy of every kind, and dynamics."""
    root = square_root(1.0 + a[0] * a[0])
    size = np.exp(-abs(q)) + np.arctan2(q, v) + np.hypot(q, v) ** 1.5 + np.fmod(a, 0.3) + np.log1p(q * q) + np.cbrt(v)
    parts = np.floor(q) + np.ceil(v) + np.rint(a * 3) + np.trunc(v * 9) + np.copysign(q, v) + np.tanh(a)
    return {"tau": PANDA.inverse_dynamics(q, v, size * root), "parts": parts * root}


NOTHING = kt.load('<robot name="nothing"><link name="base"/></robot>')
ODD = PANDA.compile(
    lambda q, double, kt12, τ: {"double": q * double, "int": q[0] + τ - kt12},
    shapes={"double": (), "kt12": (), "τ": ()},
    name="sin",
)


def branch(q, v):  # type: ignore[no-untyped-def]
    return kt.where(q > 1e9, np.sqrt(abs(q)), v / (1.0 + q * q)) - np.array([np.inf, np.nan, -2, 0, 0, 0, 0])


AWKWARD: dict[str, Callable[[], CSource]] = {
    "everything": lambda: everything.to_c(main=True),
    "everything, floats": lambda: everything.to_c(dtype="float32"),
    "dynamics": lambda: PANDA.inverse_dynamics.to_c(main=True),
    "floats": lambda: PANDA.inverse_dynamics.to_c(dtype="float32", optional=["f_ext"], f_ext_frame="world", main=True),
    "lanes": lambda: PANDA.forward_kinematics.to_c(lanes=4),
    "unused": lambda: PANDA.compile(lambda q, v, a: v, name="unused").to_c(),
    "odd": lambda: ODD.to_c(main=True),
    "nothing": lambda: NOTHING.inverse_dynamics.to_c(main=True),
    "nothing, lanes": lambda: NOTHING.mass_matrix.to_c(lanes=2),
    "constant": lambda: kt.load("ur5").compile(lambda q: np.arange(3.0), name="constant").to_c(main=True),
    "branch": lambda: PANDA.compile(branch).to_c("branch"),
    "branch, lanes": lambda: PANDA.compile(branch).to_c("branch", dtype="float32", lanes=8),
}
"""Functions at the edges: inputs without use, without entries, constants, several results, odd names."""
FLAGS = (("-O0", "-DKT_FMA=0"), ("-O2", "-march=native"), ("-O1", "-DKT_FMA=1"))


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # of NumPy, about the constants inf and nan
@pytest.mark.parametrize(("compiler", "flags", "name"), cover(itertools.product(COMPILERS, FLAGS, AWKWARD)), ids=str)
def test_no_compiler_has_anything_to_say(tmp_path: Path, compiler: str, flags: tuple[str, ...], name: str) -> None:
    source = AWKWARD[name]().source
    assert compile_c(source, [*STRICT, *flags, "-c"], tmp_path / "f.o", compiler) == ""
    if "lanes" not in name:
        assert compile_c(source, [*STRICT, *flags, "-DKT_LANES=4", "-c"], tmp_path / "f.o", compiler) == ""


@compilers
@pytest.mark.parametrize("flags", [("-O3", "-ffp-contract=fast"), ("-O2", "-std=gnu11"), ("-Os",)], ids=str)
def test_no_flag_changes_the_bits(flags: tuple[str, ...], compiler: str) -> None:
    q, v, a = PANDA.random_state(0, 50)
    program = PANDA.inverse_dynamics._kernels.program(PANDA.inverse_dynamics._default)
    got = run_c(CBackend(compiler, ("-march=native", *flags)), program, (q, v, a), 1)[0]
    assert np.array_equal(got, PANDA.inverse_dynamics(q, v, a))


@compilers
def test_fast_math_is_refused(tmp_path: Path, compiler: str) -> None:
    with pytest.raises(AssertionError, match="compile it without -ffast-math"):
        compile_c(PANDA.gravity_forces.to_c().source, ["-ffast-math", "-c"], tmp_path / "f.o", compiler)


@pytest.mark.parametrize(
    ("name", "robot"),
    cover(itertools.product(("inverse_dynamics", "forward_dynamics", "forward_kinematics", "mass_matrix"), ROBOTS)),
)
def test_without_fused_multiply_adds_it_is_within_a_few_units_in_the_last_place(name: str, robot: str) -> None:
    f = getattr(kt.load(robot), name)
    q, v, a = kt.load(robot).random_state(SEED, 1000)
    arguments = [{"q": q, "v": v, "a": a, "tau": 10 * a}[port.name] for port in f.spec.required]
    got = run_c(CBackend("clang", ("-O2", "-DKT_FMA=0")), f._kernels.program(f._default), arguments, 1)[0]
    expected = f(*arguments)
    error, size = (np.abs(x).reshape(len(q), -1).max(1) for x in (got - expected, np.finfo(float).eps * expected))
    assert 0 < error.max() <= 4 * size.max(), f"seed {SEED}"  # 2.5 was seen in many runs
    assert (error <= 100 * size).all(), f"seed {SEED}"  # and 27 of a state's own


def test_the_header_is_for_c_and_for_cpp(tmp_path: Path) -> None:
    code = PANDA.inverse_dynamics.to_c()
    assert code.save(tmp_path) == tmp_path / "inverse_dynamics.c"
    assert PANDA.inverse_dynamics.c_signature in code.header
    caller = '#include "inverse_dynamics.h"\n#include "inverse_dynamics.h"\n'
    caller += '#ifdef __cplusplus\nextern "C"\n#endif\nint call(double *x);\n'
    caller += "int call(double *x) { return inverse_dynamics(x, x + 7, x + 14, x + 21); }\n"
    for suffix, compiler in (("c", "cc"), ("cpp", "c++")):
        (tmp_path / f"caller.{suffix}").write_text(caller)
        command = [*CLANG[:-1], compiler, "-Wall", "-Wextra", "-pedantic", "-Werror", "-O1", "-shared", "-fPIC"]
        command += [f"caller.{suffix}", "-c", "-o", f"{suffix}.o"]
        subprocess.run(command, cwd=tmp_path, check=True)
    objects = ["inverse_dynamics.c", "cpp.o", "-lm", "-o", "both.so"]
    subprocess.run([*CLANG, *NATIVE, "-shared", "-fPIC", *objects], cwd=tmp_path, check=True)
    x = np.concatenate([*PANDA.random_state(0), np.zeros(7)])
    assert ctypes.CDLL(str(tmp_path / "both.so")).call(P(x.ctypes.data)) == 0
    assert np.array_equal(x[21:], PANDA.inverse_dynamics(x[:7], x[7:14], x[14:21]))


def test_a_program_of_its_own(tmp_path: Path) -> None:
    robot = kt.load("go2")
    q, v = robot.random_state(0, 3)[:2]
    command = str(tmp_path / "program")
    for dtype in ("float64", "float32"):
        f = robot.centroidal_momentum
        compile_c(f.to_c(main=True, dtype=dtype).source, [*NATIVE, "-std=c99", "-lm"], Path(command))
        states = np.concatenate([q, v], axis=1).astype(dtype)
        text = "\n".join(" ".join(map(repr, row.tolist())) for row in states)
        shown = subprocess.run([command], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
        got = np.array([[float(x) for x in line.split()[1:]] for line in shown], dtype)
        assert np.array_equal(got, f(q.astype(dtype), v.astype(dtype)))
        assert {line.split()[0] for line in shown} == {"h"}
    short = subprocess.run([command], input="1 2 three", capture_output=True, text=True, check=False)
    assert short.returncode == 1
    assert short.stderr == "centroidal_momentum: a state has 37 numbers, only 2 could be read\n"


@compilers
def test_threads_have_memory_of_their_own_if_it_is_asked_for(tmp_path: Path, compiler: str) -> None:
    f = PANDA.inverse_dynamics
    arrays = PANDA.random_state(0, 100_000)
    expected, out = f(*arrays), np.zeros((100_000, 7))
    # clang keeps AVX-512's registers across calls that find thread-local memory, glibc does not: without such calls
    flags = ["-DKT_THREAD_LOCAL=__thread", "-ftls-model=initial-exec", "-shared", "-fPIC", *NATIVE, "-lm"]
    text = f.to_c().source + wrapper("inverse_dynamics", f.spec.required, f.spec.outputs, 8)
    compile_c(text, flags, tmp_path / "f.so", compiler)
    run_batch = ctypes.CDLL(str(tmp_path / "f.so")).kt_batch
    strides = np.full(4, 56, np.int64)

    def run(half: slice) -> None:
        ins, outs = (P * 3)(*(x[half].ctypes.data for x in arrays)), (P * 1)(out[half].ctypes.data)
        for _ in range(3):
            run_batch(ins, outs, P(strides.ctypes.data), ctypes.c_int64(50_000), None)

    threads = [threading.Thread(target=run, args=(half,)) for half in (slice(50_000), slice(50_000, None))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.array_equal(out, expected)


def test_the_comment_says_what_is_what() -> None:
    @PANDA.compile
    def track(q, v, q_des, kp: float):  # type: ignore[no-untyped-def]
        """Torques that hold a configuration. /* A comment?? */."""
        return {"tau": kp * (q_des - q) - v, "error": q_des - q}

    text = track.to_c().source.partition("*/\n#include")[0]
    flat = " ".join(text.replace("\n *", " ").split())
    assert "track: Torques that hold a configuration. / * A comment? ? * /." in flat
    assert (
        "q_des, 7: Configuration: rad, m, and quaternions (x, y, z, w). This robot has nq = 7: joints panda_joint1"
        in flat
    )
    assert "kp, a number tau, 7: Joint forces (N·m, N)" in flat.replace("Outputs: ", "")
    assert "This file is your own" in flat
    assert "no licence of kinetree applies" in flat
    loaded = kt.compile(PANDA, "gravity_forces", inputs=[kt.gravity, kt.payload("panda_hand", name="load")])
    text = " ".join(loaded.to_c().source.replace("\n *", " ").split())
    assert "gravity, 3: Acceleration of gravity in the world's axes (m/s²)." in text
    assert "load, 10: Inertia added at panda_hand: (m, m c_x" in text


def test_options_and_bound_functions() -> None:
    direct = PANDA.jacobian.to_c(frame="panda_hand", reference="world")
    bound = PANDA.jacobian.bind(frame="panda_hand").to_c(reference="world")
    assert direct.source == bound.source
    assert "Options: frame = 'panda_hand', reference = 'world'." in direct.source
    assert "const double f_ext[42]" in PANDA.inverse_dynamics.to_c(optional=("f_ext",)).header
    assert direct.name == "jacobian"


def test_where_files_go(tmp_path: Path) -> None:
    code = PANDA.gravity_forces.to_c("g")
    assert code.save(tmp_path / "other.c") == tmp_path / "other.c"
    assert (tmp_path / "other.c").read_text(encoding="utf-8") == code.source
    assert (tmp_path / "other.h").read_text(encoding="utf-8") == code.header
    with pytest.raises(OSError, match="missing"):
        code.save(tmp_path / "missing")


test_errors_say_what_to_do = told(
    ArgumentError,
    ({"dtype": "float16"}, "dtype is 'float16', it must be 'float64' or 'float32'"),
    ({"name": 3}, "gravity_forces: name takes a text, not 3"),
    ({"name": "double"}, "'double' cannot be the name of a function in C and C\\+\\+, 'double_' can"),
    ({"name": "two words"}, "'two words' cannot be the name of a function in C and C\\+\\+, 'two_words' can"),
    ({"name": ""}, "'' cannot be the name of a function in C and C\\+\\+, 'gravity_forces' can"),
    ({"optional": ["f_ext"]}, "gravity_forces has no argument 'f_ext'"),
    ({"optional": "f_ext"}, "optional takes a list of names: \\['f_ext'\\]"),
    ({"frame": "hand"}, "gravity_forces has no argument 'frame'"),
    ({"lanes": 3}, "lanes"),
    ({"lanes": 4, "main": True}, "main=True is for one state at a time, lanes=4 for many: leave one out"),
    of=lambda arguments: PANDA.gravity_forces.to_c(**arguments),
)


def test_constants_that_a_float_cannot_hold_are_refused() -> None:
    f = PANDA.compile(lambda q: 1.0 / (q * q + 1e-300), name="guarded")
    assert "0x1.56e1fc2f8f359p-997" in f.to_c().source
    with pytest.raises(ArgumentError, match=r"guarded: the constant 1e-300 is 0\.0 in float32"):
        f.to_c(dtype="float32")
