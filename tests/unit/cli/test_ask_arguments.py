"""The plain road of `ctx ask` reads arguments as Typer does."""

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxcli.cli import app, ask
from ctxcli.cli.ask_arguments import AskRequest, read_plain

ANSWERING = ask.run


@pytest.fixture(scope="module", autouse=True)
def _asked() -> Iterator[None]:
    """Requests are kept instead of answered."""
    ask.run = keep  # type: ignore[assignment]
    yield
    ask.run = ANSWERING


kept: list[AskRequest] = []


def keep(request: AskRequest) -> int:
    kept.append(request)
    return 0


def code_of(arguments: list[str]) -> int:
    """The exit code of a command line, returned or raised."""
    try:
        return app.run(arguments)
    except SystemExit as end:
        return int(end.code or 0)


def by_typer(arguments: list[str]) -> AskRequest | None:
    """The request that Typer reads, None where it complains."""
    kept.clear()
    if code_of(["ask", *arguments]):
        return None
    return kept[0] if kept else None


OPTIONS = st.sampled_from(
    [
        ("--cite",), ("--json",), ("--evidence",), ("-q",), ("--quiet",),
        ("--kb", "default"), ("--kb=other",), ("--kb", "--json"), ("--from", "a.md"), ("--from", "-"), ("--from=b",),
        ("--top-k", "5"), ("--top-k=12",), ("--top-k", "0"), ("--top-k", "x"), ("--top-k",), ("--top-k", "-1"),
        ("--threshold", "0"), ("--threshold", "1"), ("--threshold=0.5",), ("--threshold", "2"), ("--threshold", "nan"),
        ("--threshold", "x"), ("--threshold", "1e-1"), ("--format", "md"), ("--format=json",), ("--format", "xml"),
        ("--batch", "q.jsonl"), ("--batch=-",), ("-w", "/tmp"), ("--workspace", "."), ("--workspace=/",),
        ("a question?",), ("连接池是什么？",), ("-",), ("--",), ("",), ("--unknown",), ("-x",), ("-qx",), ("-w/tmp",),
        ("--kb",), ("-5 degrees",), ("--cit",), ("--no-cite",), ("😀 \"quoted\" 'x' $HOME \\n",), ("--notes",),
        ("--llm",), ("--no-llm",), ("--model", "m"), ("--model=qwen2.5:7b",), ("--model",), ("--model", "--llm"),
    ]
)  # fmt: skip


@given(st.lists(OPTIONS, max_size=6).map(lambda parts: list(itertools.chain(*parts))))
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_the_plain_road_takes_typer_reads_alike(arguments: list[str]) -> None:
    plain = read_plain(arguments)
    if plain is not None:
        assert by_typer(arguments) == plain


GOOD = st.lists(
    st.sampled_from(
        [["--cite"], ["--json"], ["-q"], ["--evidence"], ["--kb", "a"], ["--kb=b"], ["--top-k", "7"], ["-w", "/tmp"],
         ["--threshold=0.25"], ["--format", "md"], ["--from", "x.md"], ["--llm"], ["--no-llm"], ["--model", "m"]]
    ),
    max_size=5, unique_by=lambda option: option[0].partition("=")[0],
)  # fmt: skip


@given(options=GOOD, at=st.integers(0, 5), question=st.sampled_from(["What?", "什么是泵？", "-"]))
@settings(max_examples=150, deadline=None)
def test_any_order_of_options_is_plain(options: list[list[str]], at: int, question: str) -> None:
    arguments = [*itertools.chain(*options[:at]), question, *itertools.chain(*options[at:])]
    plain = read_plain(arguments)
    assert plain is not None
    assert plain.question == question
    assert plain == by_typer(arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--help"],
        ["a", "b"],
        ["a", "--batch", "f"],
        ["a", "--format", "xml"],
        ["a", "--top-k", "0"],
        ["a", "-qw", "."],
    ],
)
def test_what_is_odd_is_left_to_typer(arguments: list[str]) -> None:
    assert read_plain(arguments) is None


@pytest.mark.parametrize(
    "arguments", [["a", "--threshold", "nan"], ["a", "--threshold", "inf"], ["a", "--format", "x"], []]
)
def test_wrong_values_are_mistakes(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ask, "run", ANSWERING)
    assert code_of(["ask", *arguments]) == 2
    assert capsys.readouterr().err.startswith("error: ")
