"""Files of robots, and the same with one element or value that is odd."""

from pathlib import Path
from xml.etree import ElementTree

SDF = Path(__file__).parents[1] / "formats" / "everything.sdf"
URDF = """<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0.1 0.2 0.3" rpy="0.1 0.2 0.3"/>
      <mass value="2.5"/>
      <inertia ixx="0.3" ixy="0.01" ixz="-0.02" iyy="0.4" iyz="0.03" izz="0.5"/>
    </inertial>
  </link>
  <link name="hand"/>
  <link name="finger"/>
  <link name="tool"/>
  <joint name="shoulder" type="revolute">
    <origin xyz="0 0 1" rpy="0 1.5 0"/>
    <axis xyz="0 3 4"/>
    <parent link="base"/>
    <child link="upper"/>
    <limit lower="-1" upper="2" effort="10" velocity="3"/>
    <dynamics damping="0.1" friction="0.2"/>
    <safety_controller soft_lower_limit="-0.5" soft_upper_limit="0.5" k_velocity="1"/>
  </joint>
  <joint name="slide" type="prismatic">
    <parent link="upper"/>
    <child link="hand"/>
    <limit upper="2" effort="20" velocity="0"/>
  </joint>
  <joint name="grip" type="continuous">
    <parent link="hand"/>
    <child link="finger"/>
    <mimic joint="shoulder" multiplier="2" offset="0.5"/>
  </joint>
  <joint name="flange" type="fixed">
    <origin xyz="0 0 0.2" rpy="1 2 3"/>
    <parent link="hand"/>
    <child link="tool"/>
  </joint>
</robot>"""
ODD = ("", "x", "nan", "-0.5", "7", "0 0 1 1", "shoulder")


def odd_files(text):
    """Yield copies of a file in which one thing is odd: of which element, what, what stands there, and the text."""
    root = ElementTree.fromstring(text)
    names = {root: root.tag}
    for parent in list(root.iter()):
        for k, child in enumerate(list(parent)):
            names[child] = name = f"{names[parent]}/{child.get('name', child.tag)}"
            for what, both in (("removed", []), ("twice", [child, child])):
                parent[k : k + 1] = both
                yield name, what, "", ElementTree.tostring(root, "unicode")
                parent[k : k + len(both)] = [child]
            for key, value in list(child.attrib.items()):
                del child.attrib[key]
                yield name, f"no {key}", "", ElementTree.tostring(root, "unicode")
                for other in ODD:
                    child.set(key, other)
                    yield name, f"{key} {other!r}", other, ElementTree.tostring(root, "unicode")
                child.set(key, value)
            if before := (child.text or "").strip():
                for other in ODD:
                    child.text = other
                    yield name, repr(other), other, ElementTree.tostring(root, "unicode")
                child.text = before
