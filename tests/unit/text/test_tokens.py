import hashlib
import socket
from pathlib import Path

import pytest

from ctxcli.model.message import Message, ToolCall
from ctxcli.text import bpe
from ctxcli.text.bpe import Encoding, encoding
from ctxcli.text.pretokens import data_file, pieces
from ctxcli.text.tokens import TokenCounter, encoding_of, estimate


def test_known_texts_have_their_known_counts() -> None:
    """Counts as OpenAI's tokenizer gives them."""
    assert TokenCounter().count("tiktoken is great!") == 6
    assert encoding("cl100k_base").encode("tiktoken is great!") == [83, 1609, 5963, 374, 2294, 0]
    assert TokenCounter().count("") == 0


@pytest.mark.parametrize(
    ("model", "name", "known"),
    [
        (None, "o200k_base", True),
        ("gpt-4o-mini", "o200k_base", True),
        ("GPT-4.1", "o200k_base", True),
        ("o3-mini", "o200k_base", True),
        ("openai/gpt-5", "o200k_base", True),
        ("ft:gpt-4o-mini:me::1", "o200k_base", True),
        ("gpt-4", "cl100k_base", True),
        ("gpt-4-turbo", "cl100k_base", True),
        ("gpt-3.5-turbo-0125", "cl100k_base", True),
        ("text-embedding-3-small", "cl100k_base", True),
        ("cl100k_base", "cl100k_base", True),
        ("qwen-max", "cl100k_base", False),
        ("o1a", "cl100k_base", False),
        ("gpt-40", "cl100k_base", False),
    ],
)
def test_a_model_has_its_encoding(model: str | None, name: str, known: bool) -> None:
    assert encoding_of(model) == (name, known)


def test_special_tokens_in_a_text_are_ordinary_text() -> None:
    assert TokenCounter().count("<|endoftext|>") == 7


def test_pieces_tile_the_text() -> None:
    text = "Don't 停！\u3000a\u0301 \x01x\r\n 12345"
    for name in bpe.ENCODINGS:
        assert "".join(pieces(text, name)) == text


def test_lone_surrogates_count_as_replacement_characters() -> None:
    assert encoding("o200k_base").encode("a\ud800b") == encoding("o200k_base").encode("a\ufffdb")
    assert encoding("o200k_base").encode("\ud83d\ude00") == encoding("o200k_base").encode("😀")


def test_nothing_is_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert Encoding("o200k_base").count("今天天气很好。" * 40_000) > 100_000


def test_a_large_text_counts_as_its_small_parts_do() -> None:
    line = "The pool holds 10 connections. 连接池有 10 个连接。\n"
    small = Encoding("o200k_base")
    assert Encoding("o200k_base").count(line * 6_000) == 6_000 * small.count(line)


def test_a_megabyte_of_blanks_is_counted(capfd: pytest.CaptureFixture[str]) -> None:
    assert encoding("o200k_base").count(" " * 300_000) > 1_000
    assert capfd.readouterr().err == ""


def test_the_tables_hold_every_published_rank() -> None:
    for name, count in (("o200k_base", 199_998), ("cl100k_base", 100_256)):
        ranks = encoding(name)._ranks  # type: ignore[arg-type]
        rows = dict(ranks.all())
        assert len(rows) == ranks.count == count
        assert sorted(rows.values()) == list(range(count)) or max(rows.values()) >= count - 1
        sample = [token for at, token in enumerate(rows) if at % 997 == 0]
        assert [ranks[token] for token in sample] == [rows[token] for token in sample]


def test_the_tables_are_the_published_files() -> None:
    """The published file, written again from the table, has the digest that tiktoken pins."""
    from base64 import b64encode

    digests = {
        "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    }
    for name, digest in digests.items():
        rows = encoding(name)._ranks.all()  # type: ignore[arg-type]
        lines = b"".join(b"%s %d\n" % (b64encode(token), rank) for token, rank in rows)
        assert hashlib.sha256(lines).hexdigest() == digest


def test_data_files_are_part_of_the_package() -> None:
    for name in ("o200k_base.bin", "cl100k_base.bin", "classes.bin"):
        assert Path(data_file(name)).stat().st_size > 1_000


def test_messages_cost_what_openai_says() -> None:
    """The example of OpenAI's cookbook for cl100k models: 129 tokens for these six messages."""
    messages = [
        {
            "role": "system",
            "content": "You are a helpful, pattern-following assistant that translates corporate jargon into plain "
            "English.",
        },
        {
            "role": "system",
            "name": "example_user",
            "content": "New synergies will help drive top-line growth.",
        },
        {
            "role": "system",
            "name": "example_assistant",
            "content": "Things working well together will increase revenue.",
        },
        {
            "role": "system",
            "name": "example_user",
            "content": "Let's circle back when we have more bandwidth to touch base on opportunities for increased "
            "leverage.",
        },
        {
            "role": "system",
            "name": "example_assistant",
            "content": "Let's talk later when we're less busy about how to do better.",
        },
        {
            "role": "user",
            "content": "This late pivot means we don't have time to boil the ocean for the client deliverable.",
        },
    ]
    assert TokenCounter("gpt-4").count_messages(messages) == 129
    assert TokenCounter("gpt-4o").count_messages(messages) == 124


def test_tool_calls_and_parts_are_counted() -> None:
    counter = TokenCounter()
    bare = counter.count_messages([Message("assistant", "")])
    called = counter.count_messages([Message("assistant", "", (ToolCall("c1", "find", '{"q": "连接池"}'),))])
    assert called > bare + counter.count('{"q": "连接池"}')
    parts = [{"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "image_url", "image_url": {}}]}]
    assert counter.count_messages(parts) == counter.count_messages([{"role": "user", "content": "hi"}])


def test_the_estimate_is_by_kind_of_character() -> None:
    assert estimate("连接池") == 3  # 2.4, rounded up
    assert estimate("a" * 10) == 3
    assert estimate("") == 0
