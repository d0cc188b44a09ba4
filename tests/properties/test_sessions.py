"""Whatever is added, shown and compacted in turn: no line is lost, and each message is summarised exactly once."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ctxcli.model.errors import UsageError
from ctxcli.model.message import Message
from ctxcli.packing import recall as ranking
from ctxcli.packing.history import POLICIES, SUMMARISING, Limits
from ctxcli.packing.recall import Finder
from ctxcli.parsing.messages import read_line
from ctxcli.services import workspace as workspaces
from ctxcli.services.sessions import Sessions
from ctxcli.storage import sessions as files
from ctxcli.text.analyzer import Analyzer

ADDED = st.tuples(
    st.just("add"),
    st.integers(1, 6),
    st.sampled_from(["The pressure of pump {} is 12 bar.", "第 {} 号泵的压力是 12 巴。", "ok", "Why? " * 30]),
)
SHOWN = st.tuples(st.just("show"), st.sampled_from(POLICIES), st.integers(10, 900))
COMPACTED = st.tuples(st.just("compact"), st.integers(0, 5), st.booleans())
BY_HAND = st.tuples(st.just("hand"), st.sampled_from(["no json", '{"role":"user","content":"x"}', "", '{"id":"a"}']))
STEPS = st.lists(st.one_of(ADDED, ADDED, SHOWN, COMPACTED, BY_HAND), max_size=14)


def sessions() -> Sessions:
    folder = Path(tempfile.mkdtemp())
    (folder / ".ctx").mkdir()
    found = Sessions(workspaces.find(folder))
    found.new("s")
    return found


def lines(found: Sessions) -> list[bytes]:
    return [data for end in (files.ARCHIVE, files.ENDING) for _, _, data in files.lines(found.folder, "s", ending=end)]


@settings(max_examples=60, deadline=None)
@given(steps=STEPS)
def test_each_message_is_summarised_exactly_once_and_no_line_is_lost(steps: list[Any]) -> None:
    found = sessions()
    path = found.folder / "s.jsonl"
    written: list[bytes] = []
    number = 0
    for step in steps:
        if step[0] == "add":
            for _ in range(step[1]):
                role = "assistant" if number % 2 else "user"
                stored = found.add("s", Message(role, step[2].format(number)))
                written.append(json.dumps(stored.fields(), ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
                number += 1
        elif step[0] == "hand":
            with path.open("a") as handle:
                handle.write(step[1] + "\n")
            written += [f"{step[1]}\n".encode()] if step[1] else []
        elif step[0] == "compact":
            found.compact("s", keep=step[1], dry_run=step[2])
        else:
            before = {one.name: one.read_bytes() for one in found.folder.iterdir()}
            assert_shown(found, step[1], step[2])
            assert {one.name: one.read_bytes() for one in found.folder.iterdir()} == before
        assert sorted(lines(found)) == sorted(written)
    archived = found.remembered("s")
    in_archive = [read for data in lines(found) if (read := message(data))]
    assert archived.archive.messages + len(found.conversation("s").messages) == len(in_archive)
    entry = found.entry("s")
    assert entry.messages + entry.archived == len(in_archive)
    assert entry.problems == len([data for data in lines(found) if not message(data)]) - broken_archived(found)


def broken_archived(found: Sessions) -> int:
    return sum(message(data) is None for _, _, data in files.lines(found.folder, "s", ending=files.ARCHIVE))


def message(data: bytes) -> Message | None:
    try:
        return read_line(data)
    except Exception:
        return None


def assert_shown(found: Sessions, policy: Any, limit: int) -> None:
    try:
        shown = found.view("s", policy, Limits(limit=limit, keep=1), query="pump 泵")
    except UsageError as error:
        assert error.code == "over_budget"
        return
    if policy in SUMMARISING:
        assert shown.tokens <= limit
    kept = [one for one in shown.messages if one.id]
    archived = found.remembered("s").archive.messages
    whole = len(found.conversation("s").messages)
    if policy in SUMMARISING:
        assert shown.summarised + len(kept) == archived + whole
    elif policy == "full":
        assert len(kept) == whole
        assert shown.summarised == archived


@pytest.mark.parametrize("step", range(4))
@pytest.mark.parametrize("texts", [("pump {} is fine", "yes {}"), ("第 {} 号泵", "好，{}")])
def test_a_compaction_that_is_broken_off_loses_and_doubles_nothing(
    step: int, texts: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = sessions()
    for number in range(20):
        found.add("s", Message("user", texts[0].format(number)))
        found.add("s", Message("assistant", texts[1].format(number)))
    found.compact("s", keep=15)
    names = ("append", "replace_lines", "write_memory")
    if step < 3:
        monkeypatch.setattr(files, names[step], stop)
    with monkeypatch.context() as patched:
        if step == 3:  # a write that got only half of the way
            archive = found.folder / "s.archive.jsonl"
            moved = (found.folder / "s.jsonl").read_bytes()
            archive.write_bytes(archive.read_bytes() + moved[: len(moved) // 3])
        else:
            patched.setattr(files, names[step], stop)
            with pytest.raises(KeyboardInterrupt):
                found.compact("s", keep=4)
    monkeypatch.undo()
    shown = found.view("s", "full", Limits())
    assert shown.summarised + len(shown.messages) - 1 == 40
    entry = found.entry("s")
    assert entry.messages + entry.archived == 40
    found.add("s", Message("user", "more"))
    found.compact("s", keep=2)
    shown = found.view("s", "full", Limits())
    assert shown.summarised + len(shown.messages) - 1 == 41
    assert len(lines(found)) == len(set(lines(found))) == 41
    assert len(found.recall("s", texts[0].format(3), k=50)) == 20


def stop(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


WORDS = st.one_of(
    st.sampled_from(
        "pumps pumping happy happily dying lying skies ties keys primaryKey HTTPServer pool_size v2.1 6.3.2 1,000 "
        "e\u0301t\u00e9 "
        "泵 水泵 压力 壓力 ＡＣＣＴ－９９ naïve a/b C++ path\\new x\ty 中文key 2nd привет Straße ﬁle".split()
    ),
    st.text(max_size=6),
)
SAID = st.lists(WORDS, max_size=8).map(" ".join)


@settings(max_examples=150, deadline=None)
@given(
    talk=st.lists(SAID, min_size=1, max_size=8),
    query=SAID.filter(lambda text: bool(text.strip())),
    ascii_=st.booleans(),
)
@example(talk=["¨"], query="¨", ascii_=False)
@example(talk=["1,000"], query="1,000", ascii_=False)
@example(talk=["1,000 pumps"], query="1000", ascii_=False)
def test_passing_over_lines_unread_changes_no_result(talk: list[str], query: str, ascii_: bool) -> None:
    found = sessions()
    rows = [
        {"id": f"m{n}", "at": "2025-01-01", "role": "user" if n % 2 else "assistant", "content": text or "-"}
        for n, text in enumerate(talk, 1)
    ]
    text = "".join(json.dumps(row, ensure_ascii=ascii_, separators=(",", ":")) + "\n" for row in rows)
    (found.folder / "s.jsonl").write_bytes(text.encode("utf-8", "replace"))
    quick = found.recall("s", query, k=50)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ranking.Finder, "may_hold", lambda *_: True)
        assert found.recall("s", query, k=50) == quick


SUFFIXES = (
    "s es ed ing ly y ies ied er est ness ment ation ational izer ization fulness ousness iviti able ible al ical ance"
).split()
ROOTS = (
    "d l t sk hop relat sensib ration general commun arsen inn out cann herr earr proc exc succ idl gentl ugl earl onl "
    "pump press valv stud appl happ creat activ narrat possibil analys normal"
).split()


def test_every_word_is_recognised_by_what_its_stem_begins_with() -> None:
    analyzer = Analyzer()
    for root in ROOTS:
        for word in (root, *(root + suffix for suffix in SUFFIXES), root + "ying"):
            for term in analyzer.terms(word).split():
                finder: Finder[int] = Finder(word)
                for other in (root + suffix for suffix in SUFFIXES):
                    if term in analyzer.terms(other).split():
                        assert finder.may_hold(other), (word, other)
                        assert finder.may_hold(f'"content":"x\\n{other.capitalize()}"')
