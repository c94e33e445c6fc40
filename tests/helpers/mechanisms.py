"""Mechanisms with closed loops, each with a configuration in which all its constraints hold.

Lengths are in metres and masses in kilograms. Planar mechanisms move in the plane of x and z and turn about y, so that
a positive angle turns x towards −z. Gravity is along −z.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

import kinetree as kt
from kinetree.joints import FreeFlyer, Prismatic, Revolute, Spherical

Array = np.ndarray[Any, Any]

HINGE = Revolute((0, 1, 0))


class Closed(NamedTuple):
    """A mechanism, and a configuration in which its constraints hold."""

    mech: kt.Mechanism
    q: Array


def at(x=0.0, y=0.0, z=0.0):
    """Return the pose of a point, (4, 4)."""
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


def bar(mass, along, thickness=1e-2):
    """Return the inertia of a uniform bar from the origin along a vector, and `thickness`, a radius of gyration."""
    d = np.array(along, dtype=float)
    across = d @ d * np.eye(3) - np.outer(d, d)
    return kt.Inertia.from_com(mass, d / 2, mass * (across / 12 + thickness**2 * np.eye(3)))


def angle(d):
    """Return the angle about y of a direction (x, z)."""
    return float(np.arctan2(-d[1], d[0]))


def triangle(a, b, from_a, from_b, side=1.0):
    """Return the point at these distances from two others in a plane, to the left of the way from a to b (side > 0)."""
    d = b - a
    length = float(np.hypot(*d))
    along = (length**2 + from_a**2 - from_b**2) / (2 * length)
    across = np.sqrt(from_a**2 - along**2)
    return a + (along * d + side * across * np.array([-d[1], d[0]])) / length


def four_bar(crank=1.0, coupler=2.0, rocker=1.5, ground=2.2, *, motor=-1.0, turned=(0.0, 0.0, 0.0), askew=0.0):
    """Return a planar four-bar linkage, cut between coupler and rocker: one freedom (own figures; a crank-rocker).

    With a rotation vector `turned` its plane and gravity are turned; `askew` (rad) is how far its joints are off.
    """
    rng, R = np.random.default_rng(0), Rotation.from_rotvec(turned)
    hinge = Revolute(tuple(R.apply([0.0, 1.0, 0.0])))

    def place(x: float):
        T = at(*R.apply([x, 0.0, 0.0]))
        T[:3, :3] = Rotation.from_rotvec(askew * rng.normal(size=3)).as_matrix()
        return T

    b = kt.ModelBuilder("four_bar")
    b.add_link("ground")
    for name, length in (("crank", crank), ("coupler", coupler), ("rocker", rocker)):
        b.add_link(name, bar(length, tuple(R.apply([length, 0.0, 0.0]))))
    b.add_joint("motor", parent="ground", child="crank", joint=hinge, placement=place(0.0))
    b.add_joint("elbow", parent="crank", child="coupler", joint=hinge, placement=place(crank))
    b.add_joint("pivot", parent="ground", child="rocker", joint=hinge, placement=place(ground))
    b.add_frame("coupler_tip", link="coupler", placement=place(coupler))
    b.add_frame("rocker_tip", link="rocker", placement=place(rocker))
    elbow, pivot = crank * np.array([np.cos(motor), -np.sin(motor)]), np.array([ground, 0.0])
    tip = triangle(elbow, pivot, coupler, rocker)
    q = np.array([motor, angle(tip - elbow) - motor, angle(tip - pivot)])
    robot = kt.Robot(b.build(gravity=R.apply([0.0, 0.0, -9.81])))
    return Closed(kt.Mechanism(robot, [kt.Loop("coupler_tip", "rocker_tip", hinge)]), q)


def slider_crank(crank=0.3, rod=1.0, *, motor=-0.7, masses=(2.0, 1.0, 3.0)):
    """Return a slider-crank, cut at the piston's pin: one freedom (own figures; the piston slides along x)."""
    b = kt.ModelBuilder("slider_crank")
    b.add_link("ground")
    b.add_link("crank", bar(masses[0], (crank, 0, 0)))
    b.add_link("rod", bar(masses[1], (rod, 0, 0)))
    b.add_link("piston", kt.Inertia.from_com(masses[2], (0, 0, 0), np.eye(3) * 1e-2))
    b.add_joint("motor", parent="ground", child="crank", joint=HINGE)
    b.add_joint("elbow", parent="crank", child="rod", joint=HINGE, placement=at(crank))
    b.add_joint("slide", parent="ground", child="piston", joint=Prismatic((1, 0, 0)))
    b.add_frame("rod_tip", link="rod", placement=at(rod))
    b.add_frame("pin", link="piston")
    turn = -np.arcsin(crank / rod * np.sin(motor))  # of the rod against x
    q = np.array([motor, turn - motor, crank * np.cos(motor) + rod * np.cos(turn)])
    return Closed(kt.Mechanism(kt.Robot(b.build()), [kt.Loop("rod_tip", "pin", HINGE)]), q)


