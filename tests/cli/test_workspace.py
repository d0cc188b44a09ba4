"""`ctx init`, `status`, `doctor`, `config`, `trust` as processes."""

import os
from pathlib import Path

import pytest

from tests.cli.run import ROOT, ctx, environment, write
from tests.llm_server import scripted


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    folder.mkdir()
    assert ctx(folder, "init").code == 0
    return folder


def test_init_makes_a_workspace_once(tmp_path: Path) -> None:
    done = ctx(tmp_path, "init", "new/place", "--json")
    assert done.json == {"schema": "ctx/workspace/1", "workspace": (tmp_path / "new/place").as_posix(), "made": True}
    write(tmp_path, "new/place/.ctx/config.toml", "[ask]\ntop_k = 3\n")
    assert ctx(tmp_path, "init", "new/place", "--json").json["made"] is False
    assert (tmp_path / "new/place/.ctx/config.toml").read_text() == "[ask]\ntop_k = 3\n"
    assert "/kb/" in (tmp_path / "new/place/.ctx/.gitignore").read_text()


def test_status_shows_the_knowledge_bases(place: Path) -> None:
    write(place, "a.md", "# A\n")
    write(place, "notes/n.md", "note\n")
    ctx(place, "kb", "index", "a.md")
    found = ctx(place, "status", "--json").json
    assert found["schema"] == "ctx/status/1"
    assert [kb["name"] for kb in found["knowledge_bases"]] == ["default"]
    assert found["notes"] == 1
    assert ctx(place, "status").code == 0


def test_doctor_tells_what_is_stale_and_removes_leftovers(place: Path) -> None:
    write(place, "docs/a.md", "# A\n")
    ctx(place, "kb", "index", "docs")
    assert ctx(place, "doctor").code == 0
    write(place, "docs/b.md", "# B\n")
    old, young = (write(place, f".ctx/.ctx-tmp-123-{name}", "half") for name in ("old", "young"))
    os.utime(old, (0, 0))
    write(place, ".ctx/kb/half/index-1/x", "half")
    write(place, ".ctx/facts.sync-conflict-20240101-120000-ABCDEFG.json", "{}")
    checks = {one["name"]: one for one in ctx(place, "doctor", "--json").json["checks"]}
    for name in ("knowledge base default", "leftovers", "conflict copies"):
        assert checks[name]["status"] == "warning", name
    checks = {one["name"]: one for one in ctx(place, "doctor", "--fix", "--json").json["checks"]}
    assert checks["leftovers"]["fixed"]
    assert not (place / ".ctx/kb/half").exists()
    assert (old.exists(), young.exists()) == (False, True)  # the young one may be written right now


def test_doctor_finds_a_damaged_index(place: Path) -> None:
    write(place, "docs/a.md", "# A\n")
    ctx(place, "kb", "index", "docs")
    for path in (place / ".ctx/kb/default").rglob("meta.json"):
        path.write_bytes(b"\x00random")
    done = ctx(place, "doctor", "--json")
    assert done.code == 5
    assert done.json["ok"] is False
    assert ctx(place, "kb", "list").code == 0
    assert ctx(place, "kb", "info").code == 5
    assert ctx(place, "kb", "index").code == 0
    assert ctx(place, "doctor").code == 0


def test_doctor_works_outside_of_a_workspace(tmp_path: Path) -> None:
    assert ctx(tmp_path, "doctor").code == 0


