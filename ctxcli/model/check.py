"""Documentation tests: questions with what their answers must hold; the values behind `ctx check`."""

from dataclasses import dataclass
from typing import Any

from ctxcli.model.answer import Answer


@dataclass(frozen=True, slots=True)
class DocTest:
    """A question and what is expected; what is not said is "" or None, `contains` are words of the answer.

    `line` is where it begins in its file, from 1.
    """

    question: str
    line: int
    kb: tuple[str, ...] = ()
    doc: str = ""
    section: str = ""
    page: int | None = None
    contains: tuple[str, ...] = ()
    declined: bool = False


@dataclass(frozen=True, slots=True)
class CheckedTest:
    """A test that was run. `problems` say what was not as expected, `stage` which stage lost the passage."""

    test: DocTest
    answer: Answer
    problems: tuple[str, ...]
    stage: str = ""
    why: str = ""

    @property
    def passed(self) -> bool:
        """Whether all was as expected."""
        return not self.problems


@dataclass(frozen=True, slots=True)
class CheckReport:
    """All tests of a file, in order."""

    tests: tuple[CheckedTest, ...]

    @property
    def failed(self) -> int:
        """How many did not pass."""
        return sum(not one.passed for one in self.tests)

    def document(self) -> dict[str, Any]:
        """`ctx/check/1`."""
        return {
            "schema": "ctx/check/1",
            "passed": len(self.tests) - self.failed,
            "failed": self.failed,
            "tests": [_row(one) for one in self.tests],
        }


def _row(one: CheckedTest) -> dict[str, Any]:
    row: dict[str, Any] = {"question": one.test.question, "line": one.test.line, "passed": one.passed}
    if one.problems:
        row["problems"] = list(one.problems)
    if one.stage:
        row["stage"] = one.stage
        row["why"] = one.why
    citations = [{"doc": c.doc, "section": c.section, "page": c.page} for c in one.answer.citations]
    row["got"] = {
        "declined": one.answer.declined,
        "score": one.answer.score,
        "answer": one.answer.text,
        "citations": citations,
    }
    return row
