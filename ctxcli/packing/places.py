"""Where a passage stands, in one line, as `ctx ask` cites it."""

from ctxcli.model.answer import Passage
from ctxcli.text.question import Language

_WORDS = {
    "en": {"page": "p. {}", "pages": "pp. {}–{}", "printed": "printed {}", "line": "line {}", "lines": "lines {}–{}"},
    "zh": {
        "page": "第 {} 页",
        "pages": "第 {}–{} 页",
        "printed": "印作 {}",
        "line": "第 {} 行",
        "lines": "第 {}–{} 行",
    },
}


def place(passage: Passage, language: Language) -> str:
    """Where a passage stands: file · §number heading · page or lines."""
    words = _WORDS[language]
    parts = [passage.doc]
    if passage.section:
        parts.append(f"§{passage.section} {passage.heading or ''}".rstrip())
    elif passage.heading:
        parts.append(passage.heading)
    if passage.page is not None:
        one = passage.page_end in {None, passage.page}
        page = words["page" if one else "pages"].format(passage.page, passage.page_end)
        printed = passage.page_label if passage.page_label and passage.page_label != str(passage.page) else ""
        parts.append(f"{page} ({words['printed'].format(printed)})" if printed else page)
    elif passage.line_start is not None:
        one = passage.line_end in {None, passage.line_start}
        parts.append(words["line" if one else "lines"].format(passage.line_start, passage.line_end))
    return " · ".join(parts)
