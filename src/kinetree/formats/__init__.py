"""Robot files: whatever describes a robot, read into a model. Conventions are converted here only."""

from kinetree.errors import FormatWarning, NonPhysicalInertiaWarning
from kinetree.formats.load import RobotNotFoundError, load_model, read_graph

__all__ = ["FormatWarning", "NonPhysicalInertiaWarning", "RobotNotFoundError", "load_model", "read_graph"]
