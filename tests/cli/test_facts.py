import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.cli.run import COMMAND, ctx, environment, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "w"
    place.mkdir()
    assert ctx(place, "init").code == 0
    return place


def stored(folder: Path) -> Any:
    return json.loads((folder / ".ctx" / "facts.json").read_text("utf-8"))["facts"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("254", 254),
        ("-5", -5),
        ("-5 weeks", "-5 weeks"),
        ("-.5", "-.5"),
        ("2.50", 2.5),
        ("true", True),
        ("null", None),
        ('["甲", 1]', ["甲", 1]),
        ('{"a": {"b": 1}}', {"a": {"b": 1}}),
        ("ITT population", "ITT population"),
        ("连接池默认 10", "连接池默认 10"),
        ('"254"', "254"),
        ("NaN", "NaN"),
        ("1e999", "1e999"),
        ("007", "007"),
        ("2024-11-08", "2024-11-08"),
    ],
)
def test_values_keep_their_type(folder: Path, text: str, value: object) -> None:
    done = ctx(folder, "fact", "set", "k", text, "--source", "s", "--json")
    assert done.code == 0, done.err
    assert ctx(folder, "fact", "get", "k", "--json").json["value"] == value


def test_a_text_can_be_asked_for(folder: Path) -> None:
    ctx(folder, "fact", "set", "zip", "0123", "-s", "form", "--text")
    ctx(folder, "fact", "set", "year", "2024", "-s", "form", "--text")
    assert ctx(folder, "fact", "get", "year", "--json").json["value"] == "2024"


def test_a_changed_value_is_reported_and_the_old_one_kept(folder: Path) -> None:
    ctx(folder, "fact", "set", "adsl.n_rows", "254", "--source", "describe_dataset(adsl)", "--step", "1")
    done = ctx(folder, "fact", "set", "adsl.n_rows", "250", "--source", "recount", "--step", "2", "--json")
    assert done.code == 0
    assert "254 (describe_dataset(adsl), step 1)" in done.err
    assert done.json["state"] == "changed"
    assert done.json["previous"]["value"] == 254
    entries = ctx(folder, "fact", "history", "adsl.n_rows", "--json").json["entries"]
    assert [row["value"] for row in entries] == [254, 250]


def test_the_same_fact_twice_is_no_conflict_and_loses_nothing(folder: Path) -> None:
    first = ctx(folder, "fact", "set", "喜好", "喜欢X", "-s", "对话", "--json").json
    again = ctx(folder, "fact", "set", "喜好", "喜欢X", "-s", "对话", "--json")
    assert again.json["state"] == "same"
    assert again.err == ""
    assert again.json["at"] == first["at"]
    against = ctx(folder, "fact", "set", "喜好", "不喜欢X", "-s", "对话", "--json")
    assert against.json["state"] == "changed"
    assert [row["value"] for row in stored(folder)["喜好"]] == ["喜欢X", "不喜欢X"]


def test_one_is_not_true(folder: Path) -> None:
    ctx(folder, "fact", "set", "flag", "1", "-s", "a")
    assert ctx(folder, "fact", "set", "flag", "true", "-s", "a", "--json").json["state"] == "changed"


def test_the_same_value_from_another_source_is_kept_too(folder: Path) -> None:
    ctx(folder, "fact", "set", "n", "1", "-s", "a")
    done = ctx(folder, "fact", "set", "n", "1", "-s", "b", "--json")
    assert (done.json["state"], done.err) == ("same", "")
    assert len(stored(folder)["n"]) == 2


def test_a_deleted_fact_keeps_its_history(folder: Path) -> None:
    ctx(folder, "fact", "set", "n", "1", "-s", "a")
    assert ctx(folder, "fact", "delete", "n").code == 0
    assert ctx(folder, "fact", "get", "n").code == 3
    assert ctx(folder, "fact", "list", "--json").json["facts"] == []
    rows = ctx(folder, "fact", "history", "n", "--json").json["entries"]
    assert [row.get("deleted", False) for row in rows] == [False, True]
    assert ctx(folder, "fact", "delete", "n").code == 3
    assert ctx(folder, "fact", "set", "n", "2", "-s", "a", "--json").json["state"] == "new"


def test_mistakes_are_told(folder: Path) -> None:
    assert ctx(folder, "fact", "set", "n", "1").code == 2
    assert ctx(folder, "fact", "set", " ", "1", "-s", "a").code == 2
    assert ctx(folder, "fact", "set", "n", "1", "-s", "").code == 2
    assert ctx(folder, "fact", "set", "n", "x" * 9_000, "-s", "a", "--json").json["error"]["code"] == "too_large"
    ctx(folder, "fact", "set", "n_rows", "1", "-s", "a")
    assert "n_rows" in ctx(folder, "fact", "get", "n_row").err
    assert ctx(folder.parent, "fact", "list").code == 3


