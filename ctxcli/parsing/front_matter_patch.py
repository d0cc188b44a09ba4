"""Front matter changed in place: only the values of the named keys change, byte for byte.

Comments, the order of keys, quoting, unknown keys and line ends stay as they are. The result is read again; where
it would not say what was meant (anchors, tags, one-line mappings), `CannotPatchError` is raised.
"""

from collections.abc import Mapping
from typing import Any

from ctxcli.parsing import yaml_text
from ctxcli.parsing.front_matter import BrokenError, compose, is_null, key_text, lines, read_yaml
from ctxcli.parsing.note_text import read_tags

Change = str | tuple[str, ...]
Edit = tuple[int, int, str]
"""Replace the characters from the first offset to the second by the text."""


class CannotPatchError(Exception):
    """A block written in a way that cannot be changed here; it has to be edited by hand. `line` is 0-based in it."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


def patch(block: str, changes: Mapping[str, Change], *, newline: str = "\n") -> str:
    """Return the block with the named keys set; keys that are not there are added at its end."""
    try:
        old_texts, old_values = read_yaml(block)
        node, _ = compose(block)
        edits = _edits(block, node, changes, newline)
        new = _apply(block, edits)
        new_texts, new_values = read_yaml(new)
    except BrokenError as error:
        raise CannotPatchError(error.message, error.line) from None
    kept = all(
        new_values.get(key) == value and key in new_values for key, value in old_values.items() if key not in changes
    )
    meant = all(_says(new_texts.get(key), wanted) for key, wanted in changes.items())
    if not kept or not meant or len(new_texts) != len(old_texts.keys() | changes.keys()):
        raise CannotPatchError("it is written in a way that cannot be changed safely")
    return new


def _says(found: Change | None, wanted: Change) -> bool:
    if isinstance(found, tuple) and isinstance(wanted, tuple):
        return read_tags(found) == wanted
    return found == wanted or (found is None and wanted == ())


def bare(tag: str) -> str:
    """A list item without blanks around it and without ``#``, as tags are compared."""
    return tag.strip().lstrip("#").strip()


def _edits(block: str, node: Any, changes: Mapping[str, Change], newline: str) -> list[Edit]:
    pairs = {key_text(key): (key, value) for key, value in node.value} if node is not None else {}
    edits: list[Edit] = []
    added = []
    for name, wanted in changes.items():
        if name not in pairs:
            added.append(f"{yaml_text.scalar(name)}: {yaml_text.value(wanted)}")
        elif isinstance(wanted, tuple):
            edits += _list_edits(block, *pairs[name], wanted, newline)
        else:
            edits.append(_whole(block, *pairs[name], wanted))
    if added:
        indent = " " * (node.start_mark.column if node is not None else 0)
        joint = newline if block and not block.endswith(("\n", "\r")) else ""
        edits.append((len(block), len(block), joint + "".join(f"{indent}{line}{newline}" for line in added)))
    return edits


def _apply(block: str, edits: list[Edit]) -> str:
    for start, end, text in sorted(edits, reverse=True):
        block = block[:start] + text + block[end:]
    return block


def _whole(block: str, key: Any, value: Any, wanted: Change) -> Edit:
    """Replace a value as a whole; what follows it on its line (a comment) stays.

    A list or mapping where a text is wanted says something that is not understood here, and is not written over.
    """
    if isinstance(wanted, str) and value.id != "scalar":
        raise CannotPatchError(f"{key.value!r} holds a {value.id}, not a text", value.start_mark.line)
    colon = block.index(":", key.end_mark.index) + 1
    end = max(true_end(block, value), colon)
    if value.id == "scalar" and not _is_block_scalar(value) and value.start_mark.index < end:
        return value.start_mark.index, end, yaml_text.value(wanted)
    return colon, end, " " + yaml_text.value(wanted)


def _is_block_scalar(node: Any) -> bool:
    return node.id == "scalar" and node.style in ("|", ">")


def true_end(block: str, node: Any) -> int:
    """Where the last character of a value ends: the parser's own mark runs on to what comes next."""
    if node.id == "scalar":
        if not _is_block_scalar(node):
            return int(node.end_mark.index)
    elif node.flow_style:
        return int(node.end_mark.index)
    elif node.value:
        last = node.value[-1]
        return true_end(block, last[1] if isinstance(last, tuple) else last)
    text = block[node.start_mark.index : node.end_mark.index]
    own = lines(text)
    while own and (not own[-1].strip() or own[-1].startswith("#")):
        own.pop()
    return int(node.start_mark.index) + len("".join(own).rstrip("\r\n"))


def _list_edits(block: str, key: Any, value: Any, wanted: tuple[str, ...], newline: str) -> list[Edit]:
    """Set a list; items that stay are not touched, nor are empty ones (null), nor the comments between them."""
    items = value.value if value.id == "sequence" else []
    if value.id == "mapping" or not all(isinstance(one.value, str) for one in items):
        raise CannotPatchError(f"{key.value!r} holds more than a list of texts", value.start_mark.line)
    if not items:
        return [] if value.id == "sequence" and not wanted else [_whole(block, key, value, wanted)]
    current = ["" if is_null(one) else bare(one.value) for one in items]
    kept = tuple(dict.fromkeys(text for text in current if text in wanted))
    added = wanted[len(kept) :]
    gone = [at for at, text in enumerate(current) if text and text not in wanted]
    if kept != wanted[: len(kept)] or len(gone) == len(items):
        return [_whole(block, key, value, wanted)]
    if value.flow_style:
        return _flow_edits(items, gone, added)
    return _block_edits(block, value, gone, added, newline)


def _flow_edits(items: list[Any], gone: list[int], added: tuple[str, ...]) -> list[Edit]:
    """Take items out of ``[a, b]`` together with a comma each, and put new ones behind the last that stays."""
    last = max(at for at in range(len(items)) if at not in gone)
    first = min(at for at in range(len(items)) if at not in gone)
    edits = [(items[at].start_mark.index, items[at + 1].start_mark.index, "") for at in gone if at < first]
    edits += [(items[at - 1].end_mark.index, items[at].end_mark.index, "") for at in gone if at > first]
    if added:
        end = items[last].end_mark.index
        text = "".join(f", {yaml_text.scalar(one)}" for one in added)
        edits = [
            *(one for one in edits if one[0] != end),
            (end, max([end, *(e for s, e, _ in edits if s == end)]), text),
        ]
    return edits


def _block_edits(block: str, value: Any, gone: list[int], added: tuple[str, ...], newline: str) -> list[Edit]:
    """Take out the lines of items, and put new lines below the last item."""
    items = value.value
    edits: list[Edit] = []
    for at in gone:
        start = _line_start(block, block.rindex("-", 0, items[at].start_mark.index + 1))
        edits.append((start, _line_end(block, true_end(block, items[at])), ""))
    if added:
        end = _line_end(block, true_end(block, items[-1]))
        joint = "" if block[:end].endswith(("\n", "\r")) else newline
        indent = " " * value.start_mark.column
        lines = "".join(f"{indent}- {yaml_text.scalar(one)}{newline}" for one in added)
        edits.append((end, end, joint + lines))
    return edits


def _line_start(block: str, at: int) -> int:
    return max(block.rfind("\n", 0, at), block.rfind("\r", 0, at)) + 1


def _line_end(block: str, at: int) -> int:
    """The offset behind the line end that follows `at`."""
    ends = [found for char in "\r\n" if (found := block.find(char, at)) >= 0]
    if not ends:
        return len(block)
    end = min(ends)
    return end + (2 if block[end : end + 2] == "\r\n" else 1)
