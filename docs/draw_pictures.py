"""Draws docs/pictures/*.svg with the code beside them: ``python docs/draw_pictures.py``, and each build of the site.

Each picture is a module with a function `picture` that returns a figure of Matplotlib's, or the text of an SVG file.
"""

from __future__ import annotations

import io
import re
import runpy
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

PICTURES = Path(__file__).parent / "pictures"
_ID = re.compile(r'\bid="([pmC][0-9a-f_]{10,})"')


def svg(figure: Figure) -> str:
    """Return a figure as SVG, the same text whenever it looks the same.

    Matplotlib makes names of clip paths and markers from all digits of coordinates, of which 6 are drawn: here they are
    numbers, in order.
    """
    with mpl.rc_context({"svg.hashsalt": "kinetree"}):
        figure.savefig(stream := io.StringIO(), format="svg", metadata={"Date": None})
    text = stream.getvalue()
    for k, name in enumerate(dict.fromkeys(_ID.findall(text)), start=1):
        text = re.sub(rf"(?<=[#\"]){name}(?=[)\"])", f"{name[0]}{k}", text)
    return text


def draw_all() -> None:
    """Draw each picture beside its module."""
    for module in sorted(PICTURES.glob("*.py")):
        drawn = runpy.run_path(str(module))["picture"]()
        text = drawn if isinstance(drawn, str) else svg(drawn)
        module.with_suffix(".svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    draw_all()
