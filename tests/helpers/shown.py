"""What people see: figures as text, a line an artist, and printed text, beside what is on file.

Numbers are equal up to rounding, so that another machine's arithmetic changes nothing; all else is equal exactly.
"""

import math
from itertools import zip_longest
from pathlib import Path

import numpy as np
from matplotlib.colors import to_hex

FOLDER = Path(__file__).parents[1] / "golden" / "shown"


def figure_lines(figure):
    """Yield what a figure shows: its size, its texts, and of each panel all that is drawn in it."""
    yield f"figure {numbers(figure.get_size_inches())} '{figure.get_suptitle()}'"
    for part in [figure, *getattr(figure, "subfigs", [])]:
        yield from (f"  {line}" for legend in part.legends for line in legend_lines(legend))
    for ax in figure.axes:
        if ax.get_visible():
            yield from axes_lines(ax)


def axes_lines(ax):
    """Yield what a panel shows."""
    titles = [ax.get_title(loc) for loc in ("left", "center")]
    place = f" at {numbers(ax.get_position().bounds)}" if ax.figure.get_layout_engine() is None else ""
    above = 72.0 * ax.titleOffsetTrans.get_matrix()[1, 2] / ax.figure.dpi
    title = f"{titles} size {ax.title.get_size():g} {to_hex(ax.title.get_color())} above {above:.3g}"
    yield f"axes {title} {ax.get_aspect()}{place}"
    if hasattr(ax, "computed_zorder"):  # in space
        yield f"  box {numbers(ax.get_box_aspect())}{' in the order of depth' if ax.computed_zorder else ''}"
    for axis in (getattr(ax, f"{x}axis", None) for x in "xyz"):
        if axis is not None:
            tick = axis.get_major_ticks()[0].label1
            name = f"'{axis.get_label_text()}' {axis.label.get_size():g}"
            grid = axis.get_gridlines()[0]
            ruled = f"ticks {tick.get_size():g} grid {grid.get_visible()} {grid.get_linewidth():g} {grid.get_alpha()}"
            yield f"  axis {name} {axis.get_scale()} {numbers(axis.get_view_interval())} {ruled}"
            yield f"    at {numbers(axis.get_majorticklocs())}{'' if tick.get_visible() else ' without numbers'}"
    before = ""
    for line in ax.lines:
        x, *others = line.get_data_3d() if hasattr(line, "get_data_3d") else line.get_data()
        style = f"{line.get_linewidth():g} {line.get_linestyle()} {line.get_marker()} {line.get_markersize():g}"
        style += f" {to_hex(line.get_markeredgecolor())} over {line.get_zorder():g}"
        name = "" if line.get_label().startswith("_") else line.get_label()
        along, before = summary(x) if summary(x) != before else "as above", summary(x)
        yield f"  line '{name}' {to_hex(line.get_color())} {style} {along}"
        yield from (f"    {summary(values)}" for values in others)
    for lines in ax.collections:
        paths = lines.get_paths() if not hasattr(lines, "_segments3d") else []
        places = np.concatenate([path.vertices for path in paths]) if paths else np.zeros((0, 2))
        drawn = f"{sorted({to_hex(c) for c in lines.get_edgecolor()})} {numbers(lines.get_linewidth())}"
        drawn += f" {lines.get_capstyle()} over {lines.get_zorder():g}"
        yield f"  {type(lines).__name__} of {len(paths)} {drawn}"
        yield from (f"    {summary(values)}" for values in places.T)
    for patch in ax.patches:
        corners = patch.get_patch_transform().transform(patch.get_path().vertices)
        yield f"  patch {to_hex(patch.get_facecolor())} {numbers([*corners.min(axis=0), *corners.max(axis=0)])}"
    if ax.get_legend() is not None:
        yield from (f"  {line}" for line in legend_lines(ax.get_legend()))


def legend_lines(legend):
    """Yield the texts of a legend, in one line."""
    texts = [f"{text.get_text()}' {text.get_size():g} '" for text in [legend.get_title(), *legend.get_texts()]]
    frame = f"alpha {legend.get_frame().get_alpha()}" if legend.get_frame_on() else "no frame"
    yield f"legend '{''.join(texts)}' {legend._outside_loc} {legend._loc} columns {legend._ncols} {frame}"


def numbers(values):
    """Return numbers with six digits, those below 1e-9 as zero: what is rounding is the same on every machine."""
    return " ".join(f"{0.0 if abs(x) < 1e-9 else x:.6g}" for x in np.ravel(values))


def summary(values):
    """Return how many values there are, the first, the last, the least, the largest, and a sum of all sizes."""
    x = np.asarray(values, dtype=float)
    known = x[np.isfinite(x)]
    if not known.size:
        return f"{x.size}"
    weighed = np.abs(known) @ np.linspace(1.0, 2.0, known.size)
    return f"{x.size} {numbers([known[0], known[-1], known.min(), known.max(), weighed])}"


def differences(now, before):
    """Return the lines that differ, of words that are not equal and numbers that differ by more than rounding."""
    return [
        f"{k}: {old!r} is now {new!r}"
        for k, (new, old) in enumerate(zip_longest(now.splitlines(), before.splitlines(), fillvalue=""), start=1)
        if not alike(new, old)
    ]


def alike(new, old):
    """Return whether two lines are equal but for the last digits of numbers."""
    pairs = [*zip_longest(new.split(" "), old.split(" "), fillvalue="")]
    return new == old or all(a == b or _near(a, b) for a, b in pairs)


def _near(a, b):
    try:
        return math.isclose(float(a), float(b), rel_tol=1e-4, abs_tol=1e-9)
    except ValueError:
        return False


def stored(name):
    """Return what is on file."""
    path = FOLDER / f"{name}.txt"
    return path.read_text(encoding="utf-8") if path.exists() else ""
