"""The articulated-body recursion: the inertia at each degree of freedom while all beyond it moves freely."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from kinetree.model import WORLD, Model
from kinetree.model.model import BodyState
from kinetree.spatial import ArticulatedInertia, Force, Motion, Scalar


class Pivot(NamedTuple):
    """One eliminated degree of freedom: its index, ``S``, ``U D⁻¹`` and ``D⁻¹``."""

    k: int
    S: Motion
    UD: Force
    D_inverse: Scalar


def articulated_bodies(
    model: Model, states: Sequence[BodyState], prescribed: Collection[int] = ()
) -> Iterator[tuple[int, list[Pivot], ArticulatedInertia]]:
    """Yield every body i, leaves first, with its pivots and the inertia that its parent feels, in i's coordinates.

    A joint of several degrees of freedom is eliminated column by column, like a chain of joints; the joints of the
    prescribed bodies are rigid and have no pivots. The bodies are yielded one at a time, so that the uses of their
    pivots are traced next to them: compiled code then holds them in registers.

    Along S only the rotor's part remains, ``(IA − U D⁻¹ Uᵀ) S = U D⁻¹ I_rotor``, which is mostly nothing. It is set,
    not computed: under a heavy load, what rounding would leave there is large against a light link.
    """
    IA = [ArticulatedInertia.rigid(body.inertia) for body in model.bodies]
    for i, body in reversed(list(enumerate(model.bodies))):
        pivots = []
        for k, S_k, rotor in reversed(list(zip(body.v_index, states[i].S, body.armature, strict=True))):
            if i in prescribed:
                continue
            U = IA[i] @ S_k
            D = S_k.dot(U) + rotor
            UD = U * (1.0 / D)
            pivots.append(Pivot(k, S_k, UD, 1.0 / D))
            IA[i] = IA[i].minus_outer(U, UD).with_product(S_k, UD * rotor)
        yield i, pivots, IA[i]
        if body.parent != WORLD:
            IA[body.parent] = IA[body.parent] + states[i].Xup.T @ IA[i]
