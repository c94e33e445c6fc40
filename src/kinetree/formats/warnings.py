"""Warnings about a file that loads but deserves a word."""

from kinetree.errors import FormatWarning, NonPhysicalInertiaWarning, warn_user
from kinetree.model.physical import check_inertias

__all__ = ["FormatWarning", "NonPhysicalInertiaWarning", "check_inertias", "warn_user"]
