"""`ctx demo`: what it shows is what the commands print."""

import re
import shlex
from pathlib import Path

from tests.cli.run import ctx
from tests.console import same


def test_the_demo_shows_what_its_commands_print(tmp_path: Path) -> None:
    done = ctx(tmp_path, "demo", "station")
    assert done.code == 0
    assert done.err == "go on with: cd station && ctx ask …\n"
    parts = re.split(r"^\$ ctx (.+)\n", done.out, flags=re.MULTILINE)[1:]
    codes = []
    for command, shown in zip(parts[::2], parts[1::2], strict=True):
        again = ctx(tmp_path / "station", *shlex.split(command), *(["--rebuild"] if "index" in command else []))
        codes.append(again.code)
        assert same(shown.strip(), again.out.strip()), command
    assert codes == [0, 0, 0, 4]
    assert ctx(tmp_path, "demo", "station").code == 2


def test_the_demo_without_a_folder_leaves_nothing(tmp_path: Path) -> None:
    assert ctx(tmp_path, "demo", "--json").json["schema"] == "ctx/demo/1"
    assert list(tmp_path.iterdir()) == []
