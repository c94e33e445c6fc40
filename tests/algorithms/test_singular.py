"""A joint that moves no mass: forward dynamics names it, the others do their work."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.trees import columns, random_inertia
from kinetree import ModelError
from kinetree.algorithms import aba, crba, rnea
from kinetree.graph import Port
from kinetree.joints import Joint, Prismatic, Revolute, Spherical
from kinetree.model import Model, ModelBuilder
from kinetree.model.regroup import regrouped
from kinetree.spatial import Inertia
from kinetree.tracing.tracer import Tracer

POINT = Inertia.from_com(1.0, [0.0, 0.0, 0.0], np.zeros((3, 3)).tolist())


def arm(leaf: Inertia | None, joint: Joint, armature: float = 0.0) -> Model:
    b = ModelBuilder()
    b.add_link("base")
    b.add_link("arm", random_inertia(np.random.default_rng(0)))
    b.add_link("leaf", leaf)
    b.add_joint("shoulder", parent="base", child="arm", joint=Revolute((0, 1, 0)))
    b.add_joint("wrist", parent="arm", child="leaf", joint=joint, armature=armature)
    return b.build()


SINGULAR = {
    "massless, revolute": arm(None, Revolute((0, 0, 1))),
    "massless, tilted": arm(None, Revolute((1, 2, 3))),
    "massless, prismatic": arm(None, Prismatic((1, 0, 0))),
    "massless, spherical": arm(None, Spherical()),
    "a point on the axis": arm(POINT, Revolute((1, 0, 0))),
}


@pytest.mark.parametrize("case", SINGULAR)
@pytest.mark.parametrize("change", [lambda m: m, regrouped])
def test_the_joint_is_named(case: str, change: object) -> None:
    model = change(SINGULAR[case])
    q = [float(x) for body in model.bodies for x in body.joint.neutral()]
    zero = [0.0] * model.nv
    message = "joint 'wrist' meets no inertia that other joints leave it: the mass matrix is singular; give the links"
    with pytest.raises(ModelError, match=message):
        aba(model, q, zero, zero)
    assert np.isfinite(rnea(model, q, zero, zero)).all()
    assert np.linalg.matrix_rank(crba(model, q)) < model.nv


def test_traced_it_is_named_too() -> None:
    model = SINGULAR["massless, revolute"]
    tracer = Tracer()
    q, v, tau = (tracer.input(Port(name, (n,))) for name, n in (("q", model.nq), ("v", model.nv), ("tau", model.nv)))
    with pytest.raises(ModelError, match="joint 'wrist' meets no inertia"):
        aba(model, q, v, tau)


def test_a_rotor_is_mass_enough() -> None:
    model = arm(None, Revolute((0, 0, 1)), armature=0.5)
    a = aba(model, [0.1, 0.2], [0.3, 0.4], [0.0, 1.0])
    assert a[1] == 2.0


def test_nan_stays_in_its_state() -> None:
    model = arm(POINT, Prismatic((1, 0, 0)))
    q = np.array([[0.1, 0.2], [np.nan, 0.2], [0.3, 0.1]])
    a = np.array(aba(model, columns(q), columns(0 * q), columns(0 * q + 1.0))).T
    assert np.isfinite(a).all(axis=1).tolist() == [True, False, True]
