"""Questions that ask two things: how much, and when."""

import re

from ctxcli.text.question import Language

_ASKS: dict[Language, str] = {
    "en": (
        r"\b(?:how|what|who|whom|whose|which|why)\b|\b(?:when|where)\s+(?:is|are|was|were|do|does|did|has|have|had|can"
        r"|could|may|must|shall|should|will|would)\b"
    ),
    "zh": r"[什甚怎][么麼样樣]|如何|多[少大长長久高远遠快重宽寬]|[几幾谁誰哪吗嗎]|何[时時地处處人]|[为為]何|是否",
}
_JOINS: dict[Language, str] = {
    "en": r"\s*(?:[;?]|,(?!\s*(?:which|who|whom|whose)\b))\s*(?:and\s+)?"
    r"|\s+and\s+(?=(?:how|what|when|where|who|whom|whose|which|why)\b)",
    "zh": r"\s*[，,；;？?。]\s*|以及|还有|還有|(?<=[少久时時么麼])和",
}
_MARKS = tuple(", ; ? ， ； ？ 。 and AND 以及 还有 還有 和".split())
_POINTS_BACK: dict[Language, str] = {
    "en": r"\b(?:it|its|they|them|their|he|his|him|she|her|this|that|these|those|one|ones)\b",
    "zh": r"[它其他她这這那]|(?<![应應])[该該]",
}


def parts_of(text: str, language: Language) -> tuple[str, str] | None:
    """The two questions that a text asks; None where it asks one, or more, or where the second points back.

    What asks nothing itself belongs to the question after it: ``when it rains, what is closed``. What says more of a
    thing belongs to the question before: ``what is the port of the portal, which runs on Alder``.
    """
    text = text.rstrip("?？。. ")
    if not any(mark in text for mark in _MARKS):
        return None  # nearly all questions; the patterns are slow to compile
    groups: list[str] = []
    open_group = ""
    for segment in re.split(_JOINS[language], text, flags=re.IGNORECASE):
        if not segment.strip():
            continue
        open_group = f"{open_group}, {segment}" if open_group else segment
        if re.search(_ASKS[language], segment, re.IGNORECASE):
            groups.append(open_group)
            open_group = ""
    if len(groups) != 2 or open_group or re.search(_POINTS_BACK[language], groups[1], re.IGNORECASE):
        return None
    return groups[0], groups[1]
