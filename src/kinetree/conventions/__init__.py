"""States in the conventions of other libraries: pure NumPy, none of them is needed."""

from kinetree.conventions.joint_state import JointState, State, from_joint_state, to_joint_state
from kinetree.conventions.mujoco import MuJoCo
from kinetree.conventions.pinocchio import Pinocchio

__all__ = ["JointState", "MuJoCo", "Pinocchio", "State", "from_joint_state", "to_joint_state"]