def n_four_bar(loops=2, *, motor=-np.pi / 2):
    """Return a row of n + 1 upright bars whose tops n horizontal bars join; every bar has 1 m and 1 kg.

    One freedom, and n + 1 where all bars lie in one line (motor at 0 or π): benchmark A02 of the IFToMM library of
    computational benchmark problems, after Bayo and Avello, Singularity-free augmented Lagrangian algorithms for
    constrained multibody dynamics, Nonlinear Dynamics 5 (1994). There the tops begin upright with 1 m/s along x.
    """
    b = kt.ModelBuilder("n_four_bar")
    b.add_link("ground")
    for k in range(loops + 1):
        b.add_link(f"bar{k}", bar(1.0, (1, 0, 0), thickness=0.0))
        b.add_joint(f"pivot{k}", parent="ground", child=f"bar{k}", joint=HINGE, placement=at(k))
        b.add_frame(f"top{k}", link=f"bar{k}", placement=at(1.0))
    for k in range(loops):
        b.add_link(f"coupler{k}", bar(1.0, (1, 0, 0), thickness=0.0))
        b.add_joint(f"elbow{k}", parent=f"bar{k}", child=f"coupler{k}", joint=HINGE, placement=at(1.0))
        b.add_frame(f"end{k}", link=f"coupler{k}", placement=at(1.0))
    robot = kt.Robot(b.build())
    q = np.zeros(robot.nq)
    for name in robot.joint_names:
        q[robot.joint(name).q_slice] = motor if name.startswith("pivot") else -motor
    return Closed(kt.Mechanism(robot, [kt.Loop(f"end{k}", f"top{k + 1}", HINGE) for k in range(loops)]), q)


def bricard():
    """Return Bricard's mechanism, cut at the sixth hinge: one freedom, although six hinges in a ring count none.

    Benchmark A04 of the IFToMM library: five bars of 1 m and 1 kg and the ground join six hinges at corners of a cube,
    each axis across its bars; gravity is along −y. Bricard, Mémoire sur la théorie de l'octaèdre articulé (1897).
    """
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], dtype=float)
    axes = ((0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0))
    b = kt.ModelBuilder("bricard")
    b.add_link("ground")
    parent, start = "ground", np.zeros(3)
    for k in range(5):
        x, y, z = corners[k + 1] - corners[k]
        b.add_link(f"bar{k}", bar(1.0, (x, y, z), thickness=0.0))
        place = at(*(corners[k] - start))
        b.add_joint(f"hinge{k}", parent=parent, child=f"bar{k}", joint=Revolute(axes[k]), placement=place)
        parent, start = f"bar{k}", corners[k]
    b.add_frame("end", link="bar4", placement=at(*(corners[5] - start)))
    b.add_frame("anchor", link="ground", placement=at(*corners[5]))
    robot = kt.Robot(b.build(gravity=(0.0, -9.81, 0.0)))
    mech = kt.Mechanism(robot, [kt.Loop("end", "anchor", Revolute(axes[5]))])
    return Closed(mech, np.zeros(5))


