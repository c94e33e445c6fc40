"""Derivatives of the velocity and acceleration of frames, from the columns J_k of the Jacobian.

In fixed coordinates a joint's own motion turns what comes after it, but not the velocity before it; V and A are sums
over joints, and before joint k ``V_b`` and ``A_b``:

    ∂V/∂q_k = J_k × (V − V_b)        ∂A/∂q_k = J_k × (A − A_b) + (V_b × J_k) × (V − V_b)
    ∂V/∂v_k = J_k                    ∂A/∂v_k = J_k × (V − V_own) + V_b × J_k

From this comes off what the coordinates do that move with the frame.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from kinetree.algorithms.derivatives.changes import joint_slopes
from kinetree.algorithms.derivatives.inverse_dynamics import Blocks
from kinetree.algorithms.kinematics.frames import accumulate
from kinetree.algorithms.recursions.path import Path, path_to, reference_transforms
from kinetree.model import Model
from kinetree.spatial import Motion
from kinetree.spatial.vector import ZERO


class Moved(NamedTuple):
    """A velocity and an acceleration, or changes of them."""

    v: Motion
    a: Motion

    def classical(self, V: Motion) -> Motion:
        """Return the change of the classical acceleration, where the velocity is V."""
        return Motion(self.a.ang, self.a.lin + self.v.ang.cross(V.lin) + V.ang.cross(self.v.lin))


def frame_velocity(model: Model, given: Mapping[str, Any], options: Mapping[str, Any], wrt: Collection[str]) -> Blocks:
    """Return the derivatives of a frame's velocity."""
    state = {**given, "a": [0.0] * model.nv}
    found = _slopes(model, state, options["frame"], options["reference"], lambda change, V: change.v)
    return {("velocity", name): found[name] for name in wrt}


def frame_acceleration(
    model: Model, given: Mapping[str, Any], options: Mapping[str, Any], wrt: Collection[str]
) -> Blocks:
    """Return the derivatives of a frame's acceleration."""
    chosen = Moved.classical if options["kind"] == "classical" else _spatial
    found = _slopes(model, given, options["frame"], options["reference"], chosen)
    return {("acceleration", name): found[name] for name in wrt}


def jacobian_bias(model: Model, given: Mapping[str, Any], options: Mapping[str, Any], wrt: Collection[str]) -> Blocks:
    """Return the derivatives of a frame's acceleration at a = 0."""
    state = {**given, "a": [0.0] * model.nv}
    chosen = Moved.classical if options["reference"] == "aligned" else _spatial
    found = _slopes(model, state, options["frame"], options["reference"], chosen)
    return {("dJ_v", name): found[name] for name in wrt}


def _spatial(change: Moved, V: Motion) -> Motion:
    return change.a


def _slopes(
    model: Model, given: Mapping[str, Any], frame: str, reference: str, chosen: Any
) -> dict[str, list[list[Any]]]:
    q, v, a = given["q"], given["v"], given["a"]
    path = path_to(model, frame, q, v, given.get("point"))
    to_body, _ = reference_transforms(path, Path(), reference)
    before: list[Moved] = []
    V = A = Motion.zero()
    columns = []
    for (_, body, state), X in zip(path.links, to_body, strict=True):
        before.append(Moved(V, A))
        columns.append([X.inv_apply(S_k) for S_k in state.S])
        vJ = X.inv_apply(state.vJ) if len(body.v_index) > 1 else columns[-1][0] * v[body.v_index[0]]
        A = A + X.inv_apply(state.cJ) + V.cross(vJ)
        for k, J_k in zip(body.v_index, columns[-1], strict=True):
            A = A + J_k * a[k]
        V = V + vJ
    found = {name: [[0.0] * model.nv for _ in range(6)] for name in "qva"}
    for n, ((i, body, _), X) in enumerate(zip(path.links, to_body, strict=True)):
        V_b, A_b = before[n]
        V_own = before[n + 1].v if n + 1 < len(before) else V
        for k, J_k, own in zip(body.v_index, columns[n], joint_slopes(model, i, q, v), strict=True):
            swept, dvJ = V_b.cross(J_k), X.inv_apply(own.dvJ)
            apparent = sum((dS_l * a[l] for l, dS_l in zip(body.v_index, own.dS, strict=True)), own.dcJ)
            by_q = Moved(
                J_k.cross(V - V_b) + dvJ,
                (A_b.cross(J_k) if reference == "body" else J_k.cross(A - A_b))
                + swept.cross(V - V_b)
                + X.inv_apply(apparent)
                + V_b.cross(dvJ)
                + dvJ.cross(V - V_own),
            )
            if reference == "body":
                by_q = Moved(swept + dvJ, by_q.a)
            elif reference == "aligned":
                shift = Motion(ZERO, J_k.lin)
                by_q = Moved(by_q.v - shift.cross(V), by_q.a - shift.cross(A))
            by_v = Moved(J_k, J_k.cross(V - V_own) + swept + X.inv_apply(own.dcJ_dv))
            for name, change in (("q", by_q), ("v", by_v), ("a", Moved(Motion.zero(), J_k))):
                accumulate(found[name], k, chosen(change, V))
    return found
