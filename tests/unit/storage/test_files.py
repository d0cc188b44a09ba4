"""Atomic writes, locks, safe paths."""

import os
import stat
import subprocess
import sys
import threading
import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcli.model.errors import BusyError, UsageError
from ctxcli.storage.files import TEMPORARY, atomic_write, identity, inside, locked, printable, sha256, write_text

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX modes and links")


def test_a_write_replaces_the_content_and_leaves_nothing_else(tmp_path: Path) -> None:
    write_text(tmp_path / "a.md", "old\r\n")
    write_text(tmp_path / "a.md", "新\r\n")
    assert (tmp_path / "a.md").read_bytes() == "新\r\n".encode()
    assert [path.name for path in tmp_path.iterdir()] == ["a.md"]


@posix_only
def test_a_write_keeps_the_mode(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("old")
    path.chmod(0o640)
    atomic_write(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@posix_only
def test_a_new_file_has_the_mode_of_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        atomic_write(tmp_path / "a.md", b"x")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "a.md").stat().st_mode) == 0o640


@posix_only
def test_a_write_through_a_link_keeps_the_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/a.md").write_text("old")
    (tmp_path / "a.md").symlink_to("real/a.md")
    atomic_write(tmp_path / "a.md", b"new")
    assert (tmp_path / "a.md").is_symlink()
    assert (tmp_path / "real/a.md").read_bytes() == b"new"


@posix_only
def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        atomic_write(pipe, b"new")
        assert os.read(reader, 10) == b"new"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_write_that_fails_leaves_the_old_content(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/b").write_text("old")
    with pytest.raises(OSError):
        atomic_write(tmp_path / "a", b"new")
    assert (tmp_path / "a/b").read_text() == "old"
    assert not list(tmp_path.glob(f"{TEMPORARY}*"))


def test_a_reader_never_sees_half_a_write(tmp_path: Path) -> None:
    path = tmp_path / "a"
    contents = [bytes([letter]) * 200_000 for letter in b"ab"]
    atomic_write(path, contents[0])
    done = threading.Event()

    def write() -> None:
        for turn in range(40):
            atomic_write(path, contents[turn % 2], durable=False)
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not done.is_set():
        assert path.read_bytes() in contents
    writer.join()


def test_a_lock_that_is_held_says_by_whom(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    code = (
        "import sys, time; from pathlib import Path; from ctxcli.storage.files import locked\n"
        f"with locked(Path({str(path)!r}), timeout=5, what='it'):\n print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as holder:
        assert holder.stdout and holder.stdout.readline()
        with pytest.raises(BusyError, match=f"pid {holder.pid}"), locked(path, timeout=0.1, what="it"):
            pass
        holder.kill()
        holder.wait()
        with locked(path, timeout=5, what="it"):
            assert path.read_bytes() == str(os.getpid()).encode()


def test_a_lock_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    held = threading.Event()
    order = []

    def hold() -> None:
        with locked(path, timeout=5, what="it"):
            held.set()
            time.sleep(0.2)
            order.append("first")

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    with locked(path, timeout=10, what="it"):
        order.append("second")
    thread.join()
    assert order == ["first", "second"]


@pytest.mark.parametrize("path", ["", "..", "../x", "a/../../x", "/etc/passwd", "a\\..\\..\\x", "a\0b"])
def test_a_path_that_leads_out_is_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        inside(tmp_path, path)


@posix_only
def test_a_link_that_leads_out_is_refused(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root/link").symlink_to("..")
    with pytest.raises(UsageError):
        inside(tmp_path / "root", "link/x")


def test_a_path_inside_is_joined(tmp_path: Path) -> None:
    assert inside(tmp_path, "文/a.md") == tmp_path / "文" / "a.md"


@given(st.text(min_size=1))
def test_composed_and_decomposed_names_are_one(name: str) -> None:
    assert identity(unicodedata.normalize("NFD", name)) == identity(unicodedata.normalize("NFC", name))


def test_odd_bytes_in_a_name_are_shown() -> None:
    assert printable(b"caf\xe9 \xe6\x96\x87".decode("utf-8", "surrogateescape")) == "caf\\xe9 文"


def test_the_digest_is_sha256() -> None:
    assert sha256(b"").startswith("e3b0c44298fc1c14")
