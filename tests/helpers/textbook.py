"""Robots of the textbooks, as published."""

import warnings
from math import pi

import numpy as np

from kinetree.formats import FormatWarning, NonPhysicalInertiaWarning
from kinetree.formats.chains import DHLink, model_from_dh, model_from_screws
from kinetree.spatial import Inertia

# -- Modern Robotics: the three-link example in the docstrings of the package `modern_robotics` (Lynch and Park) ------

M01 = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.089159], [0, 0, 0, 1]]
M12 = [[0, 0, 1, 0.28], [0, 1, 0, 0.13585], [-1, 0, 0, 0], [0, 0, 0, 1]]
M23 = [[1, 0, 0, 0], [0, 1, 0, -0.1197], [0, 0, 1, 0.395], [0, 0, 0, 1]]
M34 = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.14225], [0, 0, 0, 1]]
PLACEMENTS = np.array([M01, M12, M23, M34])
INERTIAS = np.array(
    [
        np.diag([0.010267, 0.010267, 0.00666, 3.7, 3.7, 3.7]),
        np.diag([0.22689, 0.22689, 0.0151074, 8.393, 8.393, 8.393]),
        np.diag([0.0494433, 0.0494433, 0.004095, 2.275, 2.275, 2.275]),
    ]
)
SCREWS = np.array([[1, 0, 1, 0, 1, 0], [0, 1, 0, -0.089, 0, 0], [0, 1, 0, -0.089, 0, 0.425]]).T
GRAVITY = (0.0, 0.0, -9.8)
THETA, DTHETA, DDTHETA = np.array([0.1, 0.1, 0.1]), np.array([0.1, 0.2, 0.3]), np.array([2.0, 1.5, 1.0])
F_TIP = np.ones(6)


def three_link():
    """The first screw has the length √2 in the book's example, hence the warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)
        return model_from_screws(PLACEMENTS, INERTIAS, SCREWS, gravity=GRAVITY, name="three-link")


# -- The Puma 560: P. Corke and B. Armstrong-Hélouvry, "A search for consensus among model parameters reported for the
# PUMA 560 robot", ICRA 1994, in the figures of the Robotics Toolbox (standard DH; friction measured at the motor) ----

PUMA_KINEMATICS = [  # d, a, alpha
    (0.672, 0.0, pi / 2),
    (0.0, 0.4318, 0.0),
    (0.15005, 0.0203, -pi / 2),
    (0.4318, 0.0, pi / 2),
    (0.0, 0.0, -pi / 2),
    (0.0, 0.0, 0.0),
]
PUMA_LINKS = [  # mass, centre of mass, principal moments about it
    (0.0, (0.0, 0.0, 0.0), (0.0, 0.35, 0.0)),
    (17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539)),
    (4.8, (-0.0203, -0.0141, 0.070), (0.066, 0.086, 0.0125)),
    (0.82, (0.0, 0.019, 0.0), (1.8e-3, 1.3e-3, 1.8e-3)),
    (0.34, (0.0, 0.0, 0.0), (0.3e-3, 0.4e-3, 0.3e-3)),
    (0.09, (0.0, 0.0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3)),
]
PUMA_MOTORS = [  # rotor inertia, gear ratio, viscous friction, Coulomb friction while turning forward
    (200e-6, -62.6111, 1.48e-3, 0.395),
    (200e-6, 107.815, 0.817e-3, 0.126),
    (200e-6, -53.7063, 1.38e-3, 0.132),
    (33e-6, 76.0364, 71.2e-6, 11.2e-3),
    (33e-6, 71.923, 82.6e-6, 9.26e-3),
    (33e-6, 76.686, 36.7e-6, 3.96e-3),
]
PUMA_QN = np.array([0, pi / 4, pi, 0, pi / 4, 0])


def puma_rows():
    return [
        DHLink(
            d=d,
            a=a,
            alpha=alpha,
            inertia=Inertia.from_com(mass, com, np.diag(moments).tolist()),
            rotor_inertia=rotor,
            gear_ratio=gear,
            damping=viscous * gear**2,
            friction=coulomb * abs(gear),
        )
        for (d, a, alpha), (mass, com, moments), (rotor, gear, viscous, coulomb) in zip(
            PUMA_KINEMATICS, PUMA_LINKS, PUMA_MOTORS, strict=True
        )
    ]


def puma():
    """Its first link has a moment of inertia about the axis and nothing else, hence the warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NonPhysicalInertiaWarning)
        return model_from_dh(puma_rows(), name="Puma 560")