def test_doctor_says_which_language_model_is_configured_and_asks_none(place: Path) -> None:
    def model(folder: Path = place, **more: str) -> tuple[str, str]:
        done = ctx(folder, "doctor", "--json", **more)
        assert (done.code, "sk-a-secret" in done.out + done.err) == (0, False)
        (found,) = [one for one in done.json["checks"] if one["name"] == "language model"]
        return found["status"], found["message"]

    named = {"CTX_MODEL": "qwen2.5:7b"}
    assert model()[1].startswith("none is named")
    with scripted() as service:
        here = {**named, "OPENAI_BASE_URL": service.url}
        assert model(**here) == ("ok", f"qwen2.5:7b at {service.url}; OPENAI_API_KEY is not set")
        assert model(place.parent, **here, OPENAI_API_KEY="sk-a-secret")[1].endswith("; OPENAI_API_KEY is set")
        assert service.requests == []
    assert model(**named) == ("warning", "there is no key for https://api.openai.com/v1")
    assert model(**named, OPENAI_BASE_URL="http://u:sk-a-secret@h.example/v1", OPENAI_API_KEY="sk-a-secret") == (
        "warning", "qwen2.5:7b at http://h.example/v1; OPENAI_API_KEY is set and would be sent unencrypted",
    )  # fmt: skip
    assert model(**named, OPENAI_API_KEY="密钥")[0] == "warning"


def test_settings_come_from_flag_environment_workspace_user_and_default(place: Path) -> None:
    def origin(**more: str) -> tuple[object, str]:
        found = ctx(place, "config", "get", "ask.top_k", "--json", **more).json
        return found["value"], found["origin"]

    assert origin() == (10, "default")
    ctx(place, "config", "set", "ask.top_k", "6", "--user")
    assert origin()[0] == 6
    assert origin()[1].endswith("config.toml")
    ctx(place, "config", "set", "ask.top_k", "7")
    assert origin() == (7, (place / ".ctx/config.toml").as_posix())
    assert origin(CTX_ASK_TOP_K="8") == (8, "CTX_ASK_TOP_K")


def test_set_keeps_the_rest_of_the_file(place: Path) -> None:
    text = "# mine\n[ask]\n# how many\ntop_k = 3 # few\n\n[index]\njobs = 1\n"
    path = write(place, ".ctx/config.toml", text)
    ctx(place, "config", "set", "ask.top_k", "9")
    ctx(place, "config", "set", "ask.notes", "yes")
    ctx(place, "config", "set", "notes.types", "行动,参考")
    expected = "# mine\n[ask]\n# how many\ntop_k = 9\nnotes = true\n\n[index]\njobs = 1\n\n"
    assert path.read_text() == expected + '[notes]\ntypes = ["行动", "参考"]\n'
    assert ctx(place, "config", "get", "notes.types").out == "行动,参考\n"


@pytest.mark.parametrize(
    ("arguments", "code", "name"),
    [
        (["config", "get", "ask.topk"], 3, "unknown_setting"),
        (["config", "set", "ask.topk", "3"], 3, "unknown_setting"),
        (["config", "set", "ask.top_k", "many"], 2, "bad_setting"),
        (["config", "set", "ask.top_k", "0"], 2, "bad_setting"),
        (["config", "set", "index.analyzer", "letters"], 2, "bad_setting"),
    ],
)
def test_unknown_settings_and_bad_values_are_errors(arguments: list[str], code: int, name: str, place: Path) -> None:
    done = ctx(place, *arguments, "--json")
    assert (done.code, done.json["error"]["code"]) == (code, name)
    assert not (place / ".ctx/config.toml").exists()


def test_an_unknown_setting_gets_a_suggestion(place: Path) -> None:
    assert "ask.top_k" in ctx(place, "config", "get", "ask.topk").err


@pytest.mark.parametrize("text", ["[ask\n", "[ask]\ntopk = 1\n", "[ask]\ntop_k = 'x'\n", b"\xff\xfe\x00"])
def test_a_broken_config_is_an_error_that_names_the_file(text: str | bytes, place: Path) -> None:
    write(place, ".ctx/config.toml", text)
    done = ctx(place, "config", "list")
    assert done.code == 5
    assert "config.toml" in done.err
    assert "Traceback" not in done.err


def test_a_strangers_workspace_cannot_name_endpoints_commands_or_places_outside(place: Path) -> None:
    text = '[llm]\nbase_url = "http://evil"\n[notes]\ndir = "../../etc"\n[ask]\ntop_k = 2\n'
    write(place, ".ctx/config.toml", f'editor = "rm -rf"\n{text}')

    def values() -> dict[str, object]:
        return {one["key"]: one["value"] for one in ctx(place, "config", "list", "--json").json["settings"]}

    before = values()
    assert (before["llm.base_url"], before["notes.dir"], before["editor"]) == (None, "notes", None)
    assert before["ask.top_k"] == 2
    assert "ctx trust" in ctx(place, "config", "list").err
    assert ctx(place, "trust").code == 0
    assert values()["llm.base_url"] == "http://evil"
    write(place, ".ctx/config.toml", text.replace("evil", "worse"))
    assert values()["llm.base_url"] is None


