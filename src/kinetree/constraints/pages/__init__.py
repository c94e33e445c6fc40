"""The algorithms of a mechanism, one page each, over any scalar; a page is imported when it is first used."""

from functools import partial

from kinetree.algorithms.registry import algorithm
from kinetree.algorithms.table import Table, table_of
from kinetree.constraints.model import ConstrainedModel

PAGES = {
    "assembly": "assemble",
    "dynamics": "forward_dynamics hybrid_dynamics impulse project_velocity contact_dynamics contact_impulse",
    "equations": "constraint_jacobian constraint_bias constraint_error delassus_matrix constraint_inertia "
    "constraint_wrenches constraint_forces complete_velocity complete_acceleration velocity_map "
    "reduced_mass_matrix reduced_bias",
    "inverse": "inverse_dynamics contact_inverse_dynamics",
    "steps": "step contact_step",
}
"""The algorithms of each page, in the order of their definition; a test compares it with the pages."""

SETUP = """>>> import kinetree as kt
>>> robot = kt.load("go2")
>>> mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")])
>>> q, v, a = robot.random_state(seed=0)
"""

MECHANISM_ALGORITHMS = Table(__name__, PAGES, SETUP, "kinetree.constraints.system:ConstrainedSystem")

mechanism_algorithm = partial(algorithm, table=MECHANISM_ALGORITHMS)
"""The decorator by which a page declares one."""


@table_of.register
def _(model: ConstrainedModel) -> Table:
    return MECHANISM_ALGORITHMS
