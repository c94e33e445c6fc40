"""The table of the algorithms of a mechanism; a page is imported when its algorithm is first used."""

from kinetree.algorithms.table import Table, table_of
from kinetree.constraints.model import ConstrainedModel

PAGES = {
    "assembly": "assemble",
    "dynamics": "forward_dynamics hybrid_dynamics",
    "forces": "constraint_wrenches constraint_forces",
    "impulses": "impulse project_velocity",
    "inverse": "inverse_dynamics",
    "reduced": "complete_velocity complete_acceleration velocity_map reduced_mass_matrix reduced_bias",
    "rows": "constraint_jacobian constraint_bias constraint_error delassus_matrix constraint_inertia",
}
"""The algorithms of each page, in the order of their definition; a test compares it with the pages."""

SETUP = """>>> import kinetree as kt
>>> robot = kt.load("go2")
>>> mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")])
>>> q, v, a = robot.random_state(seed=0)
"""

MECHANISM_ALGORITHMS = Table(f"{__package__}.pages", PAGES, SETUP)


@table_of.register
def _(model: ConstrainedModel) -> Table:
    return MECHANISM_ALGORITHMS
