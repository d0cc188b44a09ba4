"""The YAML block at the top of a Markdown file: where it stands and what it says.

Texts are taken as they are written: ``title: 2024-01-02`` is a title, not a date. A block that is no valid
YAML is still read line by line (``key: rest``), with the reason and the line as a problem.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ctxcli.parsing import front_matter_plain

Texts = str | tuple[str, ...] | None
"""A value as written: a text, a list of texts, or nothing (null, a mapping, a nested list)."""

_OPENING = re.compile(r"\ufeff?---[ \t]*(\r\n|\n|\r|\Z)")
_CLOSING = re.compile(r"(?<=[\r\n])(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)")
_CONFLICT = "<<<<<<< "
"""How git marks the place where two versions of a file differ."""
_KEY_LINE = re.compile(r"[\"']?[\w][^:\r\n]*:(?=\s|\Z)")
_LINE_END = re.compile(r"\r\n|\n|\r")
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_NO_LINE_ENDS = "\x85\u2028\u2029"
"""They part lines for YAML 1.1 and `str.splitlines`, but not for YAML 1.2, editors and people."""
_SMALL = 4096
"""Characters of a block that the parser in C may read: it does not guard against deep nesting."""
_MOST_VALUES = 10_000
_DEEPEST = 50


@dataclass(frozen=True, slots=True)
class Span:
    """Where the block stands: offsets into the text. Without a block all three are where it would begin."""

    block: int
    block_end: int
    body: int
    newline: str
    present: bool
    closed: bool = True


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a block cannot be read; `line` is the 1-based line of the file."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Fields:
    """What a block says: `texts` the values as written, `values` the same with numbers, truth values and lists."""

    texts: Mapping[str, Texts] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    problem: Problem | None = None


class BrokenError(Exception):
    """A block that is no YAML of keys; `line` is 0-based in the block."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


def lines(text: str) -> list[str]:
    """The lines of a text with their ends, which are CR, LF or both and nothing else."""
    return _LINES.findall(text)


def find(text: str) -> Span:
    """Find the block. Fences are whole lines; a rule at the top of a text that holds no keys is no fence."""
    opening = _OPENING.match(text)
    first_end = _LINE_END.search(text)
    newline = first_end[0] if first_end else "\n"
    start = 1 if text.startswith("\ufeff") else 0
    nothing = Span(start, start, start, newline, present=False)
    if not opening:
        return nothing
    block = opening.end()
    closing = _CLOSING.search(text, block)
    if closing and closing.start() == block:
        return Span(block, block, closing.end(), newline, present=True)
    if not _begins_with_key(text, block, closing.start() if closing else len(text)):
        return nothing
    if not closing:
        return Span(block, len(text), len(text), newline, present=True, closed=False)
    return Span(block, closing.start(), closing.end(), newline, present=True)


def _begins_with_key(text: str, start: int, end: int) -> bool:
    """Whether the first line that says something looks like YAML (or none does)."""
    for line in lines(text[start : min(end, start + _SMALL)]):
        bare = line.strip()
        if bare and not bare.startswith("#"):
            return bool(_KEY_LINE.match(bare)) or bare[0] in "{?&!" or bare.startswith(_CONFLICT)
    return end < len(text)


def read(text: str, span: Span) -> Fields:
    """Read the block of `text`."""
    if not span.present:
        return Fields()
    block = text[span.block : span.block_end]
    if not span.closed:
        return _as_lines(block, Problem(1, "the front matter is not closed by a line ---"))
    plain = front_matter_plain.read(block)
    if plain is not None:
        return Fields(*plain)
    try:
        texts, values = read_yaml(block)
    except BrokenError as error:
        return _as_lines(block, Problem(error.line + 2, error.message))
    return Fields(texts, values)


def read_yaml(block: str) -> tuple[dict[str, Texts], dict[str, Any]]:
    """Read a block by the YAML parser: texts and values by key."""
    node, loader = compose(block, fast=len(block) <= _SMALL)
    texts: dict[str, Texts] = {}
    values: dict[str, Any] = {}
    left = [_MOST_VALUES]
    for key, one in node.value if node is not None else ():
        name = key_text(key)
        if name in texts:
            raise BrokenError(key.start_mark.line, f"the key {name!r} stands there twice")
        texts[name] = _texts(one)
        values[name] = _plain(one, loader, left, _DEEPEST)
    return texts, values


