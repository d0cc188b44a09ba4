"""The text of a new note; nothing that reads one is imported for it."""

from collections.abc import Mapping, Sequence

from ctxcli.parsing import yaml_text


def read_tags(found: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """Tags from a list, from ``a, b`` or from ``#a #b``, without ``#`` and doubles."""
    if found is None:
        return ()
    parts: Sequence[str] = found if isinstance(found, tuple) else _split(found)
    if isinstance(found, str) and len(parts) == 1 and found.count("#") > 1:
        parts = found.split()
    return tuple(dict.fromkeys(filter(None, (part.strip().lstrip("#").strip() for part in parts))))


def _split(text: str) -> list[str]:
    for mark in "，、;；":
        text = text.replace(mark, ",")
    return text.split(",")


def render(fields: Mapping[str, str | tuple[str, ...]], text: str) -> tuple[str, str]:
    """A new note: its front matter, and its body, from which `notes.content` reads the same `text` again."""
    block = "".join(f"{key}: {yaml_text.value(one)}\n" for key, one in fields.items())
    return f"---\n{block}---\n", f"\n{text}\n" if text else ""
