"""The command line in this process, in an empty directory."""

import pytest

from kinetree.cli import main


@pytest.fixture
def shell(capsys, tmp_path, monkeypatch):
    """Run a command: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        try:
            code = main([str(x) for x in arguments])
        except SystemExit as leave:
            code = leave.code
        return code, *capsys.readouterr()

    return run
