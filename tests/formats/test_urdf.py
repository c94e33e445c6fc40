"""What a URDF file says, found again in the model."""

from __future__ import annotations

import warnings
from operator import attrgetter

import pytest

from kinetree import Inertia, JointLimits
from kinetree.errors import FormatError, KinetreeError
from kinetree.formats import FormatWarning, NonPhysicalInertiaWarning, load_model, read_graph
from kinetree.joints import FreeFlyer, Mimic, Planar, Prismatic, Revolute

INERTIAL = "<inertial><mass value='2'/><inertia ixx='3' ixy='0' ixz='0' iyy='4' iyz='0' izz='5'/></inertial>"
LIMIT = "<limit lower='-1' upper='2' effort='3' velocity='4'/>"


def arm(joint: str, kind: str = "revolute", link: str = INERTIAL, robot: str = "") -> str:
    """Return a robot of one joint, with this inside the joint and this inside its child link."""
    return (
        f"<robot name='arm'><link name='base'/><link name='tip'>{link}</link>"
        f"<joint name='j' type='{kind}'><parent link='base'/><child link='tip'/>{joint}</joint>{robot}</robot>"
    )


def only_body(text, **options):
    (body,) = load_model(text, **options).bodies
    return body


@pytest.fixture(autouse=True)
def _warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error", FormatWarning)
        yield


SLANTED, QUARTER = LIMIT + "<axis xyz='0 3 4'/>", "1.5707963267948966"
TURNED = ((0, -1, 0, 1), (1, 0, 0, 2), (0, 0, 1, 3), (0, 0, 0, 1))
# turned by a quarter about z, so that xx and yy change places, and moved (parallel axes)
ELSEWHERE = INERTIAL.replace("<mass", f"<origin xyz='0 0 1' rpy='0 0 {QUARTER}'/><mass").replace("ixy='0'", "ixy='0.5'")
ENDLESS = "<limit lower='-inf' upper='inf' effort='inf' velocity='1e3'/>"


@pytest.mark.parametrize(
    ("text", "what", "value"),
    [
        (arm(SLANTED, "floating"), "joint", FreeFlyer()),
        (arm(SLANTED, "planar"), "joint", Planar((0, 0.6, 0.8))),
        (arm(LIMIT), "joint", Revolute((1, 0, 0))),
        (arm(LIMIT + "<axis xyz='0 1e-300 0'/>"), "joint", Revolute((0, 1, 0))),
        (arm(LIMIT + "<axis xyz='0 4e300 0'/>"), "joint", Revolute((0, 1, 0))),
        (arm(LIMIT + "<origin xyz='1 2 3' quat_xyzw='0 0 1 1'/>"), "X_T.placement", TURNED),
        (arm(LIMIT, link=""), "inertia", Inertia.zero()),
        (arm("<limit upper='2' effort='1' velocity='1'/>"), "limits", JointLimits(0, 2, velocity=1, effort=1)),
        (arm(ENDLESS), "limits", JointLimits(velocity=1000)),
        (arm(LIMIT + "<dynamics damping='0.5' friction='0.25'/>"), "armature", (0.0,)),
    ],
)
def test_what_a_file_says_of_a_body(text, what, value):
    found = attrgetter(what)(only_body(text))
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(("lower", "upper", "degrees"), [(-90, 90, True), (0, 6, False), (-12.57, 12.57, False)])
def test_limits_that_look_like_degrees_are_told(lower, upper, degrees):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        limits = only_body(arm(f"<limit lower='{lower}' upper='{upper}' effort='1' velocity='1'/>")).limits
    assert (limits.lower, limits.upper) == (lower, upper)
    assert ["limits of j look like degrees" in str(w.message) for w in caught] == [True] * degrees


def test_a_robot_that_floats_by_itself_gets_no_second_floating_base():
    assert load_model(arm("", "floating")).nv == 6
    with pytest.raises(FormatError, match=r"<joint name='j'>: the robot floats already"):
        load_model(arm("", "floating"), floating_base=True)


MIMIC = arm(
    LIMIT,
    robot="<link name='b'/><joint name='k' type='prismatic'><parent link='base'/><child link='b'/>"
    "<limit lower='0' upper='1' effort='1' velocity='1'/><mimic joint='j' multiplier='-2' offset='0.5'/></joint>",
)


FIXED = "<link name='b'/><joint name='k' type='fixed'><parent link='base'/><child link='b'/></joint>"