def compose(block: str, *, fast: bool = False) -> tuple[Any, Any]:
    """The node of the block's mapping (None if it is empty), and the loader that made it."""
    import yaml

    made = getattr(yaml, "CSafeLoader", yaml.SafeLoader) if fast else yaml.SafeLoader
    standing_in = _stand_ins(block)
    try:
        loader = made(block.translate(standing_in))
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise BrokenError(mark.line if mark else 0, error.problem or "no valid YAML") from None
    except yaml.reader.ReaderError as error:
        line = len(_LINE_END.findall(block[: error.position if isinstance(error.position, int) else 0]))
        raise BrokenError(line, "a character that must not stand in YAML") from None
    except RecursionError:
        raise BrokenError(0, "nested too deeply") from None
    if node is not None and not isinstance(node, yaml.MappingNode):
        if isinstance(node, yaml.ScalarNode) and node.tag.endswith(":null"):
            return None, loader
        raise BrokenError(node.start_mark.line, "the front matter holds no keys")
    if standing_in:
        _restore(node, {ord(new): chr(old) for old, new in standing_in.items()})
    return node, loader


def _stand_ins(block: str) -> dict[int, str]:
    """What to put in place of characters that would end a line for the parser: others that the block lacks."""
    found = [char for char in _NO_LINE_ENDS if char in block]
    if not found:
        return {}
    lowered = block.lower()
    free = (chr(code) for code in range(0xE000, 0xF900) if chr(code) not in block and f"{code:x}" not in lowered)
    return {ord(char): one for char, one in zip(found, free, strict=False)}


def _restore(node: Any, table: Mapping[int, str]) -> None:
    """Put characters back into all texts below a node; an alias leads to the same node again."""
    pending, seen = [node], set()
    while pending:
        one = pending.pop()
        if isinstance(one, tuple):
            pending += one
        elif one is not None and id(one) not in seen:
            seen.add(id(one))
            if isinstance(one.value, str):
                one.value = one.value.translate(table)
            else:
                pending += one.value


def key_text(key: Any) -> str:
    """The name of a key; BrokenError for a key that is a list or a mapping, such as ``{{title}}``."""
    if not isinstance(key.value, str):
        raise BrokenError(key.start_mark.line, "a key that is no text")
    return key.value


def _texts(node: Any) -> Texts:
    if isinstance(node.value, str):
        return None if is_null(node) else node.value
    if node.id == "sequence" and all(isinstance(one.value, str) for one in node.value):
        return tuple(one.value for one in node.value if not is_null(one))
    return None


def is_null(node: Any) -> bool:
    """Whether a scalar says nothing. Python's ``None`` is taken for it too, unless it is quoted."""
    return bool(node.tag.endswith(":null") or (node.value == "None" and not _is_quoted(node)))


def _is_quoted(node: Any) -> bool:
    return node.style is not None and node.style != ""


def _plain(node: Any, loader: Any, left: list[int], depth: int) -> Any:
    """A node as JSON has it. Aliases can make a small block huge, so values are counted."""
    left[0] -= 1
    if left[0] < 0 or depth < 0:
        raise BrokenError(node.start_mark.line, "too many values, or nested too deeply")
    if node.id == "sequence":
        return [_plain(one, loader, left, depth - 1) for one in node.value]
    if node.id == "mapping":
        return {key_text(key): _plain(one, loader, left, depth - 1) for key, one in node.value}
    return _scalar(node, loader)


def _scalar(node: Any, loader: Any) -> Any:
    kind = node.tag.rpartition(":")[2]
    try:
        if kind == "null":
            return None
        if kind == "bool":
            return bool(loader.construct_yaml_bool(node))
        if kind == "int":
            return int(loader.construct_yaml_int(node))
        if kind == "float" and "n" not in node.value.lower():
            return float(loader.construct_yaml_float(node))
    except (ValueError, OverflowError, KeyError, IndexError):
        pass
    return node.value


_LINE = re.compile(r"([^\s#:\-][^:]*):(?:[ \t]+(.*))?\Z")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)\Z")


def _as_lines(block: str, problem: Problem) -> Fields:
    """What can be read without YAML: ``key: rest`` lines, and lists of ``- item`` lines below a key."""
    found: dict[str, Texts] = {}
    last = ""
    for line in _LINE_END.split(block)[:_MOST_VALUES]:
        if key := _LINE.match(line.rstrip()):
            last = key[1].strip().strip("\"'")
            found.setdefault(last, _rest(key[2] or ""))
        elif (item := _ITEM.match(line.rstrip())) and last and not isinstance(found[last], str):
            found[last] = (*(found[last] or ()), _unquoted(item[1]))
    values = {name: list(one) if isinstance(one, tuple) else one for name, one in found.items()}
    return Fields(found, values, problem)


def _rest(text: str) -> Texts:
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        return tuple(_unquoted(part) for part in text[1:-1].split(",") if part.strip())
    return _unquoted(text) if text and text not in ("null", "~", "None") else None


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
