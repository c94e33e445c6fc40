from __future__ import annotations

import errno
import hashlib
import os
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import synthetic
from synthetic import declare, reference, states

import kinetree as kt
from kinetree.backends import get_backend
from kinetree.backends.base import ObjectCode
from kinetree.backends.llvm import Target
from kinetree.runtime import Function, cache, kernels

CODE = ObjectCode((bytes(range(256)) * 9, b"more", b""), 4096, ("kt_single", "kt_call"), ("kinetree_out",))
KEY = cache.digest(["a key"])
posix = pytest.mark.skipif(os.name != "posix", reason="owners and permissions are POSIX")


def test_what_is_stored_is_loaded(own_cache):
    assert cache.load(KEY) is None
    cache.store(KEY, CODE)
    assert cache.load(KEY) == CODE
    assert [f.name for f in own_cache.iterdir()] == [KEY + ".kto"]


@posix
def test_directory_and_files_are_private(own_cache):
    cache.store(KEY, CODE)
    assert own_cache.stat().st_mode & 0o777 == 0o700
    assert next(own_cache.iterdir()).stat().st_mode & 0o777 == 0o600


def test_digests_of_different_parts_differ():
    parts = [[], [""], ["", ""], ["ab"], ["a", "b"], ["", "ab"], ["ab", ""], [b"ab", "c"], ["a", "bc"]]
    assert len({cache.digest(p) for p in parts}) == len(parts)


def flipped(position):
    return lambda raw: bytes(byte ^ (k == position % len(raw)) for k, byte in enumerate(raw))


def headed(header):
    """Return what makes a file with this header, whose digest is right."""
    rest = len(header).to_bytes(4, "little") + header.encode()
    return lambda raw: cache.MAGIC + hashlib.sha256(rest).digest() + rest


DAMAGED = [flipped(position) for position in (0, 15, 16, 47, 48, 52, 60, 200, -1)]
DAMAGED += [lambda raw, size=size: raw[:size] for size in (0, 1, 16, 47, 48, 50, 52, 100, -1)]
DAMAGED += [lambda raw: cache.encode(CODE, cache.digest(["another key"])), headed("[" * 100_000)]
DAMAGED += [headed(f'{{"key": "{KEY}", "scratch": 1e999, "symbols": [], "externals": [], "sizes": []}}')]


@pytest.mark.parametrize("damaged", DAMAGED)
def test_what_is_not_the_file_that_was_stored_is_noticed_and_removed(own_cache, damaged):
    cache.store(KEY, CODE)
    path = own_cache / (KEY + ".kto")
    path.write_bytes(damaged(path.read_bytes()))
    assert cache.load(KEY) is None
    assert not path.exists()


def linked(path):
    path.rename(path.parents[1] / "elsewhere")
    path.symlink_to(path.parents[1] / "elsewhere")


@posix
@pytest.mark.parametrize("changed", [lambda path: path.chmod(0o620), lambda path: path.chmod(0o602), linked])
def test_a_file_that_others_can_write_or_that_is_elsewhere_is_not_trusted(own_cache, changed):
    cache.store(KEY, CODE)
    changed(own_cache / (KEY + ".kto"))
    assert cache.load(KEY) is None


@posix
def test_a_file_of_somebody_else_is_not_trusted(own_cache, monkeypatch):
    cache.store(KEY, CODE)
    monkeypatch.setattr(os, "geteuid", lambda: own_cache.stat().st_uid + 1)
    assert cache._read(own_cache / (KEY + ".kto")) is None


@pytest.mark.parametrize("off", ["", "off", "OFF", " "])
def test_the_cache_can_be_switched_off(own_cache, monkeypatch, off):
    monkeypatch.setenv("KINETREE_CACHE_DIR", off)
    assert cache.directory() is None
    works()
    assert not own_cache.exists()


def works():
    """Assert that a function can be made and called."""
    before = len(synthetic.traces)
    x, y, z = states(20)
    f = Function(declare())
    assert np.array_equal(f(x, y, z), reference(x, y, z))
    assert np.array_equal(f(x[0], y[0], z[0]), reference(x[0], y[0], z[0]))
    return len(synthetic.traces) - before


@pytest.mark.parametrize("call", ["open", "replace", "fdopen"])
@pytest.mark.parametrize("error", [errno.EROFS, errno.EACCES, errno.ENOSPC, errno.EDQUOT])
def test_a_place_that_cannot_be_written_leaves_nothing_behind(own_cache, monkeypatch, call, error):
    def fail(*args, **kwargs):
        if call == "fdopen":
            os.close(args[0])
        raise OSError(error, os.strerror(error), call)

    own_cache.mkdir(mode=0o700)
    monkeypatch.setattr(os, call, fail)
    assert works() == 1
    monkeypatch.undo()
    assert list(own_cache.iterdir()) == []


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, "HOME/.cache/kinetree"),
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/kinetree"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "HOME/.cache/kinetree"),
        ("darwin", {"XDG_CACHE_HOME": "/x"}, "HOME/Library/Caches/kinetree"),
    ],
)
def test_the_default_directory(monkeypatch, platform, variables, expected):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("HOME"))
    assert cache._default().as_posix() == expected


def test_a_second_function_is_loaded_without_tracing(own_cache):
    assert works() == 1
    assert len(list(own_cache.iterdir())) == 2
    assert works() == 0


def test_corrupted_files_are_compiled_anew(own_cache):
    works()
    for path in own_cache.iterdir():
        path.write_bytes(path.read_bytes()[:-7] + b"garbage")
    assert works() == 1
    assert works() == 0


