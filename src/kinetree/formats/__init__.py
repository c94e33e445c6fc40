"""Robot files: whatever describes a robot, read into a model. Conventions are converted here only."""

from kinetree.errors import FormatWarning, NonPhysicalInertiaWarning
from kinetree.formats.load import RobotNotFoundError, load_model, read_graph
from kinetree.lazy import lazy_names

RENAMED = {
    "UrdfRobot": "kinetree.formats.graph.KinematicGraph",
    "model_from_urdf": "load_model",
    "read_urdf": "read_graph",
}

__getattr__, _ = lazy_names(__name__, {}, RENAMED)

__all__ = ["FormatWarning", "NonPhysicalInertiaWarning", "RobotNotFoundError", "load_model", "read_graph"]
