"""A proposal for front matter that cannot be read: the offending lines quoted, nothing else different."""

import re

from ctxcli.parsing import yaml_text
from ctxcli.parsing.front_matter import BrokenError, Span, find, lines, read, read_yaml

_KEYED = re.compile(r"([^\s#:\-'\"][^:\r\n]*):([ \t]+)(.*?)[ \t]*\Z")
_ITEM = re.compile(r"([ \t]*-[ \t]+)(.*?)[ \t]*\Z")
_HEADLINE = re.compile(r"[^\s#:][^:\r\n]*:(?:\s|\Z)|[ \t]*-[ \t]|[ \t]+\S|#|\Z")


def mend(text: str) -> str | None:
    """The text with front matter that can be read, or None where no safe proposal is known."""
    span = find(text)
    if not span.present:
        return None
    if not span.closed:
        text = _closed(text, span)
        span = find(text)
    block = text[span.block : span.block_end]
    mended = [_mended(line) for line in lines(block)]
    new = text[: span.block] + "".join(_without_doubles(mended)) + text[span.block_end :]
    return new if read(new, find(new)).problem is None and find(new).present else None


def _closed(text: str, span: Span) -> str:
    """The text with the missing fence below the last line that looks like front matter."""
    end = at = span.block
    for line in lines(text[span.block :]):
        bare = line.rstrip("\r\n")
        if not bare or not _HEADLINE.match(bare):
            break
        at += len(line)
        end = at
    joint = "" if text[:end].endswith(("\n", "\r")) else span.newline
    return f"{text[:end]}{joint}---{span.newline}{text[end:]}"


def _mended(line: str) -> str:
    bare = line.rstrip("\r\n")
    ending = line[len(bare) :]
    indent = bare[: len(bare) - len(bare.lstrip(" \t"))]
    bare = indent.replace("\t", "  ") + bare[len(indent) :]
    if (keyed := _KEYED.match(bare)) and keyed[3] and not _is_fine(bare):
        return f"{keyed[1]}:{keyed[2]}{yaml_text.quoted(_bare(keyed[3]))}{ending}"
    if (item := _ITEM.match(bare)) and item[2] and not _is_fine(f"x:\n{bare}"):
        return f"{item[1]}{yaml_text.quoted(_bare(item[2]))}{ending}"
    return bare + ending


def _is_fine(line: str) -> bool:
    """Whether a line can stand alone, or begins something that goes on below."""
    if line.rstrip()[-1:] in "|>[{,-" or line.rstrip().endswith(("|-", ">-", "|+", ">+")):
        return True
    try:
        read_yaml(line)
    except BrokenError:
        return False
    return True


def _bare(value: str) -> str:
    """A value without the quotes around it, which do not close as they should."""
    for mark in "\"'":
        if value.startswith(mark) and value.endswith(mark) and len(value) > 1:
            return value[1:-1]
    return value


def _without_doubles(given: list[str]) -> list[str]:
    """A key that stands there again becomes a comment, and what hangs below it too."""
    seen: set[str] = set()
    result, doubled = [], False
    for line in given:
        keyed = re.match(r"([^\s#:\-][^:\r\n]*):(?=\s|\Z)", line)
        if keyed:
            doubled = keyed[1] in seen
            seen.add(keyed[1])
        elif not line[:1].isspace() and not line.startswith("-"):
            doubled = False
        result.append(f"# {line}" if doubled and line.strip() else line)
    return result
