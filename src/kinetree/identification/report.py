"""`fit.report`: one page that shows how far an estimate can be trusted; and its table of joints."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree._version import __version__
from kinetree.drawing import fit as pictures
from kinetree.drawing.panels import units
from kinetree.identification.fit import Fit
from kinetree.identification.validation import Validation, validate, verdict
from kinetree.output import check_output, whole_file
from kinetree.tables import Cells, number
from kinetree.validation import Array

if TYPE_CHECKING:
    from rich.console import JustifyMethod

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1c1c1c; background: #fff; max-width: 68rem; margin: 2rem auto;
  padding: 0 1rem }
h1 { font-size: 1.6rem; margin-bottom: 0 } h2 { font-size: 1.15rem; margin-top: 2.2rem }
p.what { color: #555; margin-top: .2rem } svg { max-width: 100%; height: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem }
th, td { padding: .15rem .8rem .15rem 0; text-align: right; border-bottom: 1px solid #e4e4e4 }
th { border-bottom: 1px solid #888; font-weight: 600 } th.left, td.left { text-align: left }
tr.marked td { color: #b3261e } ul { padding-left: 1.2rem } div.wide { overflow-x: auto }
"""


def report(
    fit: Fit, path: str | PathLike[str], *, training: Any = None, validation: Any = None, title: str | None = None
) -> None:
    """Write one HTML page that shows how far an estimate can be trusted; it needs no other file.

    What is to be known in sentences, residuals joint by joint, measured and predicted forces, autocorrelations of the
    residuals, and the parameters with their standard deviations beside those of the robot before.

    Parameters
    ----------
    path : str or path
        It ends in ``.html``.
    training, validation : log or Validation, optional
        The motions that were used, and others that were not; forces are drawn of these, if there are any.
    title : str, optional
        What is above it; the robot's name by default.

    Raises
    ------
    ArgumentError
        If matplotlib, the extra ``plot``, is not installed, or the path does not end in .html, or is in no folder.
    OSError
        If it cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> q, v, a = robot.random_state(seed=0, size=200)
    >>> log = q, v, a, robot.inverse_dynamics(q, v, a)
    >>> fit = robot.identify(log, [])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fit.report(f"{folder}/ur5.html")
    ...     "I_zz of forearm_link" in Path(f"{folder}/ur5.html").read_text(encoding="utf-8")
    True
    """
    check_output(fspath(path), None, (".html", ".htm"))
    page = text(fit, _validated(fit, training), _validated(fit, validation), title)
    with whole_file(Path(path)) as stream:
        stream.write(page.encode())


def _validated(fit: Fit, given: Any) -> Validation | None:
    return given if given is None or isinstance(given, Validation) else validate(fit, given)


def text(fit: Fit, training: Validation | None, validation: Validation | None, title: str | None = None) -> str:
    """Return the page."""
    seen = validation if validation is not None else training
    heading = escape(title or f"{fit.base.robot.name}: identified parameters")
    parts = [f"<h1>{heading}</h1>", f'<p class="what">{escape(_what(fit, training, validation))}</p>']
    sentences = verdict(fit, training, validation)
    if sentences:
        parts += ["<ul>", *(f"<li>{escape(sentence)}</li>" for sentence in sentences), "</ul>"]
    parts += ["<h2>Joint by joint</h2>", joints(fit, training, validation).html()]
    if seen is not None:
        used = "motions that were not used" if validation is not None else "the motions that were used"
        parts += [f"<h2>Forces on {used}</h2>", pictures.svg(pictures.forces, seen)]
    parts += ["<h2>Parameters</h2>", pictures.svg(pictures.parameters, fit)]
    parts.append(fit.table(fit.base.combinations).html())
    body = "\n".join(parts)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{heading}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head>\n'
        f"<body>\n{body}\n</body></html>\n"
    )


def _what(fit: Fit, training: Validation | None, validation: Validation | None) -> str:
    terms = ", ".join([*fit.base.joint_terms, *fit.base.own_columns]) or "none"
    out = f"{fit.base.dimension} base parameters from {fit.count} samples; joint terms: {terms}"
    if fit.cutoffs:
        out += f"; filtered at {fit.filtered}"
    if validation is not None:
        out += f"; validated on {validation.size} other samples"
    return f"{out}; kinetree {__version__}"


def joints(fit: Fit, training: Validation | None, validation: Validation | None) -> Cells:
    """Return a row a joint: its noise, motor constant, residuals, and whether these are white."""
    robot, seen = fit.base.robot, validation if validation is not None else training
    columns: dict[str, Sequence[str]] = {"joint": robot.v_names, "noise": [number(x, 3) for x in fit.noise.tolist()]}
    columns["unit"] = units(robot)["tau"]
    for heading, own in fit.of_joints().items():
        columns[heading.replace("_", " ")] = ["" if x is None else number(x) for x in own]
    for what, one in (("used", training), ("others", validation)):
        if one is not None:
            columns[f"residual, {what}"] = _measured(fit, one.relative)
    if seen is not None:
        columns["before"] = _measured(fit, seen.before)
        columns["white"] = ["yes" if white else "no" for white in seen.white.tolist()]
    columns["correlation time"] = [f"{x:.1f}" for x in fit.correlation_time.tolist()]
    bad = set() if seen is None else set(np.flatnonzero((seen.relative > 0.5) & np.isfinite(seen.relative)).tolist())
    sides: dict[str, JustifyMethod] = {name: "left" if name in ("joint", "unit") else "right" for name in columns}
    return Cells(sides, list(zip(*columns.values(), strict=True)), ("correlation time", "unit", "noise"), bad)


def _measured(fit: Fit, numbers: Array) -> list[str]:
    """Return parts of the spread of forces, a dash where these do not change, or none was measured."""
    return [f"{x:.3f}" if np.isfinite(x + noise) else "–" for x, noise in zip(numbers, fit.noise, strict=True)]
