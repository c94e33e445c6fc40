"""Write what Drake says of SDF files into ``sdf_drake.json``: ``python record_sdf.py FILE …`` where Drake is installed.

For each file: the poses of the links in the world, the mass matrix and the gravity forces of the joints with one degree
of freedom, where those stand at 0.1, 0.2, … in file order and all others at zero. ``FILE:joint,joint`` leaves joints
out, and so opens loops. Recorded by Drake 1.51.1.
"""

import json
import re
import sys
from pathlib import Path

import numpy as np


def facts(path: str, without: list[str]) -> dict[str, object]:
    """Return what Drake says of a file."""
    from pydrake.all import ModelInstanceIndex, MultibodyPlant, Parser

    text = Path(path).read_text()
    for name in without:
        text = re.sub(rf'<joint name="{name}".*?</joint>', "", text, flags=re.DOTALL)
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(text, "sdf")
    plant.Finalize()
    context = plant.CreateDefaultContext()
    by_name = {plant.get_joint(k).name(): plant.get_joint(k) for k in plant.GetJointIndices()}
    in_file = [by_name[name] for name in re.findall(r"<joint\s+name=[\"']([^\"']*)", text)]
    single = [joint for joint in in_file if joint.num_velocities() == 1]
    q = plant.GetPositions(context)
    for k, joint in enumerate(single):
        q[joint.position_start()] = 0.1 * (k + 1)
    plant.SetPositions(context, q)
    models = [ModelInstanceIndex(k) for k in range(1, plant.num_model_instances())]
    bodies = [plant.get_body(k) for model in models for k in plant.GetBodyIndices(model)]
    poses = {
        body.scoped_name().get_full().partition("::")[2]: plant.EvalBodyPoseInWorld(context, body).GetAsMatrix34()
        for body in bodies
    }
    at = [joint.velocity_start() for joint in single]
    return {
        "joints": [joint.name() for joint in single],
        "mass": plant.CalcTotalMass(context),
        "poses": {name: pose.round(13).tolist() for name, pose in poses.items()},
        "M": plant.CalcMassMatrix(context)[np.ix_(at, at)].round(13).tolist(),
        "gravity_forces": (-plant.CalcGravityGeneralizedForces(context)[at]).round(13).tolist(),
    }


if __name__ == "__main__":
    found = {}
    for argument in sys.argv[1:]:
        path, _, without = argument.partition(":")
        found[Path(path).name] = facts(path, without.split(",") if without else [])
    Path(__file__).with_name("sdf_drake.json").write_text(json.dumps(found, separators=(",", ":")) + "\n")
