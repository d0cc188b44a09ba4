"""Extractive summaries: the sentences of a conversation that carry most, in the speakers' own words."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from ctxcli.packing.compress import sentences
from ctxcli.packing.turns import Turn
from ctxcli.text.question import Language

Kind = Literal["confirmed", "ruled_out", "open", "said"]
A_TURN = 3
"""Sentences taken from a turn at most."""
_LOOKED_AT = 6_000
"""Characters of a message that are looked at, first and last."""
_LONGEST = 240
BY_MODEL = "model"
"""What the source of a sentence begins with that a model has written."""
_LEAST = 4
"""Tokens below which no sentence fits."""
_OPEN = re.compile(
    r"[?？]\s*$|\b(?:to ?do|tbd|pending|unclear|unknown|open question|not sure)\b"
    r"|\bneeds? to (?:check|confirm|find out)\b"
    r"|待(?:定|办|确认|查|解决)|需要?确认|尚不清楚|不确定|未知|悬而未决",
    re.IGNORECASE,
)
_RULED_OUT = re.compile(
    r"\b(?:ruled out|rejected|abandon(?:ed)?|discard(?:ed)?|won't|will not|does(?: not|n't)|did(?: not|n't)|"
    r"cannot|can't|is not|isn't|are not|aren't|was not|wasn't|no longer|fail(?:ed|s)?|instead of)\b"
    r"|排除|否决|放弃|不采用|不用|不再|不是|并非|不行|不能|失败|无效|不可行",
    re.IGNORECASE,
)
_CONFIRMED = re.compile(
    r"\d|\b(?:confirmed|decided|agreed|conclusion|result|default|must|always|is set to|chosen|we use|use)\b"
    r"|[一二三四五六七八九十百千万两]+[个项条次天年月日台人倍]|确认|决定|确定|结论|结果|默认|必须|采用|选择|同意|是因为|原因是",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"^(?:ok(?:ay)?|thanks?(?: you)?|sure|yes|no|hi|hello|great|好的?|谢谢|嗯|你好|收到|明白|可以)[\s!！.。,，~]*$",
    re.IGNORECASE,
)
_OF_ROLE = {"user": 1.0, "assistant": 0.8, "tool": 0.4, "function": 0.4}
_OF_KIND: dict[Kind, float] = {"confirmed": 1.5, "ruled_out": 1.3, "open": 1.0, "said": 0.3}


@dataclass(frozen=True, slots=True)
class Extract:
    """A sentence taken over word for word. `source` says who said it in which message; `score` is unitless."""

    text: str
    kind: Kind
    source: str
    score: float


def extracts_of(turn: Turn, *, most: int = A_TURN) -> list[Extract]:
    """The sentences of a turn that carry most, in order."""
    found: list[Extract] = []
    for number, message in enumerate(turn.messages):
        text = message.content
        answered = message.role == "user" and any(one.role == "assistant" for one in turn.messages[number + 1 :])
        if len(text) > _LOOKED_AT:
            text = f"{text[: _LOOKED_AT * 2 // 3]}\n{text[-_LOOKED_AT // 3 :]}"
        source = f"{message.role} {message.id}".strip()
        for at, part in enumerate(sentences(text)):
            bare = " ".join(part.split())
            if len(bare) < 2 or _EMPTY.match(bare):
                continue
            kind = kind_of(bare)
            if kind == "open" and answered and bare.endswith(("?", "？")):
                kind = "said"
            score = _OF_ROLE.get(message.role, 0.5) * (_OF_KIND[kind] + (0.3 if at == 0 else 0.0))
            found.append(Extract(_cut(bare), kind, source, round(score, 3)))
    order = sorted(range(len(found)), key=lambda at: (-found[at].score, at))[:most]
    return [found[at] for at in sorted(order)]


def kind_of(sentence: str) -> Kind:
    """What a sentence does: asks, rules out, states a fact or a number, or just says something."""
    if _OPEN.search(sentence):
        return "open"
    if _RULED_OUT.search(sentence):
        return "ruled_out"
    return "confirmed" if _CONFIRMED.search(sentence) else "said"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def best(extracts: Sequence[Extract], most: int) -> tuple[Extract, ...]:
    """The best extracts, in order, each text once; newer ones win ties."""
    first: dict[str, Extract] = {}
    for one in extracts:
        first.setdefault(one.text, one)
    kept = list(first.values())
    order = sorted(range(len(kept)), key=lambda at: (-kept[at].score, -at))[:most]
    return tuple(kept[at] for at in sorted(order))


def within(extracts: Sequence[Extract], *, room: int, size: Callable[[Extract], int]) -> tuple[Extract, ...]:
    """The best extracts that fit into `room` tokens, in order, each text once; newer ones win ties."""
    kept = best(extracts, len(extracts))
    chosen, left = [], room
    for at in sorted(range(len(kept)), key=lambda at: (-kept[at].score, -at)):
        if left < _LEAST:
            break
        needed = size(kept[at])
        if needed <= left:
            chosen.append(at)
            left -= needed
    return tuple(kept[at] for at in sorted(chosen))


_HEADS: dict[Language, tuple[str, str, str]] = {
    "en": (
        "[Extractive summary of {}]",
        "[Summary of {}, in part written by a model, in part extractive]",
        "[Summary of {}, written by a model]",
    ),
    "zh": ("[前 {}的摘录式摘要]", "[前 {}的摘要，部分由模型撰写，部分为摘录]", "[前 {}的摘要，由模型撰写]"),
}
"""What a summary is called that no line, some lines, all lines of are by a model."""
_PARTS: dict[str, dict[Kind, str]] = {
    "en": {"confirmed": "Confirmed:", "ruled_out": "Ruled out:", "open": "Open questions:", "said": "Also said:"},
    "zh": {"confirmed": "已确认：", "ruled_out": "已排除：", "open": "待解决：", "said": "其他："},
}


def summary_text(extracts: Sequence[Extract], language: Language, *, messages: int, structured: bool = False) -> str:
    """A summary as text with its own words in `language`, marked as what it is.

    `structured` parts it into confirmed, ruled out and open. What belongs to none of them is shown only where there is
    nothing else.
    """
    by_model = sum(one.source.startswith(BY_MODEL) for one in extracts)
    head = _HEADS[language][(by_model > 0) + (by_model == len(extracts) > 0)].format(_messages(messages, language))
    if not structured:
        return "\n".join([head, *(f"- {one.text}" for one in extracts)])
    lines = [head]
    has_parts = any(one.kind != "said" for one in extracts)
    for kind, title in _PARTS[language].items():
        rows = [one for one in extracts if one.kind == kind and (kind != "said" or not has_parts)]
        if rows:
            lines += [title, *(f"- {one.text} ({one.source})" for one in rows)]
    return "\n".join(lines)


def _messages(number: int, language: Language) -> str:
    if language == "zh":
        return f"{number} 条消息"
    return f"{number} earlier message{'' if number == 1 else 's'}"
