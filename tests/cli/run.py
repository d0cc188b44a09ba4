"""The command line as a real process."""

import json
import os
import pty
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "ctxcli"]


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.out.count("\n") == 1, self.out
        return json.loads(self.out)


def environment(folder: Path, **more: str) -> dict[str, str]:
    """The environment of a child: this source tree, and a home of its own."""
    home = folder.parent / "home"
    home.mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CTX_", "XDG_", "OPENAI_"))}
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        kept.pop(name, None)
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    compiled = str(Path(tempfile.gettempdir()) / f"ctx-tests-{os.getuid() if hasattr(os, 'getuid') else ''}")
    return {**kept, "HOME": str(home), "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": compiled, **more}


def ctx(folder: Path, *arguments: str, **more: str) -> Done:
    """Run `ctx` in a folder, with nothing on standard input."""
    return _run(folder, arguments, {"stdin": subprocess.DEVNULL}, more)


def fed(folder: Path, text: str | bytes, *arguments: str, **more: str) -> Done:
    """Run `ctx` in a folder, with something on standard input."""
    return _run(folder, arguments, {"input": text.encode() if isinstance(text, str) else text}, more)


def _run(folder: Path, arguments: Sequence[str], stdin: Mapping[str, Any], more: Mapping[str, str]) -> Done:
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        **stdin,
        capture_output=True,
        env=environment(folder, **more),
        timeout=120,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def start(folder: Path, *arguments: str, **more: str) -> "subprocess.Popen[bytes]":
    """Start `ctx` in a folder, in a process group of its own."""
    return subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(folder, **more),
        start_new_session=True,
    )


def on_terminal(folder: Path, *arguments: str, typed: bytes = b"", **more: str) -> Done:
    """Run `ctx` on a terminal of its own, for stdin, stdout and stderr."""
    main, side = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=folder,
        stdin=side,
        stdout=side,
        stderr=side,
        env=environment(folder, TERM="xterm", **more),
        start_new_session=True,
    )
    os.close(side)
    if typed:
        os.write(main, typed)
    out = b""
    try:
        while part := os.read(main, 65536):
            out += part
    except OSError:
        pass
    os.close(main)
    return Done(process.wait(timeout=60), out.decode("utf-8", "replace"), "")


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path
