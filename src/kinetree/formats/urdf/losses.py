"""What a URDF document of a model does not say, found by reading it again."""

from __future__ import annotations

import warnings

from kinetree.errors import FormatError, ModelError, listed
from kinetree.formats.load import load_model
from kinetree.formats.urdf.write import is_world
from kinetree.model import Model
from kinetree.model.differences import differences

OF_MODEL = {
    "name": "its name, {0.name!r}",
    "body_names": "the order of the bodies, {0.body_names}",
    "gravity": "gravity ({0.gravity.x}, {0.gravity.y}, {0.gravity.z}) (load the file with gravity=)",
    "friction": "whether friction counts (with_friction)",
}
"""The fields of a model for which URDF has no place, and what to say of them."""

OF_JOINTS = {
    ("armature", "spring"): "armature and springs: those of {}",
    ("damping", "friction"): "damping and friction at a floating base, or other ones in each direction: those of {}",
    ("name",): "links that are not at their joint: the moving bodies of {} have other names",
}
"""The fields of bodies for which URDF has no place, and what to say of their joints."""

WORDS = {"X_T": "the placement", "joint": "the motion"}
"""What fields of bodies are called in messages."""


def losses(model: Model, text: str, of: str) -> list[str]:
    """Return what a document does not say of the model that it was made of; `of` begins the error's message.

    Raises
    ------
    ModelError
        If it describes another robot: all that is different and that URDF has a place for is named.
    """
    with warnings.catch_warnings():  # of the robot, which it had before
        warnings.simplefilter("ignore")
        try:
            again = load_model(text, floating_base=model.has_floating_base, mimic="follow", lenient=True)
        except FormatError as error:
            raise ModelError(f"URDF has no place for this robot: {error}") from None
    lost = differences(model, again)
    known = {field for fields in OF_JOINTS for field in fields}
    odd = [x for x in lost.model if x not in OF_MODEL]
    odd += [
        f"{WORDS.get(field, field)} of {listed(names)}" for field, names in lost.joints.items() if field not in known
    ]
    moved = [name for name in lost.frames if name != model.root or not is_world(model)]
    odd += [f"the frames {listed(moved)}"] * bool(moved)
    if odd:
        raise ModelError(f"{of}: {'; '.join(odd)} differ")
    found = [OF_MODEL[x].format(model) for x in lost.model]
    for fields, said in OF_JOINTS.items():
        joints = dict.fromkeys(name for field in fields for name in lost.joints.get(field, ()))
        found += [said.format(listed(list(joints)))] * bool(joints)
    return found + ["that the base floats (load the file with floating_base=True)"] * model.has_floating_base
