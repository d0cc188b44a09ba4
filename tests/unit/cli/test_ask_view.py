"""Answers as text."""

from dataclasses import replace

import pytest

from ctxcli.cli.ask_view import as_text, place
from ctxcli.model.answer import Answer, Passage

PASSAGE = Passage(
    "default", "a.pdf", "A", "5.2", "Power", (), "", 6, 6, None, None, None, "Words.", "Words.", "k", 0.5, ""
)


@pytest.mark.parametrize(
    ("page_end", "label", "language", "shown"),
    [
        (6, None, "en", "p. 6"),
        (7, None, "en", "pp. 6–7"),
        (7, "3", "en", "pp. 6–7 (printed 3)"),
        (None, None, "en", "p. 6"),
        (6, "iii", "zh", "第 6 页 (印作 iii)"),
        (7, None, "zh", "第 6–7 页"),
    ],
)
def test_a_quote_over_two_pages_names_both(page_end: int | None, label: str | None, language: str, shown: str) -> None:
    passage = replace(PASSAGE, page_end=page_end, page_label=label)
    assert place(passage, language) == f"a.pdf · §5.2 Power · {shown}"


def test_chinese_has_its_own_colon() -> None:
    answer = Answer("q", "zh", "话。 [1]", None, 0.5, 0.4, (PASSAGE,), (), None, (), 1.0)
    assert "来源：[1] a.pdf" in as_text(answer, cite=False)
    declined = replace(answer, text=None, reason="below_threshold", citations=(), nearest=(PASSAGE,))
    assert "\n最接近的位置：\n" in as_text(declined, cite=False)
    assert "\nNearest places:\n" in as_text(replace(declined, language="en"), cite=False)
