"""The chapters of the course run, and their exercises tell right answers from wrong ones."""

import re
import runpy
from pathlib import Path

import pytest

from helpers.chapters import CELL, CHAPTERS, COURSE, chapter

TEXTS = {name: (COURSE / f"{name}.md").read_text(encoding="utf-8") for name in CHAPTERS}


@pytest.mark.parametrize("name", CHAPTERS)  # one test a chapter: each process runs a chapter once
def test_exercises_tell_right_answers_from_wrong_ones(name):
    page = vars(chapter(name))
    answers = runpy.run_path(str(Path(__file__).with_name(f"{name}_answers.py")))
    exercises = re.findall(r"^def check_(\w+)", TEXTS[name], re.MULTILINE)
    verdicts = {x: page[f"check_{x}"](answers[x]) for x in exercises}
    assert len(exercises) >= 2
    assert verdicts == dict.fromkeys(exercises, "right")
    for x in exercises:
        assert page[f"check_{x}"](answers[f"wrong_{x}"]).startswith("not yet"), x
        assert page[f"check_{x}"](page[x]).startswith("not yet"), x  # the page does not give it away


@pytest.mark.parametrize("name", CHAPTERS)
def test_code_fits_the_page(name):
    long = [line for cell in CELL.findall(TEXTS[name]) for line in cell.splitlines() if len(line) > 80]
    assert not long


def test_every_chapter_is_on_the_site():
    index = (COURSE / "index.md").read_text(encoding="utf-8")
    assert all(f"({name}.md)" in index for name in CHAPTERS)
