"""The page on the command line shows what really comes out."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
EXAMPLE = re.compile(r"```console\n\$ (.*)\n((?:.*\n)*?)```")


@pytest.mark.skipif(os.name != "posix", reason="the page uses a shell")
def test_every_example_of_the_page(tmp_path):
    program = tmp_path / "bin" / "kinetree"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m kinetree "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    examples = EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))
    assert len(examples) > 8
    for command, shown in examples:
        done = subprocess.run(
            command,
            shell=True,
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert [line.rstrip() for line in done.stdout.splitlines()] == shown.splitlines(), command