TARGET = Target("x86_64-unknown-linux-gnu", "znver4", "+avx2", 256)


def key(declaration=None, variant=None, target=TARGET, kind="llvm batch 4"):
    declaration = declaration or declare()
    return kernels.cache_key(declaration, variant or Function(declaration)._default, repr(target), kind)


def test_the_key_depends_on_everything_that_matters(monkeypatch):
    default = Function(declare())._default
    keys = [
        key(),
        key(declare(name="other")),
        key(declare(identity=b"another robot")),
        key(variant=default._replace(optional=("w",))),
        key(variant=default._replace(options=(("sign", "minus"),))),
        key(variant=default._replace(dtype="float32")),
        key(kind="llvm batch 8"),
        key(kind="llvm single"),
        key(kind="other single"),
        key(declare(n=4)),
        key(target=replace(TARGET, triple="aarch64-apple-darwin")),
        key(target=replace(TARGET, cpu="skylake")),
        key(target=replace(TARGET, features="+avx512f")),
        key(target=replace(TARGET, vector_bits=512)),
    ]
    monkeypatch.setattr(cache, "source_digest", lambda: "other source")
    keys.append(key())
    monkeypatch.setattr(kernels, "_abi", lambda: "other Python")
    keys.append(key())
    assert len(set(keys)) == len(keys)
    assert key() == keys[-1]


def test_the_source_is_hashed_by_content(tmp_path, monkeypatch):
    package = tmp_path / "kinetree" / "runtime"
    package.mkdir(parents=True)
    monkeypatch.setattr(cache, "__file__", str(package / "cache.py"))

    def digest_of(**files):
        for path in package.iterdir():
            path.unlink()
        for name, content in files.items():
            (package / f"{name}.py").write_text(content)
            os.utime(package / f"{name}.py", (0, 0))
        cache.source_digest.cache_clear()
        return cache.source_digest()

    try:
        assert digest_of(a="1", b="2") == digest_of(b="2", a="1")
        digests = [
            digest_of(a="1", b="2"),
            digest_of(a="2", b="1"),
            digest_of(a="1"),
            digest_of(a="12"),
            digest_of(ab="1"),
        ]
        assert len(set(digests)) == 5
        assert digest_of() is None
        assert kernels.cache_key(declare(), Function(declare())._default, repr(TARGET), "") is None
    finally:
        cache.source_digest.cache_clear()


def test_the_abi_names_what_changes_with_an_upgrade():
    import llvmlite

    assert repr(llvmlite.__version__) in get_backend("llvm").target
    assert repr(np.__version__.split(".")[0]) in kernels._abi()


def test_the_files_used_longest_ago_are_removed_first(own_cache):
    keys = [cache.digest([str(k)]) for k in range(5)]
    for age, name in enumerate(keys):
        cache.store(name, CODE)
        past = time.time() - 1000 + age
        os.utime(own_cache / (name + ".kto"), (past, past))
    assert cache.load(keys[0]) == CODE  # used now
    (own_cache / "notes.txt").write_text("not ours")
    size = (own_cache / (keys[0] + ".kto")).stat().st_size
    cache.trim(own_cache, largest=3 * size)
    left = {f.name for f in own_cache.iterdir()}
    assert left == {"notes.txt", keys[0] + ".kto", keys[3] + ".kto", keys[4] + ".kto"}


def test_storing_keeps_the_bound(own_cache, monkeypatch):
    monkeypatch.setattr(cache, "LARGEST", 2 * len(cache.encode(CODE, KEY)))
    for k in range(6):
        cache.store(cache.digest([str(k)]), CODE)
    assert len(list(own_cache.iterdir())) == 2


WRITER = """
import sys
import numpy as np
from synthetic import *
x, y, z = states(50)
for k in range(6):
    f = Function(declare(identity=b"%d" % k))
    assert np.array_equal(f(x, y, z), reference(x, y, z))
    assert np.array_equal(f(x[0], y[0], z[0]), reference(x[0], y[0], z[0]))
"""


def test_processes_that_write_at_the_same_time(own_cache, python):
    processes = [python.start(WRITER) for _ in range(4)]
    for process in processes:
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 0, output
    files = list(own_cache.iterdir())
    assert len(files) in (12, 13)  # the call glue too, unless all processes were through before it was worth it
    for path in files:
        assert cache.load(path.stem) is not None


FIRST = """
import sys
import kinetree as kt
robot = kt.load("ur5")
robot.gravity_forces(robot.neutral())
print(sorted(m for m in sys.modules if m.startswith(("kinetree.tracing.e", "kinetree.passes", "kinetree.lowering"))))
"""


def test_cached_code_is_called_without_the_compiler(python):
    assert "kinetree.tracing.expr" in python(FIRST)
    assert python(FIRST) == "[]\n"


def test_a_folder_in_the_place_of_a_file_is_moved_away(own_cache, recwarn):
    (own_cache / (KEY + ".kto") / "mine").mkdir(parents=True)
    own_cache.chmod(0o700)
    assert cache.load(KEY) is None
    cache.store(KEY, CODE)
    assert cache.load(KEY) == CODE
    assert [path.suffix for path in own_cache.iterdir() if (path / "mine").is_dir()] == [".folder"]
    assert not recwarn.list


# -- what it tells: one warning where it cannot be used, what it holds, and an end of it -------------------------------


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
    assert works() == 1


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
    if sys.platform == "linux":
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
