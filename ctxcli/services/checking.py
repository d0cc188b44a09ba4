"""Documentation tests: ask each question and compare the answer with what is expected."""

from collections.abc import Callable, Iterator, Sequence

from ctxcli.model.answer import Answer, Passage
from ctxcli.model.check import CheckedTest, CheckReport, DocTest
from ctxcli.parsing.places import is_within
from ctxcli.services.asking import Asking
from ctxcli.services.explanation import explain
from ctxcli.storage.doc_glob import doc_matcher
from ctxcli.text.comparing import as_compared


def run_tests(tests: Sequence[DocTest], asking_for: Callable[[tuple[str, ...]], Asking]) -> CheckReport:
    """Run the tests in order; `asking_for` opens the knowledge bases that a test names (none: all)."""
    opened: dict[tuple[str, ...], Asking] = {}
    checked = []
    for test in tests:
        if test.kb not in opened:
            opened[test.kb] = asking_for(test.kb)
        checked.append(_check(test, opened[test.kb]))
    return CheckReport(tuple(checked))


def _check(test: DocTest, asking: Asking) -> CheckedTest:
    answer = asking.ask(test.question)
    problems = tuple(_problems(test, answer))
    if not problems or test.declined or not test.doc:
        return CheckedTest(test, answer, problems)
    wanted = f"{test.doc}#{test.section}" if test.section else test.doc
    expected = explain(asking.knowledge, test.question, threshold=asking.threshold, expect=wanted).expected
    if expected is None or expected.stage == "shown":
        return CheckedTest(test, answer, problems)
    return CheckedTest(test, answer, problems, expected.stage, expected.why)


def _problems(test: DocTest, answer: Answer) -> Iterator[str]:
    if test.declined:
        if not answer.declined:
            yield f"answered (score {answer.score:.2f}), a refusal was expected"
        return
    if answer.declined:
        yield f"declined (score {answer.score:.2f}, threshold {answer.threshold:.2f})"
        return
    if not any(_cites(test, passage) for passage in answer.citations):
        cited = "; ".join(_place(passage) for passage in answer.citations)
        yield f"not cited as expected, but: {cited}"
    shown = as_compared(answer.text or "")
    for words in test.contains:
        if as_compared(words) not in shown:
            yield f"the answer does not hold {words!r}"


def _cites(test: DocTest, passage: Passage) -> bool:
    """Whether one citation has document, section and page as expected."""
    if test.doc and not (doc_matcher(test.doc)(passage.doc) or passage.doc.endswith(f"/{test.doc}")):
        return False
    if test.section and not _in_section(test.section, passage):
        return False
    first, last = passage.page, passage.page_end or passage.page
    return test.page is None or (first is not None and last is not None and first <= test.page <= last)


def _in_section(wanted: str, passage: Passage) -> bool:
    """Whether a passage stands in a section with that number (or one below it) or with that heading."""
    return is_within(wanted, number=passage.section, heading=passage.heading, path=passage.heading_path)


def _place(passage: Passage) -> str:
    section = f" §{passage.section}" if passage.section else f" {passage.heading}" if passage.heading else ""
    return f"{passage.doc}{section}{f' p. {passage.page}' if passage.page else ''}"
