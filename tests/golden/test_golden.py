"""What the compiler makes of every algorithm, bit for bit what it made before.

A change of source that moves and renames changes no digest. Where a change of the mathematics, of a pass or of the
code generator does so on purpose, write them anew with

    python tests/golden/regenerate.py

which prints what changed, and say in the commit's message why. A new type of joint adds digests, and changes none. All
programs are tested, and of the code one of three kinds for each, which the seed chooses, or all with
KINETREE_TEST_ALL=1; regenerate.py tests all too.
"""

import pytest

from helpers import golden
from helpers.golden import KINDS, SOLVERS, algorithms, changes, digests, normalized, robots, solver_digests, stored
from helpers.joints import EXAMPLES
from helpers.sampling import cover
from kinetree.joints import Prismatic

CASES = cover((name, robot, kind) for robot in robots() for name in algorithms(robot) for kind in KINDS)


@pytest.mark.parametrize(("name", "robot", "kind"), CASES)
def test_programs_and_code_are_what_they_were(name, robot, kind):
    now = digests(robot, name, [kind])
    before = {
        use: {what: value[what] for what in ("program", kind) if what in value}
        for use, value in stored().items()
        if use.startswith(f"{robot} {name}(")
    }
    assert not changes(now, before), (
        "the program or its LLVM IR changed: if that is intended, run python tests/golden/regenerate.py and give the "
        "reason in the commit's message"
    )


def test_a_new_type_of_joint_adds_digests_and_changes_none(monkeypatch):
    before = {name: golden.robot(name).digest for name in robots()}
    golden.robot.cache_clear()
    monkeypatch.setitem(EXAMPLES, "Sled", (Prismatic((0, 1, 0)),))
    monkeypatch.setitem(EXAMPLES, "Revolute", (*EXAMPLES["Revolute"], EXAMPLES["Revolute"][0]))
    after = {name: golden.robot(name).digest for name in robots()}
    assert after.keys() - before.keys() == {"tree of Sled"}
    assert {name: after[name] for name in before} == before


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_are_what_they_were(name):
    now = solver_digests(name)
    assert not changes(now, {key: value for key, value in stored().items() if key in now}), "see above"


def test_nothing_else_is_on_file():
    known = {f"{robot} {name}" for robot in robots() for name in algorithms(robot)} | {
        name.partition("(")[0] for solver in SOLVERS for name in solver_digests(solver)
    }
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
