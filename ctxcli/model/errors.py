"""The errors a user can meet, and the exit codes of the command line.

    CtxError                 a user's mistake, a bad file or a missing service
    ├── UsageError           2   unknown option, bad value, missing argument
    ├── NotFoundError        3   the named thing does not exist or is ambiguous
    ├── DataError            5   an index or a config that cannot be used
    │   └── ParseError       5   a document that cannot be read (a run goes on: 7)
    ├── BusyError            6   a lock not had in time, or a file changed meanwhile
    └── ServiceError         8   a model or engine that failed or is not configured

Anything else that reaches the command line is a bug and keeps its traceback.
"""

from enum import IntEnum


class ExitCode(IntEnum):
    """What the process returns; the same for every command."""

    OK = 0
    BUG = 1
    USAGE = 2
    NOT_FOUND = 3
    DECLINED = 4
    DATA = 5
    BUSY = 6
    PARTIAL = 7
    SERVICE = 8
    INTERRUPTED = 130


class CtxError(Exception):
    """Something the user can mend.

    `code` is a stable name for programs (``note_not_found``), `message` says what is
    wrong and where, `hint` what to do about it.
    """

    exit_code = ExitCode.DATA

    def __init__(self, message: str, *, code: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint


class UsageError(CtxError):
    """A wrong option, value or argument."""

    exit_code = ExitCode.USAGE

    def __init__(self, message: str, *, code: str = "usage", hint: str = "") -> None:
        super().__init__(message, code=code, hint=hint)


class NotFoundError(CtxError):
    """The named thing does not exist, or more than one thing bears the name."""

    exit_code = ExitCode.NOT_FOUND


class DataError(CtxError):
    """Data that cannot be used: a damaged index, a broken config."""


class ParseError(DataError):
    """A document that cannot be read; `code` names the reason (``encrypted``)."""


class BusyError(CtxError):
    """A lock not had in time, or a file that changed meanwhile; nothing is lost."""

    exit_code = ExitCode.BUSY


class ServiceError(CtxError):
    """A model, embedding or search service that failed or is not configured."""

    exit_code = ExitCode.SERVICE


def error_document(code: str, message: str, hint: str = "") -> dict[str, object]:
    """``ctx/error/1``: what programs and agents are told of an error."""
    return {"schema": "ctx/error/1", "error": {"code": code, "message": message, "hint": hint}}
