"""Joint types of a user's own are checked at their first use; who has none does not import the laws."""

from __future__ import annotations

from kinetree.joints.base import Joint
from kinetree.locks import importing


def check_at_first_use(joint: Joint) -> None:
    """Check a joint of a user's type, also one inside a built-in one, unless an equal one has passed before."""
    for part in vars(joint).values():
        if isinstance(part, Joint):
            check_at_first_use(part)
    if not type(joint).__module__.startswith(f"{__package__}."):
        with importing:
            from kinetree.joints._laws import check_once

        check_once(joint)
