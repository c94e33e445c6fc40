"""Content hash of a program, stable across processes."""

from __future__ import annotations

import hashlib

from kinetree.graph.graph import Program


def digest(program: Program) -> bytes:
    """Return a SHA-256 of the live nodes in their order, the ports and the results, with all bits of constants."""
    number: dict[int, int] = {}
    h = hashlib.sha256(repr((program.inputs, program.outputs)).encode())
    for i in program.schedule():
        op, args, payload = program.graph[i]
        shown = payload.hex() if isinstance(payload, float) else repr(payload)
        number[i] = len(number)
        h.update(f"{op} {[number[a] for a in args]} {shown}\n".encode())
    h.update(repr([[number[i] for i in entries] for entries in program.results]).encode())
    return h.digest()
