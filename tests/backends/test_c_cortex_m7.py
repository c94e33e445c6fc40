"""The example of docs/c.md: a controller for a Cortex-M7 that needs no library and is as small as stated."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile

import kinetree as kt
from helpers.c_backend import CLANG, NATIVE, STRICT, compile_c

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "cortex_m7"
M7 = ("-target", "thumb-freestanding-eabihf", "-mcpu=cortex_m7+fp_armv8d16", "-O2")
BOARD = """
#include <stdint.h>
uint32_t board_clock_hz(void);
void board_read_joints(float *q, float *v);
void board_write_torques(const float *tau);
uint32_t board_clock_hz(void) { return 480000000u; }
void board_read_joints(float *q, float *v) { *q = *v = 0.0f; }
void board_write_torques(const float *tau) { (void)tau; }
"""
STATED = re.compile(r"^\| (\w[\w ]*) \| ([\d,]+) bytes \|", re.MULTILINE)
SLACK = 1.1  # for another version of clang


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("controller")
    subprocess.run([sys.executable, str(EXAMPLE / "make_controller.py"), str(place)], check=True)
    (place / "board.c").write_text(BOARD)
    return place


def test_it_is_as_small_as_the_page_says(folder: Path) -> None:
    page = (ROOT / "docs" / "c.md").read_text(encoding="utf-8")
    stated = {what: int(n.replace(",", "")) for what, n in STATED.findall(page)}
    command = [*CLANG, *M7, *STRICT, "-Xclang", "-stack-usage-file", "-Xclang", "controller.su"]
    subprocess.run([*command, "-c", "controller.c", "-o", "controller.o"], cwd=folder, check=True)
    with (folder / "controller.o").open("rb") as file:
        sections = [s for s in ELFFile(file).iter_sections() if s["sh_flags"] & 2]  # those that take memory
        measured = {
            "code and constants": sum(s.data_size for s in sections if s["sh_type"] != "SHT_NOBITS"),
            "static memory": sum(s.data_size for s in sections if s["sh_type"] == "SHT_NOBITS"),
        }
    frames = re.findall(r"\t(\d+)\tstatic", (folder / "controller.su").read_text())
    measured["stack"] = sum(map(int, frames))  # nothing recurses: no more than all frames
    assert measured.keys() == stated.keys()
    for what, size in measured.items():
        assert stated[what] / SLACK**3 <= size <= stated[what] * SLACK, what


def test_it_links_without_any_library(folder: Path) -> None:
    sources = ["controller.c", str(EXAMPLE / "main.c"), "board.c"]
    command = [*CLANG, *M7, *STRICT, "-nostdlib", "-I.", *sources, "-Wl,-e,main", "-o", "firmware.elf"]
    subprocess.run(command, cwd=folder, check=True)
    with (folder / "firmware.elf").open("rb") as file:
        names = {symbol.name for symbol in ELFFile(file).get_section_by_name(".symtab").iter_symbols()}
    assert {"controller", "SysTick_Handler", "main"} <= names


def test_it_is_the_controller(folder: Path) -> None:
    """The same file for this processor, with a state on standard input, beside the equation in float64."""
    sys.path.insert(0, str(EXAMPLE))
    try:
        from make_controller import computed_torque, robot
    finally:
        sys.path.remove(str(EXAMPLE))
    q, v, a = robot.random_state(0)
    code = computed_torque.to_c("controller", dtype="float32", main=True)
    assert code.source.startswith((folder / "controller.c").read_text(encoding="utf-8")[:200])
    compile_c(code.source, [*NATIVE, "-lm"], folder / "controller")
    state = np.concatenate([q, v, q / 2, v / 2, a, [100.0, 20.0]]).astype(np.float32)
    text = " ".join(map(repr, state.tolist()))
    shown = subprocess.run([str(folder / "controller")], input=text, capture_output=True, text=True, check=True).stdout
    expected = kt.load("panda").inverse_dynamics(q, v, a + 100 * (q / 2) * -1 + 20 * (v / 2) * -1)
    np.testing.assert_allclose([float(x) for x in shown.split()[1:]], expected, rtol=0, atol=2e-5 * abs(expected).max())
