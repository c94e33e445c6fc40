"""The pages that are made from the code are what the code makes."""

from __future__ import annotations

import importlib
import importlib.util
import re
import runpy
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

import kinetree as kt

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def script(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_list_of_functions_is_up_to_date() -> None:
    page = (ROOT / "docs/functions.md").read_text(encoding="utf-8")
    assert page == script("docs/make_functions.py").page(), "run python docs/make_functions.py"


def test_the_signatures_for_type_checkers_are_up_to_date() -> None:
    maker = script("tools/make_signatures.py")
    for file, text in maker.FILES.items():
        assert file.read_text(encoding="utf-8") == text(), "run python tools/make_signatures.py"


def test_the_gallery_shows_every_example() -> None:
    gallery = script("docs/gallery.py")
    assert (DOCS / "examples.md").read_text(encoding="utf-8") == gallery.page(), "run python docs/gallery.py"
    assert {path.stem for path in gallery.PICTURES.glob("*.svg")} == {*gallery.DRAW}, "run python docs/gallery.py"


def test_every_example_that_moves_has_a_moving_picture() -> None:
    films = script("docs/moving_pictures.py")
    assert {*script("docs/gallery.py").DRAW} - {*films.EXAMPLES} == {
        "first_torque",
        "identify_panda",
        "unknown_payload",
    }
    paths = [DOCS / "pictures" / "robots.webp", *(DOCS / "pictures" / "examples").glob("*.webp")]
    assert {path.stem for path in paths} == {"robots", *films.EXAMPLES}, "run python docs/moving_pictures.py"
    for path in paths:
        with Image.open(path) as picture:
            assert picture.n_frames >= 10  # type: ignore[attr-defined]
        assert path.stat().st_size < 300_000


def test_every_public_name_has_an_entry_in_the_reference() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in DOCS.glob("reference/*.md"))
    entries = set(
        re.findall(r"^\.\. auto(?:class|function|exception|data):: (?:kinetree\.)?(\w+)$", pages, re.MULTILINE)
    )
    for module in re.findall(r"^\.\. automodule:: (\S+)\n   :members:", pages, re.MULTILINE):
        entries |= (
            set(getattr(importlib.import_module(module), "__all__", ())) or vars(importlib.import_module(module)).keys()
        )
    names = {name for names in kt.NAMES.values() for name in names.split()}
    assert names - entries == {"Array", "Number"}, "types of annotations alone have none"


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.md")), ids=lambda path: path.stem)
def test_every_block_of_python_is_an_example_that_runs(path: Path) -> None:
    blocks = re.findall(
        r"^```(?:python|py|pycon)\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    assert all(block.startswith(">>> ") for block in blocks)
    wide = [line for block in blocks for line in block.splitlines() if line[:4] in (">>> ", "... ") and len(line) > 80]
    assert not wide, "lines of code have at most 80 characters"


@pytest.mark.parametrize("path", sorted((DOCS / "pictures").glob("*.py")), ids=lambda path: path.stem)
def test_a_picture_is_what_its_code_draws(path: Path) -> None:
    drawn = runpy.run_path(str(path))["picture"]()
    shown = path.with_suffix(".svg").read_text(encoding="utf-8")
    if isinstance(drawn, str):  # the text of the file itself
        assert drawn == shown
        return
    drawn.canvas.draw()
    for text in drawn.findobj(Text):
        assert all(f"<!-- {line} -->" in shown for line in text.get_text().splitlines() if text.get_visible())


def test_pictures_do_not_change_where_nothing_that_is_drawn_changes() -> None:
    """The last digits of coordinates, which are those of a machine, are in no name of a clip path."""
    svg = script("docs/draw_pictures.py").svg

    def drawn(width: float) -> str:
        figure = Figure()
        figure.add_axes((0.1, 0.1, width, 0.8)).plot([0.0, 1.0], [0.0, 2.0], "o-")
        text: str = svg(figure)
        return text

    assert drawn(0.8) == drawn(np.nextafter(0.8, 1.0)) == drawn(0.8)
    assert drawn(0.8) != drawn(0.7)
    for path in (DOCS / "pictures").glob("*.svg"):
        names = re.findall(r'<clipPath id="(\w+)"', path.read_text(encoding="utf-8"))
        assert all(re.fullmatch(r"p\d{1,2}", name) for name in names), f"python docs/draw_pictures.py makes {path.name}"