@pytest.mark.parametrize("kind", [["fact"], ["fact", "artifact"]])
@pytest.mark.parametrize("text", ['{"facts": {"a": [{"value": "甲', '{"facts": {"a": [1]}}', "\x00"])
def test_a_damaged_file_stays_as_it_is_until_doctor_keeps_it_aside(folder: Path, kind: list[str], text: str) -> None:
    path = write(folder, f".ctx/{kind[-1]}s.json", text)
    for arguments in (["list"], ["get", "a"], ["set", "b", "2", "-s", "x"], ["delete", "a"]):
        done = ctx(folder, *kind, *arguments, "--json")
        assert (done.code, done.json["error"]["code"]) == (5, "facts_damaged")
        assert not any(word in done.err for word in ("Expecting", "Error:", "object is not", "Unterminated"))
        assert path.read_text("utf-8") == text
    assert ctx(folder, "doctor").code == 5
    status = ctx(folder, "status", "--json").json
    assert status[f"{kind[-1]}s"] is None
    assert "is damaged" in status["problems"][0]
    assert f"{kind[-1]}s.json is damaged" in ctx(folder, "status").out
    assert path.read_text("utf-8") == text
    done = ctx(folder, "doctor", "--fix", "--json")
    assert any(one["name"] == f"{kind[-1]}s" and one["fixed"] for one in done.json["checks"])
    aside = [place for place in (folder / ".ctx").iterdir() if ".damaged-" in place.name]
    assert [place.read_text("utf-8") for place in aside] == [text]
    assert ctx(folder, *kind, "set", "b", "2", "-s", "x").code == 0
    checks = {one["name"]: one for one in ctx(folder, "doctor", "--json").json["checks"]}
    assert checks["kept aside"]["status"] == "warning"
    assert aside[0].name in checks["kept aside"]["message"]


@pytest.mark.parametrize("text", ["[]", '{"facts": []}', '{"facts": {"a": 1}}', "\x00\x01", "[" * 100_000])
def test_no_damage_is_a_traceback(folder: Path, text: str) -> None:
    write(folder, ".ctx/facts.json", text)
    done = ctx(folder, "fact", "list")
    assert (done.code, "Traceback" in done.err) == (5, False)


def test_what_others_wrote_into_the_file_is_kept(folder: Path) -> None:
    ctx(folder, "fact", "set", "a", "1", "-s", "x")
    path = folder / ".ctx" / "facts.json"
    whole = json.loads(path.read_text("utf-8"))
    whole["team"] = "甲"
    whole["facts"]["a"][0]["unit"] = "rows"
    path.write_text(json.dumps(whole), "utf-8")
    ctx(folder, "fact", "set", "b", "2", "-s", "x")
    whole = json.loads(path.read_text("utf-8"))
    assert whole["team"] == "甲"
    assert whole["facts"]["a"][0]["unit"] == "rows"


def test_eight_writers_at_once_lose_nothing(folder: Path) -> None:
    def write_fact(number: int) -> int:
        command = [*COMMAND, "fact", "set", f"k{number % 12}", str(number), "-s", f"w{number}"]
        return subprocess.run(command, cwd=folder, env=environment(folder), capture_output=True, check=False).returncode

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(write_fact, range(24))) == {0}
    assert sorted(row["value"] for rows in stored(folder).values() for row in rows) == list(range(24))


def test_artifacts_are_kept_up_to_a_size(folder: Path) -> None:
    write(folder, "out.json", json.dumps({"rows": list(range(50))}))
    assert ctx(folder, "fact", "artifact", "set", "run1", "--file", "out.json", "-s", "tool").code == 0
    assert ctx(folder, "fact", "artifact", "get", "run1", "--json").json["value"]["rows"][49] == 49
    row = ctx(folder, "fact", "artifact", "list", "--json").json["artifacts"][0]
    assert "value" not in row
    assert row["bytes"] > 100
    write(folder, "big.txt", "字" * 100_000)
    done = ctx(folder, "fact", "artifact", "set", "big", "--file", "big.txt", "-s", "tool", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "too_large")
    assert ctx(folder, "fact", "artifact", "set", "big", "--file", "big.txt", "-s", "t", "--limit", "400000").code == 0
    assert ctx(folder, "fact", "artifact", "get", "none").code == 3
    write(folder, "x.bin", bytes(range(256)) * 10)
    assert ctx(folder, "fact", "artifact", "set", "bin", "--file", "x.bin", "-s", "t").code == 5


def test_a_misspelled_option_is_a_mistake_and_no_value(folder: Path) -> None:
    assert ctx(folder, "fact", "set", "k", "--sorce", "x").code == 2
    done = ctx(folder, "fact", "set", "k", "-5", "--source", "-1 of step", "--json")
    assert (done.json["value"], done.json["source"]) == (-5, "-1 of step")


@pytest.mark.parametrize("kind", [["fact"], ["fact", "artifact"]])
def test_half_of_a_character_damages_no_other_fact(folder: Path, kind: list[str]) -> None:
    ctx(folder, *kind, "set", "好", "值", "-s", "x")
    assert ctx(folder, *kind, "set", "half", '"\\ud83d x"', "-s", "x").code == 0
    assert ctx(folder, *kind, "get", "好").out == "值\n"
    assert ctx(folder, *kind, "get", "half", "--json").json["value"] == "\ud83d x"
    (folder / ".ctx" / f"{kind[-1]}s.json").read_bytes().decode("utf-8")
