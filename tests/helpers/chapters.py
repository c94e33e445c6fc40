"""The chapters of the course as modules: their code cells, run in order."""

import functools
import re
from pathlib import Path
from types import ModuleType

COURSE = Path(__file__).parents[2] / "docs/course"
CHAPTERS = sorted(path.stem for path in COURSE.glob("*.md") if path.stem != "index")
CELL = re.compile(r"^```\{code-cell\}\n(?::tags: \[hide-(?:input|output)\]\n)?([^:].*?)^```$", re.MULTILINE | re.DOTALL)
"""A cell that is run; those with the tag skip-execution are only shown."""


@functools.cache
def chapter(name):
    """Run the code of a chapter, as its notebook does, and return what it defines; lines count as in the file."""
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    path = COURSE / f"{name}.md"
    text = path.read_text(encoding="utf-8")
    module = ModuleType(name)
    for cell in CELL.finditer(text):
        above = text.count("\n", 0, cell.start(1))
        exec(compile("\n" * above + cell[1], str(path), "exec"), vars(module))
        plt.close("all")
    return module
