"""MJCF of strangers: odd values in files, read in a process of their own that must end in time."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import re
import subprocess
import sys
import threading

import mujoco
import pytest

import kinetree as kt
from formats.test_mjcf import EQUALITIES, EVERYTHING, LOOPS
from helpers.sampling import ALL, SEED
from kinetree.errors import FormatError
from kinetree.formats.mjcf.compiler import _compiled

ODD = ("0", "-1", "1e308", "1e-320", "inf", "2147483647", "", " ", "a", "0 0 0", "1 2 3 4 5 6 7 8", "true", "/dev/zero")
TENDON = """
<mujoco>
  <worldbody><site name="x"/><geom name="g" type="cylinder" size="0.02 0.1" pos="0.1 0 0"/>
    <body><joint name="j" axis="0 1 0" range="-90 90"/><geom size="0.1" pos="0.2 0 0"/><site name="y" pos="0.5 0 0"/>
    </body>
  </worldbody>
  <tendon><spatial name="t"><site site="x"/><geom geom="g"/><site site="y"/></spatial></tendon>
  <actuator><muscle name="m" tendon="t" lengthrange="0.1 1"/></actuator>
</mujoco>
"""
DOCUMENTS = (EVERYTHING, LOOPS.format("".join(EQUALITIES).replace('name="x" ', "")), TENDON)


def odd_document(rng):
    """Return a document with one to three odd values."""
    text = rng.choice(DOCUMENTS)
    for _ in range(rng.randint(1, 3)):
        value = rng.choice([*re.finditer(r'="([^"]*)"', text)])
        text = text[: value.start(1)] + rng.choice(ODD) + text[value.end(1) :]
    return text


READ = """
import json, sys, warnings
import kinetree as kt
warnings.simplefilter("ignore")
for text in json.load(sys.stdin):
    try:
        print(kt.load(text, lenient=True).nv > 0, flush=True)
    except kt.KinetreeError as error:
        assert str(error).startswith("<string>"), error
        print(False, flush=True)
"""


def test_odd_values_are_read_or_refused():
    rng = random.Random(SEED)
    documents = [odd_document(rng) for _ in range(3000 if ALL else 150)]
    command = [sys.executable, "-c", READ]
    done = subprocess.run(
        command, input=json.dumps(documents), capture_output=True, text=True, timeout=150, check=False
    )
    outcomes = done.stdout.split()
    assert done.returncode == 0, (SEED, documents[len(outcomes)], done.stderr[-1000:])
    assert {*outcomes} == {"True", "False"}


NEVER_AGAIN = LOOPS.format('<connect body1="b" body2="c" anchor=""/>')


def test_after_an_exception_that_mujoco_does_not_foresee_it_compiles_again():
    """In the thread in which it happened, MuJoCo 4.0 would not end."""
    with pytest.raises(FormatError, match="<string>: MuJoCo does not compile it: Caught an unknown exception!"):
        kt.load(NEVER_AGAIN)
    for text in (TENDON, EVERYTHING):
        assert kt.load(text, lenient=True).nv > 0
        assert mujoco.MjModel.from_xml_string(text).nv > 0


def test_the_compiler_has_a_time_limit(monkeypatch):
    monkeypatch.setattr("kinetree.formats.mjcf.compiler.LONGEST", 0.01)
    ended = threading.Event()
    with pytest.raises(FormatError, match=r"it: MuJoCo has not compiled that within 0\.01 s"):
        _compiled(ended.wait, "it", "that")
    ended.set()
    monkeypatch.undo()
    assert kt.load(EVERYTHING).nv > 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_compiles():
    kt.load(EVERYTHING)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(_degrees_of_freedom, (EVERYTHING,)).get(timeout=60) == kt.load(EVERYTHING).nv


def _degrees_of_freedom(text):
    return kt.load(text).nv


@pytest.mark.parametrize("given", ['size="0.02 0.1"', 'pos="0.5 0 0"'])
def test_numbers_on_which_mujoco_does_not_end_are_refused(given):
    """Wrapping a tendon around a cylinder of 1e9 m, or to a point so far away."""
    key = given.partition("=")[0]
    with pytest.raises(FormatError, match=rf"{key}='1e9 0.1 0': numbers of more than 1e\+06 are no robot's"):
        kt.load(TENDON.replace(given, f'{key}="1e9 0.1 0"'))