def test_a_change_by_the_user_keeps_the_trust(place: Path) -> None:
    write(place, ".ctx/config.toml", '[llm]\nbase_url = "http://mine"\n')
    ctx(place, "trust")
    ctx(place, "config", "set", "ask.top_k", "4")
    assert ctx(place, "config", "get", "llm.base_url").out == "http://mine\n"


def test_what_the_user_sets_himself_holds_at_once(place: Path) -> None:
    assert ctx(place, "config", "set", "ask.top_k", "4").code == 0
    done = ctx(place, "config", "set", "rerank.model", "onnx:model")
    assert (done.code, "trust" in done.err) == (0, False)
    assert ctx(place, "config", "get", "rerank.model").out == "onnx:model\n"


def test_setting_a_value_trusts_nothing_of_a_stranger(place: Path) -> None:
    write(place, ".ctx/config.toml", '[llm]\nbase_url = "http://evil"\n[rerank]\nmodel = "llm"\n')
    done = ctx(place, "config", "set", "rerank.model", "onnx:model")
    assert "the workspace sets llm.base_url, rerank.model; this is ignored until you say: ctx trust" in done.err
    assert ctx(place, "config", "get", "llm.base_url", "-q").out == "\n"
    ctx(place, "config", "set", "llm.base_url", "http://mine")
    assert ctx(place, "config", "get", "llm.base_url", "-q").out == "\n"
    assert ctx(place, "trust").code == 0
    assert ctx(place, "config", "get", "llm.base_url").out == "http://mine\n"


def test_a_folder_of_notes_inside_needs_no_trust(place: Path) -> None:
    write(place, ".ctx/config.toml", '[notes]\ndir = "my/notes"\n')
    assert ctx(place, "config", "get", "notes.dir").out == "my/notes\n"


def test_a_threshold_beyond_what_a_score_can_be_is_refused(place: Path) -> None:
    for value in ("7", "-0.1", "1.01", "inf"):
        done = ctx(place, "config", "set", "--", "ask.threshold", value)
        assert done.code == 2
        assert done.err.startswith("error: ask.threshold must be a number from 0 to 1, not ")
        assert ctx(place, "ask", "Where?", CTX_ASK_THRESHOLD=value).code == 2
    for value in ("0", "1", "0.55"):
        assert ctx(place, "config", "set", "ask.threshold", value).code == 0


def test_doctor_says_that_spreadsheets_are_not_read_without_the_extra(place: Path, tmp_path: Path) -> None:
    block = """
import importlib.metadata, sys
sys.modules["python_calamine"] = None
real = importlib.metadata.version
def version(name):
    if name == "python-calamine":
        raise importlib.metadata.PackageNotFoundError(name)
    return real(name)
importlib.metadata.version = version
"""
    write(tmp_path, "block/sitecustomize.py", block)
    path = os.pathsep.join([str(tmp_path / "block"), environment(place)["PYTHONPATH"]])
    write(place, "docs/stock.xlsx", (ROOT / "tests" / "fixtures" / "xlsx" / "stock.xlsx").read_bytes())
    failed = ctx(place, "kb", "index", "docs/stock.xlsx", PYTHONPATH=path)
    assert (failed.code, "[missing_extra]" in failed.err) == (7, True)
    assert "xlsx: spreadsheets are not read" in ctx(place, "doctor", PYTHONPATH=path).out


def test_a_setting_without_a_value_is_shown_as_such(place: Path) -> None:
    rows = [line.split() for line in ctx(place, "config", "list").out.splitlines()]
    assert ["ask.threshold", "–", "default"] in rows
    assert ctx(place, "config", "get", "ask.threshold").out == "\n"
