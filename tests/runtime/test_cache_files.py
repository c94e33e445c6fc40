"""What the cache tells: one warning where it cannot be used, what it holds, and an end of it."""

from __future__ import annotations

import errno
import os
import sys
import time
import warnings
from pathlib import Path

import pytest

import kinetree as kt
from kinetree.backends.base import ObjectCode
from kinetree.runtime import cache

CODE = ObjectCode((b"code" * 100,), 0, ("kt_single",), ())
KEY = cache.digest(["a key"])
posix = pytest.mark.skipif(os.name != "posix", reason="owners and permissions are POSIX")


@pytest.fixture(autouse=True)
def first_warning(monkeypatch):
    monkeypatch.setattr(cache, "_warned", {})


def another_user(monkeypatch, folder):
    folder.mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)


def writable_by_others(monkeypatch, folder):
    folder.mkdir()
    folder.chmod(0o777)


def a_file(monkeypatch, folder):
    folder.write_text("")


def homeless(monkeypatch, folder):
    def fail():
        raise RuntimeError("Could not determine home directory.")

    for name in ("KINETREE_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", fail)


def cannot_be_made(monkeypatch, folder):
    def fail(self, *args, **kwargs):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "mkdir", fail)


def failing_open(error):
    def arrange(monkeypatch, folder):
        def fail(*args):
            raise OSError(error, os.strerror(error))

        folder.mkdir(mode=0o700)
        monkeypatch.setattr(os, "open", fail)

    return arrange


PROBLEMS = {
    "owner": (another_user, r"belongs to user \d+, and this is user \d+"),
    "mode": (writable_by_others, r"others may write to .*cache \(mode 777; chmod go-w would do\)"),
    "file": (a_file, "cache is not a directory"),
    "no home": (homeless, "there is no home directory"),
    "no permission": (cannot_be_made, r"cache cannot be made \(Permission denied\)"),
    "read-only": (failing_open(errno.EROFS), r"cache cannot be written \(Read-only file system\)"),
    "disk full": (failing_open(errno.ENOSPC), r"cache cannot be written \(No space left on device\)"),
}


@posix
@pytest.mark.parametrize(("arrange", "reason"), PROBLEMS.values(), ids=PROBLEMS)
def test_one_warning_says_why_and_what_to_do(own_cache, monkeypatch, arrange, reason):
    arrange(monkeypatch, own_cache)
    advice = "set KINETREE_CACHE_DIR to a directory of your own"
    with pytest.warns(kt.CacheWarning, match=f"{reason}; {advice}") as told:  # noqa: PT031
        cache.store(KEY, CODE)
        assert cache.load(KEY) is None
        cache.store(KEY, CODE)
    assert [warning.filename for warning in told] == [__file__]


def test_an_ordinary_cache_and_none_at_all_are_no_reason_to_warn(own_cache, monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cache.store(KEY, CODE)
        assert cache.load(KEY) == CODE
        monkeypatch.setenv("KINETREE_CACHE_DIR", "off")
        cache.store(KEY, CODE)
        assert kt.cache_info()[:3] == (None, 0, 0)
        assert kt.clear_cache() == 0


def test_to_look_makes_no_directory(own_cache):
    assert kt.cache_info() == (str(own_cache), 0, 0, cache.LARGEST, None, None)
    assert kt.clear_cache() == 0
    assert not own_cache.exists()


@posix
def test_a_directory_that_cannot_be_made_is_a_problem(own_cache, monkeypatch):
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(own_cache / "a" / "b"))
    assert kt.cache_info().problem is None
    assert not own_cache.exists()
    cannot_be_made(monkeypatch, own_cache)
    assert kt.cache_info().problem == f"{own_cache / 'a' / 'b'} cannot be made (Permission denied)"


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_nothing_can_be_made_in_proc(monkeypatch):
    monkeypatch.setenv("KINETREE_CACHE_DIR", "/proc/foo")
    assert kt.cache_info()[:2] == ("/proc/foo", 0)
    assert "/proc/foo cannot be made" in str(kt.cache_info().problem)


def test_what_the_cache_holds(own_cache):
    for k in range(3):
        cache.store(cache.digest([str(k)]), CODE)
    past = time.time() - 1000
    os.utime(own_cache / (cache.digest(["1"]) + ".kto"), (past, past))
    (own_cache / "notes.txt").write_text("not ours")
    info = kt.cache_info()
    assert info.entries == 3
    assert info.size == 3 * len(cache.encode(CODE, KEY))
    assert info.oldest is not None
    assert info.oldest.timestamp() == pytest.approx(past, abs=0.01)


def test_clearing_removes_what_is_ours_only(own_cache, tmp_path):
    cache.store(KEY, CODE)
    (own_cache / f"{KEY}.123.0123abcd.tmp").write_bytes(b"half")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("not ours")
    others = {"notes.txt", "notes.kto", "notes.tmp", cache.digest(["link"]) + ".kto", cache.digest(["folder"]) + ".kto"}
    for name in ("notes.txt", "notes.kto", "notes.tmp"):
        (own_cache / name).write_text("not ours")
    (own_cache / (cache.digest(["link"]) + ".kto")).symlink_to(elsewhere)
    (own_cache / (cache.digest(["folder"]) + ".kto")).mkdir()
    assert kt.clear_cache() == 2
    assert {path.name for path in own_cache.iterdir()} == others
    assert elsewhere.read_text() == "not ours"
    cache.trim(own_cache, largest=0)
    assert {path.name for path in own_cache.iterdir()} == others


@posix
def test_a_directory_that_is_not_trusted_is_left_alone(own_cache):
    cache.store(KEY, CODE)
    own_cache.chmod(0o777)
    assert "mode 777" in str(kt.cache_info().problem)
    with pytest.raises(kt.KinetreeError, match="left as it is: others may write"):
        kt.clear_cache()
    assert len(list(own_cache.iterdir())) == 1


def test_clearing_while_another_process_writes_is_no_reason_to_warn(own_cache, monkeypatch):
    replaced = os.replace

    def cleared_before(source, target):
        kt.clear_cache()
        replaced(source, target)

    monkeypatch.setattr(os, "replace", cleared_before)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cache.store(KEY, CODE)
    assert list(own_cache.iterdir()) == []