def _leg_pose(foot, tip):
    """Return the pose of a leg whose z points from foot to tip, and the distance."""
    d = tip - foot
    length = float(np.linalg.norm(d))
    z = d / length
    x = np.cross([0.0, 1.0, 0.0], z)
    x /= np.linalg.norm(x)
    T = at(*foot)
    T[:3, :3] = np.stack([x, np.cross(z, x), z], axis=1)
    return T, length


def stewart(base=1.0, platform=0.5, height=1.0):
    """Return a Stewart platform, six legs with a universal, a prismatic and a spherical joint (6-UPS), cut at the last.

    The platform floats, so that nv is 24 with 18 rows: six freedoms (own figures, after Stewart, A platform with six
    degrees of freedom, 1965).
    """
    b = kt.ModelBuilder("stewart")
    b.add_link("ground")
    b.add_link("platform", kt.Inertia.from_com(10.0, (0, 0, 0), np.diag([0.5, 0.5, 1.0])))
    b.add_joint("root", parent="ground", child="platform", joint=FreeFlyer())
    loops = []
    for k in range(6):
        low, high = np.deg2rad([120 * (k // 2) + (-15, 15)[k % 2 == 0], 120 * (k // 2) + (-45, 45)[k % 2 == 0]])
        foot = base * np.array([np.cos(low), np.sin(low), 0.0])
        ball = platform * np.array([np.cos(high), np.sin(high), 0.0])
        T, length = _leg_pose(foot, ball + np.array([0.0, 0.0, height]))
        b.add_link(f"cross{k}", kt.Inertia.from_com(0.1, (0, 0, 0), np.eye(3) * 1e-3))
        b.add_link(f"cylinder{k}", kt.Inertia.from_com(1.0, (0, 0, 0.2), np.diag([0.02, 0.02, 0.002])))
        b.add_link(f"piston{k}", kt.Inertia.from_com(0.5, (0, 0, -0.2), np.diag([0.01, 0.01, 0.001])))
        b.add_joint(f"pitch{k}", parent="ground", child=f"cross{k}", joint=Revolute((1, 0, 0)), placement=T)
        b.add_joint(f"yaw{k}", parent=f"cross{k}", child=f"cylinder{k}", joint=HINGE)
        slide = Prismatic((0, 0, 1))
        b.add_joint(f"slide{k}", parent=f"cylinder{k}", child=f"piston{k}", joint=slide, placement=at(z=length))
        b.add_frame(f"tip{k}", link=f"piston{k}")
        b.add_frame(f"ball{k}", link="platform", placement=at(*ball))
        loops.append(kt.Loop(f"ball{k}", f"tip{k}", Spherical()))
    robot = kt.Robot(b.build())
    q = robot.neutral()
    q[robot.joint("root").q_slice][:3] = 0.0, 0.0, height
    return Closed(kt.Mechanism(robot, loops), q)


class Delta(NamedTuple):
    """Figures of a Delta robot: radii of base and platform, upper arms, forearms, their distance in a pair, masses."""

    base: float = 0.2
    platform: float = 0.05
    upper: float = 0.25
    forearm: float = 0.55
    pair: float = 0.1
    arm_mass: float = 0.4
    platform_mass: float = 0.6

    def directions(self, k):
        """Return the unit vectors outwards along arm k and along its hinge."""
        a = 2 * np.pi * k / 3
        return np.array([np.cos(a), np.sin(a), 0.0]), np.array([-np.sin(a), np.cos(a), 0.0])

    def arm_angles(self, x):
        """Return the angles of the upper arms below the horizontal for the platform's centre x, with elbows outside."""
        found = []
        for k in range(3):
            outwards, hinge = self.directions(k)
            d = x + (self.platform - self.base) * outwards  # from the hinge to the forearms' middle on the platform
            across = d @ hinge
            elbow = triangle(
                np.zeros(2), np.array([d @ outwards, d[2]]), self.upper, np.sqrt(self.forearm**2 - across**2)
            )
            found.append(angle(elbow))
        return np.array(found)


FIGURES = Delta()


def delta(figures=FIGURES, centre=(0.05, -0.03, -0.5)):
    """Return a Delta robot: three driven arms, and a platform that hangs on three pairs of parallel massless rods.

    The platform floats, so that nv is 9 with six rows: three freedoms, in which it does not turn (own figures, after
    Clavel, Delta, a fast robot with parallel geometry, 1988).
    """
    b = kt.ModelBuilder("delta")
    b.add_link("ground")
    rods = []
    b.add_link("platform", kt.Inertia.from_com(figures.platform_mass, (0, 0, 0), np.diag([1e-3, 1e-3, 2e-3])))
    b.add_joint("root", parent="ground", child="platform", joint=FreeFlyer())
    for k in range(3):
        outwards, hinge = figures.directions(k)
        T = at(*(figures.base * outwards))
        T[:3, :2] = np.stack([outwards, hinge], axis=1)
        b.add_link(f"arm{k}", bar(figures.arm_mass, (figures.upper, 0, 0)))
        b.add_joint(f"motor{k}", parent="ground", child=f"arm{k}", joint=HINGE, placement=T)
        for side, y in (("left", figures.pair / 2), ("right", -figures.pair / 2)):
            b.add_frame(f"elbow{k}_{side}", link=f"arm{k}", placement=at(figures.upper, y))
            b.add_frame(f"wrist{k}_{side}", link="platform", placement=at(*(figures.platform * outwards + y * hinge)))
            rods.append(kt.Rod(f"wrist{k}_{side}", f"elbow{k}_{side}", length=figures.forearm))
    robot = kt.Robot(b.build())
    q = robot.neutral()
    q[robot.joint("root").q_slice][:3] = centre
    for k, x in enumerate(figures.arm_angles(np.array(centre))):
        q[robot.joint(f"motor{k}").q_slice] = x
    return Closed(kt.Mechanism(robot, rods), q)


def five_bar_leg(*, floating=False, thigh=0.1, shank=0.2, hips=(0.6, 2.5)):
    """Return a leg of two thighs on one axis, driven both, and two shanks that meet at the foot, cut there.

    Two freedoms; the angles of the thighs are positive downwards, from forward on. Own figures in the proportions of
    Minitaur (Kenneally, De and Koditschek, Design principles for a family of direct-drive legged robots, 2016).
    """
    b = kt.ModelBuilder("five_bar_leg")
    b.add_link("body", kt.Inertia.from_com(2.0, (0, 0, 0), np.eye(3) * 1e-2))
    if floating:
        b.add_link("world")
        b.add_joint("root", parent="world", child="body", joint=FreeFlyer())
    for name in ("front", "back"):
        b.add_link(f"{name}_thigh", bar(0.1, (thigh, 0, 0)))
        b.add_link(f"{name}_shank", bar(0.1, (shank, 0, 0)))
        b.add_joint(f"{name}_hip", parent="body", child=f"{name}_thigh", joint=HINGE)
        b.add_joint(f"{name}_knee", parent=f"{name}_thigh", child=f"{name}_shank", joint=HINGE, placement=at(thigh))
        b.add_frame(f"{name}_foot", link=f"{name}_shank", placement=at(shank))
    robot = kt.Robot(b.build())
    knees = [thigh * np.array([np.cos(x), -np.sin(x)]) for x in hips]
    foot = triangle(knees[0], knees[1], shank, shank)
    q = robot.neutral()
    for name, hip, knee in zip(("front", "back"), hips, knees, strict=True):
        q[robot.joint(f"{name}_hip").q_slice] = hip
        q[robot.joint(f"{name}_knee").q_slice] = angle(foot - knee) - hip
    return Closed(kt.Mechanism(robot, [kt.Loop("front_foot", "back_foot", HINGE)]), q)
