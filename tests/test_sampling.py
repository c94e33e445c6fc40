"""The samples of the tests have no holes: every value, and every two values, in every run."""

from __future__ import annotations

import importlib
import itertools
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import sampling
from helpers.sampling import SEED, TABLES, few, pairs, pairwise, seed_of_commit

TESTS = Path(__file__).parent
SAMPLED = [
    path
    for path in sorted(TESTS.rglob("test_*.py"))
    if re.search(r"\bcover\(", path.read_text()) and path != Path(__file__)
]


def test_every_table_is_covered() -> None:
    for path in SAMPLED:
        if path.stem not in sys.modules:  # pytest imports them under these names too
            sys.path.insert(0, str(path.parent))
            importlib.import_module(path.stem)
    places = {table.place.rpartition(":")[0] for table in TABLES}
    assert places >= {*map(str, SAMPLED)}
    for table in TABLES:
        missing = set().union(*map(pairs, table.cases)) - set().union(*map(pairs, table.chosen))
        assert not missing, (table.place, missing)


@pytest.mark.parametrize("seed", range(20))
def test_a_cover_has_all_pairs_and_is_short(seed: int) -> None:
    rng = random.Random(seed)
    sizes = [rng.randint(1, 6) for _ in range(rng.randint(1, 5))]
    product = list(itertools.product(*map(range, sizes)))
    for cases in (product, rng.sample(product, 1 + len(product) // 2)):
        chosen = pairwise(cases, seed)
        assert set().union(*map(pairs, chosen)) == set().union(*map(pairs, cases))
        assert chosen == [case for case in cases if case in set(chosen)]
    two = sorted(sizes)[-2:]
    assert len(pairwise(product, seed)) <= 2 * two[0] * two[-1] + 2


def test_another_seed_chooses_others() -> None:
    product = list(itertools.product(range(4), range(4), range(4)))
    assert len({tuple(pairwise(product, seed)) for seed in range(10)}) == 10
    assert pairwise(product, 3) == pairwise(product, 3)
    assert len(few(range(100), 7)) in (7, 100)


def test_the_seed_is_of_the_commit_and_without_git_of_the_sources(tmp_path: Path) -> None:
    """And the environment says otherwise, so that a failure can be run again."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("1")
    first = seed_of_commit(tmp_path)
    (tmp_path / "src" / "a.py").write_text("2")
    assert first != seed_of_commit(tmp_path)
    script = "from helpers.sampling import SEED; print(SEED)"
    environment = {**os.environ, "KINETREE_TEST_SEED": "17"}
    run = subprocess.run([sys.executable, "-c", script], cwd=TESTS, env=environment, capture_output=True, check=True)
    assert run.stdout.split() == [b"17"]


def test_the_seed_is_printed() -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider", "test_lazy.py"]
    run = subprocess.run(command, cwd=TESTS, capture_output=True, check=True, text=True)
    assert f"KINETREE_TEST_SEED={SEED}" in run.stdout


def test_no_sample_takes_every_nth() -> None:
    """Of a product, that takes the same values together again and again."""
    wrong = re.compile(r"islice\(.*product|(?:list|product)\([^\n]*\)\[::[^-]")
    places = {str(p) for p in TESTS.rglob("*.py") if p != Path(__file__) and wrong.search(p.read_text())}
    assert not places
    assert not hasattr(sampling, "sample")
