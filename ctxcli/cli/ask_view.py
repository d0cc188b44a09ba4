"""An answer as text: for people on a terminal, and as Markdown."""

from collections.abc import Iterator

from ctxcli.cli.output import visible
from ctxcli.cli.wrapping import columns, wrapped
from ctxcli.model.answer import Answer, Passage
from ctxcli.packing.places import place as place_of
from ctxcli.text.question import Language

_WORDS = {
    "en": {
        "colon": ": ",
        "sources": "Sources",
        "nearest": "Nearest places",
        "stale": "changed since it was indexed",
        "no_match": "No answer: nothing in the documents matches the question.",
        "below_threshold": "No answer: the documents do not seem to say (score {score:.2f}, needed {threshold:.2f}).",
        "unverified": "No answer: no citation could be verified.",
        "empty_kb": "No answer: the knowledge base holds no documents.",
        "conflict": "These places disagree.",
    },
    "zh": {
        "colon": "：",
        "sources": "来源",
        "nearest": "最接近的位置",
        "stale": "建立索引后已更改",
        "no_match": "无法回答：文档中没有与问题相符的内容。",
        "below_threshold": "无法回答：文档似乎没有说明（得分 {score:.2f}，需要 {threshold:.2f}）。",
        "unverified": "无法回答：没有一条引文通过核对。",
        "empty_kb": "无法回答：知识库中没有文档。",
        "conflict": "这些出处互相矛盾。",
    },
}


def as_text(answer: Answer, *, cite: bool, colour: bool = False, width: int | None = None) -> str:
    """The answer with its sources: a line of them, or with `cite` a block each with the quote.

    What comes from documents is shown without control characters; `colour` adds those of a terminal of `width` columns.
    """
    bold, dim = ("\x1b[1m{}\x1b[0m", "\x1b[2m{}\x1b[0m") if colour else ("{}", "{}")
    words = _WORDS[answer.language]
    if answer.text is None:
        return "\n".join(_refusal(answer, bold=bold, width=width))
    lines = [*_folded(visible(answer.text), width), ""]
    if any(passage.conflict for passage in answer.citations):
        lines += [words["conflict"], ""]
    if cite:
        for number, passage in enumerate(answer.citations, 1):
            lines.append(bold.format(f"[{number}] {place(passage, answer.language)}"))
            lines += [dim.format(line) for line in _folded(visible(passage.quote), width, indent="    ")]
    else:
        lines += [dim.format(line) for line in _sources(answer, width)]
    return "\n".join(lines)


def _folded(text: str, width: int | None, *, indent: str = "") -> Iterator[str]:
    return (line for row in text.split("\n") for line in wrapped(f"{indent}{row}", width))


def _sources(answer: Answer, width: int | None) -> Iterator[str]:
    """All sources in a line; where a terminal has no room for that, one a line."""
    words = _WORDS[answer.language]
    places = [f"[{n}] {place(passage, answer.language)}" for n, passage in enumerate(answer.citations, 1)]
    line = f"{words['sources']}{words['colon']}{'; '.join(places)}"
    if width is None or columns(line) <= width:
        yield line
        return
    yield f"{words['sources']}{words['colon']}".rstrip()
    for one in places:
        yield from wrapped(f"  {one}", width, hang=6)


def _refusal(answer: Answer, *, bold: str, width: int | None = None) -> Iterator[str]:
    words = _WORDS[answer.language]
    assert answer.reason is not None
    said = words[answer.reason].format(score=answer.score, threshold=answer.threshold)
    yield from (bold.format(line) for line in wrapped(said, width))
    if answer.nearest:
        yield f"{words['nearest']}{words['colon']}".rstrip()
        for passage in answer.nearest:
            yield from wrapped(f"  {place(passage, answer.language)}", width, hang=4)


def as_markdown(answer: Answer, *, cite: bool) -> str:
    """The answer as Markdown, sources as a numbered list, quotes as block quotes."""
    words = _WORDS[answer.language]
    if answer.text is None:
        refusal = list(_refusal(answer, bold="**{}**"))
        return "\n".join([refusal[0], "", *[line.replace("  ", "- ", 1) for line in refusal[1:]]])
    lines = [visible(answer.text), "", f"**{words['sources']}**", ""]
    for number, passage in enumerate(answer.citations, 1):
        lines.append(f"{number}. {place(passage, answer.language)}")
        if cite:
            lines += ["", *[f"   > {line}" for line in visible(passage.quote).splitlines()], ""]
    return "\n".join(lines).rstrip()


def place(passage: Passage, language: Language) -> str:
    """Where a passage stands, in one line, and whether its file has changed since."""
    where = place_of(passage, language)
    return visible(f"{where} · ({_WORDS[language]['stale']})" if passage.stale else where)


def evidence_lines(answer: Answer, width: int | None) -> Iterator[str]:
    """The ranked chunks, a line each, or more where a terminal of `width` columns has no room for that."""
    for rank, passage in enumerate(answer.evidence, 1):
        yield from wrapped(f"{rank:2}. {passage.score:.2f}  {place(passage, answer.language)}", width, hang=10)
