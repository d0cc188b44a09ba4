"""`ctx schema` and `ctx tools`: what ships is what the commands print."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ctxcli.cli.app import COMMANDS
from ctxcli.model.errors import UsageError
from ctxcli.services import schemas
from ctxcli.services.tools import TOOLS, Toolbox
from tests.cli.run import ROOT, ctx, write
from tests.llm_server import said, scripted
from tests.schemas import valid

MANUAL = "# Manual\n\n## 6.4 Pumps\n\nThe irrigation pump starts at six in the morning.\n\n| part | size |\n|---|---|\n"
PUMP = "When does the irrigation pump start?"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("schema") / "w"
    write(folder, "docs/manual.md", MANUAL)
    write(folder, "docs/bad.pdf", b"%PDF-1.4 broken")
    write(folder, "q.jsonl", json.dumps({"id": "a", "question": PUMP, "doc": "manual.md"}) + "\n")
    write(folder, "tests.yml", f'tests:\n  - question: "{PUMP}"\n    expect: {{doc: manual.md, contains: six}}\n')
    write(
        folder, "history.json", json.dumps([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}])
    )
    write(folder, "packet.json", json.dumps({"content": "x is 1", "relevance": 0.9}))
    return folder


COMMANDS_IN_ORDER = [
    "kb index docs", "kb index", "kb index docs --dry-run", "init", "kb list", "kb info", "kb files",
    "kb outline manual.md",
    f"ask|{PUMP}", f"ask|{PUMP}|--evidence", "ask|Who wrote Carmen?", "kb search pump", "kb search pump --explain",
    "kb search zebra", f"kb explain|{PUMP}|--expect|manual.md#6.4", "kb eval q.jsonl", "kb calibrate q.jsonl",
    "check tests.yml", "note create Plan --tag a --type action", "note list", "note search Plan", "note show Plan",
    "note summary", "note links", "note links Plan", "note check", "note export out", "note import out",
    "note update Plan --append x",
    "fact set n 254 --source s --step 1", "fact set n 255 --source s", "fact get n", "fact list", "fact history n",
    "fact delete n", "fact artifact set big text --source s", "fact artifact list", "fact artifact get big",
    "session import history.json --name talk", "session list", "session show talk", "session context talk",
    "session add talk --role user --content more", "session recall talk hi", "session compact talk --keep 1",
    "session new other", "session delete other --yes", f"context build|{PUMP}|--packet|packet.json",
    "tokens history.json", "status", "doctor", "config list", "config get ask.top_k", "config path", "trust", "schema",
    "tools --format openai", "tools --format anthropic", "tools --format mcp", "kb remove default --yes",
    "ask nothing", "note show nothing", "nonsense",
]  # fmt: skip


def test_every_document_fits_the_schema_it_names(place: Path) -> None:
    seen: set[str] = set()
    for line in COMMANDS_IN_ORDER:
        done = ctx(place, *_words(line), "--json")
        assert done.code in (0, 2, 3, 4, 7), (line, done.err)
        assert "bug" not in done.err, (line, done.err)
        seen.add(valid(done.json)["schema"].split("/")[1])
    inputs = {"history", "packet", "question", "tests"}
    elsewhere = {"chat", "chunk", "document", "note-deletion", "demo", "verification"}
    assert set(schemas.names()) - seen == inputs | elsewhere


def _words(line: str) -> list[str]:
    """A line as arguments: parted at bars after the command where there are any, else at blanks."""
    first, *rest = line.split("|")
    return [*first.split(" "), *rest]


def test_an_answer_of_a_model_and_its_verification_fit(place: Path) -> None:
    assert ctx(place, "kb", "index", "docs/manual.md", "-q").code == 0
    with scripted(said('It starts at six. [1][9]\n> [1] "The irrigation pump starts at six"')) as service:
        done = ctx(place, "ask", PUMP, "--llm", "--json", **service.environment)
    assert valid(done.json)["removed_citations"] == 1
    write(place, "answer.json", done.out)
    valid(ctx(place, "verify", "answer.json", "--json").json)
    batch = ctx(place, "ask", "--batch", "q.jsonl").out.splitlines()
    assert [valid(json.loads(one))["id"] for one in batch] == ["a"]
    bad = write(place, "bad.jsonl", '{"id": "x"}\n')
    assert valid(json.loads(ctx(place, "ask", "--batch", str(bad)).out))["id"] == "x"


@pytest.mark.parametrize("name", schemas.names())
def test_schemas_are_schemas_and_are_printed_by_name(name: str) -> None:
    found = schemas.schema(name)
    Draft202012Validator.check_schema(found)
    assert found["title"]
    assert schemas.text(f"ctx/{name}/1") == schemas.text(name)


def test_the_schemas_of_inputs_fit_what_is_read(place: Path) -> None:
    import yaml

    for name, value in [
        ("history", json.loads((place / "history.json").read_text())),
        ("packet", json.loads((place / "packet.json").read_text())),
        ("question", json.loads((place / "q.jsonl").read_text())),
        ("tests", yaml.safe_load((place / "tests.yml").read_text())),
    ]:
        Draft202012Validator(schemas.schema(name)).validate(value)


def test_an_unknown_schema_is_told_with_what_is_near(place: Path) -> None:
    done = ctx(place, "schema", "anser")
    assert (done.code, "did you mean answer?" in done.err) == (3, True)


def test_schemas_and_tools_need_no_workspace(tmp_path: Path) -> None:
    folder = tmp_path / "none"
    folder.mkdir()
    assert json.loads(ctx(folder, "schema", "answer").out)["$id"] == "ctx/answer/1"
    assert json.loads(ctx(folder, "tools").out)[0]["function"]["name"] == "search"
    assert ctx(folder, "tools", "--format", "soap").code == 2


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_says_when_to_use_it_and_takes_nothing_else(tool: Any) -> None:
    assert "Use it" in tool.description or tool.writes or "Use them" in tool.description
    for made in (tool.parameters, tool.strict_parameters):
        Draft202012Validator.check_schema(made)
        assert made["additionalProperties"] is False
    strict = tool.strict_parameters
    assert strict["required"] == list(strict["properties"])
    for name, one in strict["properties"].items():
        assert one["description"]
        assert ("null" in one["type"]) != (name in tool.required)
    if not tool.writes and ("search" in tool.name or "list" in tool.name or tool.name in {"facts", "ask", "context"}):
        assert "mpty list" in tool.description or "declined" in tool.description or "none means" in tool.description
    schemas.schema(tool.returns)


def test_the_lists_of_the_apis_hold_the_same_tools(place: Path) -> None:
    names = [tool.name for tool in TOOLS]
    assert [one["function"]["name"] for one in json.loads(ctx(place, "tools", "--format", "openai").out)] == names
    assert [one["name"] for one in json.loads(ctx(place, "tools", "--format", "anthropic").out)] == names
    assert [one["name"] for one in json.loads(ctx(place, "tools", "--format", "mcp").out)] == names
    readers = [tool.name for tool in TOOLS if not tool.writes]
    assert [one["name"] for one in json.loads(ctx(place, "tools", "--format", "mcp", "--read-only").out)] == readers


CALLS: list[tuple[str, Any]] = [
    ("status", {}), ("search", {"query": "pump"}), ("search", {"query": "zebra"}), ("ask", {"question": PUMP}),
    ("ask", {"question": "Who wrote Carmen?", "kb": '["default"]'}), ("get", {"doc": "manual.md"}),
    ("get", {"doc": "manual.md", "line_start": "3", "line_end": 5}), ("get", {"doc": "manual.md", "section": 6.4}),
    ("outline", {"doc": "manual.md"}), ("note_create", {"title": "T", "tags": '["a", "b"]'}), ("note_list", None),
    ("note_search", {"query": "T", "tags": "a, b"}), ("note_read", {"note_id": "T"}), ("facts", {}),
    ("fact_set", {"key": "n", "value": 254, "source": "s", "step": None}), ("facts", {"prefix": "n"}),
    ("context", {"query": PUMP, "budget": 800}), ("note_update", {"note_id": "T", "append": "x"}), ("reindex", {}),
]  # fmt: skip


def test_every_tool_returns_the_document_it_names(place: Path) -> None:
    assert ctx(place, "kb", "index", "docs/manual.md", "-q").code == 0
    box = Toolbox(place, allow_write=True)
    results: dict[str, dict[str, Any]] = {}
    for name, arguments in CALLS:
        results[name] = valid(box.call(name, arguments))
        assert results[name]["schema"] == f"ctx/{next(tool for tool in TOOLS if tool.name == name).returns}/1"
    hit = box.call("search", {"query": "irrigation pump"})["hits"][0]
    chunk = valid(box.call("fetch", {"id": hit["id"]}))
    assert hit["quote"] in chunk["text"]
    assert "text" not in hit
    note = results["note_read"]
    valid(box.call("note_delete", {"note_id": note["id"]}))


def test_a_hit_among_the_notes_is_fetched_and_read(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    folder.mkdir()
    assert ctx(folder, "note", "create", "Pool", "--content", "The pool size is 12.").code == 0
    box = Toolbox(folder)
    hit = box.call("search", {"query": "pool size", "notes": True})["hits"][0]
    assert "The pool size is 12." in box.call("fetch", {"id": hit["id"]})["text"]
    assert "The pool size is 12." in box.call("get", {"doc": hit["doc"]})["text"]
    assert box.call("ask", {"question": "What is the pool size?", "notes": "yes"})["declined"] is False


def test_parts_of_a_document_are_read_as_they_stand(place: Path) -> None:
    box = Toolbox(place)
    whole = box.call("get", {"doc": "manual.md"})
    assert whole["text"] == MANUAL
    assert (whole["characters"], whole["truncated"]) == (len(MANUAL), False)
    lines = box.call("get", {"doc": "docs/manual.md", "line_start": 3, "line_end": 5})
    assert lines["text"] == "".join(MANUAL.splitlines(keepends=True)[2:5])
    assert (lines["line_start"], lines["line_end"]) == (3, 5)
    assert box.call("get", {"doc": "manual.md", "section": "6.4"})["text"].startswith("## 6.4 Pumps")
    assert box.call("get", {"doc": "manual.md", "limit": 100})["truncated"]


@pytest.mark.parametrize(
    ("name", "arguments", "code", "said"),
    [
        ("search", {"query": "x", "sections": "6"}, "unknown_parameter", "did you mean section?"),
        ("search", {"query": "x", "top_k": 5}, "unknown_parameter", "it takes: query"),
        ("search", {}, "missing_parameter", "give query"),
        ("search", {"query": "  "}, "bad_parameter", "give a text"),
        ("search", {"query": "x", "limit": 0}, "bad_parameter", "from 1 to 50"),
        ("search", {"query": "x", "limit": "many"}, "bad_parameter", "a whole number"),
        ("search", {"query": "x", "kb": {"a": 1}}, "bad_parameter", "a list of texts"),
        ("search", {"query": "x", "kb": "nope"}, "kb_not_found", "default"),
        ("search", "{broken", "bad_json", "give an object"),
        ("search", ["x"], "bad_arguments", "by name"),
        ("serch", {}, "unknown_tool", "did you mean search?"),
        ("note_create", {"title": "x"}, "not_allowed", "--allow-write"),
        ("get", {"doc": "nope.md"}, "doc_not_found", "ctx kb files"),
        ("get", {"doc": "../../etc/passwd"}, "doc_not_found", "ctx kb files"),
        ("get", {"doc": "manual.md", "page": 2}, "part_not_found", "outline"),
        ("get", {"doc": "manual.md", "line_start": 9, "line_end": 2}, "bad_lines", "count from 1"),
        ("fetch", {"id": "nope"}, "chunk_not_found", "ctx kb search"),
    ],
)  # fmt: skip
def test_a_wrong_call_is_told_what_would_be_right(place: Path, name: str, arguments: Any, code: str, said: str) -> None:
    from ctxcli.model.errors import CtxError

    with pytest.raises(CtxError) as caught:
        Toolbox(place).call(name, arguments)
    assert caught.value.code == code
    assert said in caught.value.hint
    assert isinstance(caught.value, UsageError) or caught.value.code not in {"unknown_parameter", "bad_parameter"}


def test_the_new_commands_are_named_in_the_help() -> None:
    assert {"tools", "schema"} <= set(COMMANDS)


def test_the_python_of_the_documentation_runs(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "how-to" / "agents.md").read_text("utf-8")
    code = page.split("```python\n")[1].split("```")[0].replace("/path/to/workspace", str(place))
    assert ctx(place, "kb", "index", "docs/manual.md", "-q").code == 0
    exec(compile(code, "agents.md", "exec"), {})
    assert valid(json.loads(capsys.readouterr().out))["declined"] is True


def test_the_documentation_names_every_tool() -> None:
    page = (ROOT / "docs" / "how-to" / "agents.md").read_text("utf-8")
    assert [tool.name for tool in TOOLS if f"`{tool.name}`" not in page] == []
