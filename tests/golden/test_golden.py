"""What the compiler makes of every algorithm, bit for bit what it made before.

A change of source that moves and renames changes no digest. Where a change of the mathematics, of a pass or of the
code generator does so on purpose, write them anew with

    python tests/golden/regenerate.py

which prints what changed, and say in the commit's message why. A tree that gains a type of joint (a row of
`helpers.joints.EXAMPLES`) changes all digests of the two random trees. One case in sixteen is
tested, or all with KINETREE_TEST_ALL=1; regenerate.py tests all too.
"""

from __future__ import annotations

import itertools

import pytest

from helpers.golden import (
    ALGORITHMS,
    MECHANISM,
    MECHANISM_ALGORITHMS,
    ROBOTS,
    SOLVERS,
    changes,
    digests,
    normalized,
    solver_digests,
    stored,
)
from helpers.sampling import sample

CASES = [*itertools.product(ALGORITHMS, ROBOTS), *((name, MECHANISM) for name in MECHANISM_ALGORITHMS)]


@pytest.mark.parametrize(("name", "robot"), sample(CASES, 16))
def test_programs_and_code_are_what_they_were(name, robot):
    algorithm = (MECHANISM_ALGORITHMS if robot == MECHANISM else ALGORITHMS)[name]
    now = digests(robot, algorithm)
    before = {name: value for name, value in stored().items() if name.startswith(f"{robot} {algorithm.name}(")}
    assert not changes(now, before), (
        "the program or its LLVM IR changed: if that is intended, run python tests/golden/regenerate.py and give the "
        "reason in the commit's message"
    )


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_are_what_they_were(name):
    now = solver_digests(name)
    assert not changes(now, {key: value for key, value in stored().items() if key in now}), "see above"


def test_nothing_else_is_on_file():
    known = {f"{robot} {name}" for robot in ROBOTS for name in ALGORITHMS} | {f"ur5 {name}" for name in SOLVERS}
    known |= {f"{MECHANISM} {name}" for name in MECHANISM_ALGORITHMS}
    assert {name.partition("(")[0] for name in stored()} == known


def test_only_names_and_the_machine_are_left_out_of_the_digests():
    ir = 'target triple = "a"\ndefine void @f(ptr %x) {\nentry:\n  %y = call double @g(ptr %x)\n  ret void\n}\n'
    renamed = ir.replace("@f", "@region1").replace("%x", "%in").replace("entry", "start").replace('"a"', '"b"')
    assert normalized(renamed) == normalized(ir)
    for old, new in (("@g", "@f"), ("ptr %x)\n ", "ptr %y)\n "), ("double", "float"), ("@g", "@llvm.g")):
        assert normalized(ir.replace(old, new)) != normalized(ir)


def test_changes_are_told_by_name():
    before = {"ur5 f()": {"program": "1", "single float64": "2"}, "ur5 g()": {"program": "1"}}
    now = {"ur5 f()": {"program": "1", "single float64": "3"}, "ur5 h()": {"program": "1"}}
    assert changes(now, before) == ["ur5 f(): changed are single float64", "ur5 g(): gone", "ur5 h(): new"]
