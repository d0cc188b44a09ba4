"""`ctx check`: documentation tests for continuous integration."""

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctxcli.cli.options import AsJson, Quiet, WorkspaceDir
from ctxcli.cli.output import emit_json, end
from ctxcli.model.errors import DataError, ExitCode, NotFoundError

if TYPE_CHECKING:
    from ctxcli.cli.screen import Screen
    from ctxcli.model.check import CheckReport

_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def check(
    tests: Annotated[str, typer.Argument(metavar="TESTS.yml", help="Questions and what is expected; - for stdin.")],
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the results as JUnit XML.")] = None,
    threshold: Annotated[float | None, typer.Option(min=0, max=1, help="Decline below this score.")] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    workspace: WorkspaceDir = None,
) -> None:
    """Ask the questions of TESTS.yml and compare the answers with what is expected; exit 4 when one fails."""
    from ctxcli.parsing.doc_tests import read_doc_tests
    from ctxcli.services import checking
    from ctxcli.services.asking import Asking

    def asking_for(kb: tuple[str, ...]) -> Asking:
        return Asking.of(workspace=workspace, kb=kb, threshold=threshold)

    report = checking.run_tests(read_doc_tests(_read(tests), name=tests), asking_for)
    if junit:
        _write_junit(report, junit, name=tests)
    if as_json:
        emit_json(report.document())
    else:
        from ctxcli.cli.screen import Screen

        _show(report, Screen(sys.stdout), quiet=quiet)
    if report.failed:
        end(ExitCode.DECLINED)


def _read(name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{name}: not UTF-8 ({error})", code="bad_tests", hint="save the file as UTF-8") from None
    except OSError as error:
        raise NotFoundError(f"{name}: {error.strerror}", code="file_not_found", hint="name a file of tests") from None


def _write_junit(report: "CheckReport", target: Path, *, name: str) -> None:
    from xml.etree import ElementTree

    from ctxcli.storage.files import atomic_write

    name = _for_xml(name)
    suite = ElementTree.Element(
        "testsuite", name=name, tests=str(len(report.tests)), failures=str(report.failed), errors="0"
    )
    for one in report.tests:
        case = ElementTree.SubElement(
            suite, "testcase", classname=name, name=_for_xml(one.test.question), file=name, line=str(one.test.line)
        )
        if not one.passed:
            stage = f"\n{one.stage}: {one.why}" if one.stage else ""
            failure = ElementTree.SubElement(case, "failure", message=_for_xml("; ".join(one.problems)))
            failure.text = _for_xml("\n".join(one.problems) + stage)
    try:
        atomic_write(target, ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True))
    except OSError as error:
        raise DataError(f"{target}: {error.strerror}", code="unwritable", hint="name another file") from error


def _for_xml(text: str) -> str:
    """The text without the characters that XML cannot hold at all: they are shown as ``\\x1b``."""
    return _NOT_IN_XML.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def _show(report: "CheckReport", screen: "Screen", *, quiet: bool) -> None:
    for one in report.tests:
        if one.passed and quiet:
            continue
        mark, style = ("ok", "green") if one.passed else ("FAILED", "red")
        screen.line(f"{mark:7}{one.test.question}", style=style)
        for problem in one.problems:
            screen.line(f"         {problem}")
        if one.stage:
            screen.line(f"         {one.stage.replace('_', ' ')}: {one.why}")
    screen.line(f"{len(report.tests) - report.failed} passed, {report.failed} failed", style="bold")