def test_mimic_joints_follow_or_move_by_themselves():
    mimic = read_graph(MIMIC)[0].joints[1].mimic
    assert (mimic.joint, mimic.multiplier, mimic.offset) == ("j", -2.0, 0.5)
    model = load_model(MIMIC)
    assert (model.joint_names, model.nb, model.nq, model.nv) == (("j",), 2, 1, 1)
    follower = model.bodies[model.body_of_joint("k")]
    assert follower.joint == Mimic(Prismatic((1, 0, 0)), -2.0, 0.5)
    assert (follower.q_index, follower.v_index) == ((0,), (0,))
    assert load_model(MIMIC, mimic="independent").joint_names == ("j", "k")
    with pytest.raises(KinetreeError, match="mimic='error': give 'follow' or 'independent'"):
        load_model(MIMIC, mimic="error")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("joint='j'", "joint='i'", "<joint name='k'>: mimics: no joint 'i'.*mimic='independent'"),
        ("joint='j' m", "joint='k' m", "^<string>, line 1, <joint name='k'>: mimics itself: one joint must lead"),
        (f"{LIMIT}</joint>", f"{LIMIT}<mimic joint='k'/></joint>", "^<string>, line 1, <joint name='j'>: mimics"),
        ("'prismatic'", "'floating'", "^<string>, line 1, <joint name='k'>: cannot mimic, as a floating joint"),
        ("'prismatic'", "'planar'", "^<string>, line 1, <joint name='k'>: cannot mimic, as a planar joint"),
        ("<joint name='j' type='revolute'", "<joint name='j' type='floating'", "mimics 'j', a floating joint"),
    ],
)
def test_mimic_joints_that_can_follow_nothing(old, new, message):
    assert MIMIC.count(old) == 1
    with pytest.raises(FormatError, match=message):
        load_model(MIMIC.replace(old, new))
    load_model(MIMIC.replace(old, new), mimic="independent")


def test_mimic_defaults_and_fixed_joints_that_mimic():
    plain = read_graph(MIMIC.replace(" multiplier='-2' offset='0.5'", ""))[0].joints[1].mimic
    assert (plain.multiplier, plain.offset) == (1.0, 0.0)
    fixed = MIMIC.replace("'prismatic'", "'fixed'")
    with pytest.warns(FormatWarning, match=r"^<string>: fixed joints do not move, .* <mimic> of these is dropped: k$"):
        model = load_model(fixed)
    assert model == load_model(fixed, mimic="independent") == load_model(arm(LIMIT, robot=FIXED))


NOISE = (
    "<material name='m'><color rgba='1,0 nan'/></material><transmission name='t'><joint name='j'/></transmission>"
    "<gazebo reference='tip'><mass value='-1'/></gazebo><link_extra/>"
)
VISUAL = "<visual><geometry><mesh filename='package://nowhere/x.stl'/></geometry></visual><sensor/>"
UNKNOWN = arm(LIMIT + "<safety_controller k_velocity='x'/><calibration/>", link=INERTIAL + VISUAL, robot=NOISE)
UNKNOWN = UNKNOWN.replace("<mass", "<mass u:colour='red'").replace("<robot", "<robot xmlns:u='urn:u' colour='red'")
FREE = "<axis xzy='x'/><limit uper='1'/>"
JERK = (
    LIMIT.replace("'4'", "'4' acceleration='5' deceleration='5' jerk='6'")
    + "<dynamics damping='0' mu_viscous='1' K='2'/>"
)
ROOTS = ["xmlns='http://www.ros.org'", "xmlns='http://wiki.ros.org/urdf'"]
ROOTS += ["version='1.0'", "version='1.1'", "version='1.2'"]


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (UNKNOWN, arm(LIMIT)),
        (arm(FREE + "<dynamics dampin='-1'/>", "fixed"), arm("", "fixed")),
        (arm(FREE, "floating"), arm("", "floating")),
        (arm(JERK), arm(LIMIT)),  # of simulators, and of URDF 1.2
        (arm(LIMIT, link=INERTIAL + "<u:inertial xmlns:u='urn:u'/>"), arm(LIMIT)),
        *((arm(LIMIT).replace("<robot", f"<robot {root}"), arm(LIMIT)) for root in ROOTS),
    ],
)
def test_what_is_unknown_or_no_dynamics_of_a_joint_is_passed_over(text, same):
    assert load_model(text) == load_model(same)


def test_inertias_on_the_edge_of_the_physical_are_no_matter_for_a_warning():
    load_model(arm(LIMIT).replace("izz='5'", "izz='7'"))  # a flat plate
    load_model(arm(LIMIT).replace("izz='5'", "izz='7.000001'"))  # one with rounded figures
    load_model(
        arm(LIMIT).replace("value='2'", "value='0'").replace("'3'", "'0'").replace("'4'", "'0'").replace("'5'", "'0'")
    )


POINT = INERTIAL.replace("ixx='3'", "ixx='0'").replace("iyy='4'", "iyy='0'").replace("izz='5'", "izz='0'")
IMPOSSIBLE = INERTIAL.replace("izz='5'", "izz='7.1'")


def fixed(link: str, parent: str) -> str:
    """Return a link fixed to another, with this inside."""
    joint = f"<joint name='weld' type='fixed'><parent link='{parent}'/><child link='more'/></joint>"
    return f"<link name='more'>{link}</link>{joint}"


def test_inertias_that_nobody_feels_are_no_matter_for_a_warning():
    load_model(arm(LIMIT, robot=fixed(IMPOSSIBLE, "base")))
    load_model(arm(LIMIT, robot=fixed(POINT, "tip")))
    load_model(arm(LIMIT, link=POINT, robot=fixed(INERTIAL, "tip")))
    for options in ({"floating_base": True}, {}):
        with pytest.warns(NonPhysicalInertiaWarning, match="triangle inequality violated: more"):
            load_model(arm(LIMIT, robot=fixed(IMPOSSIBLE, "base" if options else "tip")), **options)
    with pytest.warns(NonPhysicalInertiaWarning, match="mass without inertia: tip, more"):
        load_model(arm(LIMIT, link=POINT, robot=fixed(POINT, "tip")))
