"""``kinetree convert``: a robot's file in another format."""

import json
import warnings

import numpy as np
import pytest

import kinetree as kt
from helpers.mechanisms import at
from helpers.trees import toy
from kinetree.formats import save
from kinetree.joints import Revolute, Spherical


@pytest.fixture
def cli(shell):
    return shell


def looped():
    """Return two links on the ground that are joined at their tips, while all joints are at zero."""
    joints = [(f"j{k} ground l{k}", Revolute((0, 1, 0)), {"placement": at(float(k))}) for k in range(2)]
    frames = [("tip l0", at(1.0, 0.0, 1.0)), ("end l1", at(0.0, 0.0, 1.0))]
    return kt.Mechanism(kt.Robot(toy(*joints, frames=frames)), [kt.Loop("tip", "end", Spherical(), name="closing")])


@pytest.mark.parametrize("format", save.WRITERS)
def test_any_format(cli, tmp_path, format):
    out = tmp_path / f"out{save.WRITERS[format].endings[0]}"
    code, said, err = cli("convert", "panda", out)
    assert (code, err) == (0, "")
    assert " ".join(said.split()).startswith(f"wrote {out}: panda in {save.WRITERS[format].name}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = kt.load("panda"), kt.load(out)
    q, v, a = ours.random_state(0)
    np.testing.assert_allclose(theirs.inverse_dynamics(q, v, a), ours.inverse_dynamics(q, v, a), rtol=0, atol=1e-11)
    found = json.loads(cli("convert", "panda", out, "--json")[1])
    assert (found["format"], found["output"], found["robot"]) == (format, str(out), "panda")


def test_what_a_format_has_not_and_what_is_wrong(cli, tmp_path):
    loop = tmp_path / "loop.sdf"
    looped().to_sdf(loop)
    code, _, err = cli("convert", loop, tmp_path / "a.urdf")
    assert code == 1
    assert "URDF has no place for this robot: closed loops: closing (lenient=True: they stay open)" in err
    assert not (tmp_path / "a.urdf").exists()
    code, said, _ = cli("convert", loop, tmp_path / "a.urdf", "--lenient")
    assert code == 0
    assert "left out of the URDF: closed loops: closing" in " ".join(said.split())
    assert cli("convert", loop, tmp_path / "a.xml")[0] == 0
    assert "<connect" in (tmp_path / "a.xml").read_text()
    assert "the ending says what is written" in cli("convert", "panda", tmp_path / "a.stl")[2]
    assert "is the file that is read" in cli("convert", loop, loop)[2]
