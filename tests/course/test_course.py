"""The chapters of the course run, and their exercises tell right answers from wrong ones."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from helpers.chapters import CELL, CHAPTERS, COURSE, chapter

TEXTS = {name: (COURSE / f"{name}.md").read_text(encoding="utf-8") for name in CHAPTERS}
EXERCISES = [(name, x) for name, text in TEXTS.items() for x in re.findall(r"^def check_(\w+)", text, re.MULTILINE)]


@pytest.mark.parametrize(("name", "exercise"), EXERCISES)
def test_an_exercise_tells_a_right_answer_from_a_wrong_one(name: str, exercise: str) -> None:
    page = vars(chapter(name))
    answers = runpy.run_path(str(Path(__file__).with_name(f"{name}_answers.py")))
    check = page[f"check_{exercise}"]
    assert check(answers[exercise]) == "right"
    assert check(answers[f"wrong_{exercise}"]).startswith("not yet")
    assert check(page[exercise]).startswith("not yet")  # the page does not give it away


@pytest.mark.parametrize("name", CHAPTERS)
def test_code_fits_the_page(name: str) -> None:
    long = [line for cell in CELL.findall(TEXTS[name]) for line in cell.splitlines() if len(line) > 80]
    assert not long


def test_every_chapter_is_on_the_site() -> None:
    index = (COURSE / "index.md").read_text(encoding="utf-8")
    assert all(f"({name}.md)" in index for name in CHAPTERS)
