"""The documentation as a site: ``python -m sphinx -W --keep-going docs site``."""

from __future__ import annotations

import inspect
import re
import runpy
from pathlib import Path
from typing import Any

project = "kinetree"
author = "The kinetree developers"
copyright = f"2026, {author}"
default_role = "py:obj"  # `Robot.jacobian` in a docstring leads to its entry, if it has one
extensions = ["myst_nb", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx_copybutton", "sphinx_design"]
html_theme = "furo"
html_title = "kinetree"
html_static_path, html_css_files = ["_static"], ["site.css"]
myst_enable_extensions = ["attrs_inline", "colon_fence", "dollarmath"]
myst_heading_anchors = 3
nb_execution_raise_on_error = True  # the chapters of docs/course are run when the site is built
nb_execution_timeout = 120
nb_merge_streams = True
autodoc_default_options = {"member-order": "bysource"}
autodoc_typehints = "none"
autodoc_inherit_docstrings = False
add_module_names = False
numpydoc_show_class_members = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
suppress_warnings = ["myst.header"]  # sections of a page may begin at any level

REPOSITORY = "https://github.com/kinetree/kinetree/blob/main"
"""Where links from a page to a file outside docs lead."""

LINKED: set[str] = set()
"""What the tables of `Robot` and `Mechanism` name."""


def _link_to_files(app: Any, page: str, source: list[str]) -> None:
    """Turn links to files of the repository into links to where it is published."""
    source[0] = re.sub(r"^```python\n(.*?)\n\n```$", r"```python\n\1\n```", source[0], flags=re.MULTILINE | re.DOTALL)
    up = "../" * page.count("/")
    source[0] = re.sub(rf"\]\({up}\.\./([^)]*)\)", rf"]({REPOSITORY}/\1)", source[0])
    if page == "functions":
        tree, mechanism = source[0].split("# The functions of a mechanism")
        source[0] = _linked(tree, "Robot") + "# The functions of a mechanism" + _linked(mechanism, "Mechanism")


def _linked(text: str, owner: str) -> str:
    """Make the calls at the beginning of a table's rows lead to the reference."""
    return re.sub(r"^\| `((\w+)\(.*?\))`", rf"| {{py:obj}}`\1 <kinetree.{owner}.\2>`", text, flags=re.MULTILINE)


def _link_the_table(app: Any, what: str, name: str, kind: type, options: Any, lines: list[str]) -> None:
    """Make the names in the table of `Robot` and `Mechanism` lead to their entries."""
    if name not in ("kinetree.Robot", "kinetree.Mechanism"):
        return
    start, end = (i for i, line in enumerate(lines) if line.startswith("======"))
    for i in range(start + 1, end):
        words = {x for x in re.findall(r"\w+", lines[i][16:]) if hasattr(kind, x)}
        LINKED.update(f"{name}.{x}" for x in words)
        parts = re.split(r"\b", lines[i][16:])
        lines[i] = lines[i][:16] + "".join(f":py:obj:`{x} <{name}.{x}>`" if x in words else x for x in parts)


def _check_the_table(app: Any, env: Any) -> None:
    """Warn of functions that have no entry in the reference."""
    from sphinx.util.logging import getLogger  # the tests import this file without Sphinx

    for name in sorted(LINKED - set(env.domaindata["py"]["objects"])):
        getLogger(__name__).warning("%s has no entry in the reference", name)


def _show_functions() -> None:
    """Give `Robot` and `Mechanism` their compiled functions as attributes, so that autodoc finds them."""
    import kinetree as kt
    from kinetree.algorithms.table import table_of

    panda = kt.load("panda")
    for owner in (panda, kt.Mechanism(panda, [kt.Weld("panda_hand")])):
        kind = type(owner)
        kind.__doc__ = vars(kind)["__doc__"].doc  # without the list of functions
        for name in table_of(owner.model):
            function = getattr(owner, name)

            def shown(self: object) -> None: ...

            shown.__name__, shown.__qualname__, shown.__doc__ = name, f"{kind.__name__}.{name}", function.__doc__
            parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)]
            parameters += inspect.signature(function).parameters.values()
            shown.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
            setattr(kind, name, shown)


def setup(app: Any) -> None:
    """Connect what is above to Sphinx, which calls this."""
    pictures = runpy.run_path(str(Path(__file__).parent / "draw_pictures.py"))
    pictures["draw_all"]()  # before robots have attributes that are only shown
    _show_functions()
    app.connect("source-read", _link_to_files)
    app.connect("autodoc-process-docstring", _link_the_table)
    app.connect("env-check-consistency", _check_the_table)
