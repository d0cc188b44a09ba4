"""The use case behind `ctx tokens`: texts and messages counted."""

from collections.abc import Callable, Sequence
from contextlib import suppress

from ctxcli.model.errors import DataError, NotFoundError, ParseError
from ctxcli.model.tokens import FileTokens, TokenCount
from ctxcli.text.bpe import BULK
from ctxcli.text.tokens import PRIMING, TokenCounter, estimate


def count_files(
    paths: Sequence[str],
    read_stdin: Callable[[], bytes],
    *,
    model: str | None = None,
    messages: bool = False,
    estimated: bool = False,
) -> TokenCount:
    """Count the tokens of files (``-``: standard input), as texts or as lists of messages."""
    counter = TokenCounter(model)
    loaded = [(path, read_stdin() if path == "-" else read_file(path)) for path in paths]
    size = sum(len(data) for _, data in loaded)
    if size >= 2 * BULK and not estimated:
        counter.expect(size)
    count = estimate if estimated else counter.count
    files = []
    for name, data in loaded:
        tokens = _messages(data, name, counter, count) if messages else count(text_of(data, name))
        files.append(FileTokens(name, tokens))
    total = sum(one.tokens for one in files)
    return TokenCount(total, counter.encoding, model, counter.exact and not estimated, tuple(files))


def _messages(data: bytes, name: str, counter: TokenCounter, count: Callable[[str], int]) -> int:
    from ctxcli.parsing.messages import read_messages

    found = read_messages(data, name=name)
    if count == counter.count:
        return counter.count_messages(found)
    plain = (text for one in found for text in (one.role, one.content, *(call.arguments for call in one.tool_calls)))
    return PRIMING + 3 * len(found) + sum(map(count, plain))


def read_file(path: str) -> bytes:
    """The bytes of a file that a command names; NotFoundError or DataError."""
    try:
        with open(path, "rb") as handle:  # noqa: PTH123 - pathlib is slow to load
            return handle.read()
    except FileNotFoundError as error:
        raise NotFoundError(f"{path}: no such file", code="file_not_found", hint="check the path") from error
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise DataError(f"{path}: {why}", code="unreadable", hint="name a file that can be read") from error


def text_of(data: bytes, name: str) -> str:
    """The text of a file, line ends as they are; ParseError where it is none."""
    if b"\0" not in data and not data.startswith(b"\xef\xbb\xbf"):
        with suppress(UnicodeDecodeError):
            return data.decode()
    from ctxcli.text.encoding import decode, is_binary

    if is_binary(data):
        raise ParseError(f"{name} is no text", code="binary", hint="name a text file")
    return decode(data).text
