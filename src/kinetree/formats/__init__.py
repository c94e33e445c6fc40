"""Robot files: whatever describes a robot, read into a model. Conventions are converted here only."""

from kinetree.errors import FormatWarning, NonPhysicalInertiaWarning
from kinetree.formats.load import RobotNotFoundError, load_model
from kinetree.formats.urdf.document import UrdfRobot, read_urdf
from kinetree.formats.urdf.model import model_from_urdf

__all__ = [
    "FormatWarning",
    "NonPhysicalInertiaWarning",
    "RobotNotFoundError",
    "UrdfRobot",
    "load_model",
    "model_from_urdf",
    "read_urdf",
]
