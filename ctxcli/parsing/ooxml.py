"""Office Open XML packages read safely, and the text that is built from them.

A package is a zip of XML parts. Sizes are bounded before and while a part is unpacked, and a part with a
document type (the way to entity bombs) is refused: the format has none.
"""

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from xml.etree import ElementTree

from ctxcli.model.document import Block, BlockKind
from ctxcli.model.errors import ParseError

MAX_ENTRIES = 20_000
MAX_PART = 256 * 1024 * 1024
MAX_TOTAL = 1024 * 1024 * 1024
"""Bounds of what is unpacked, in bytes."""
MAX_RATIO = 400
"""A part of over 16 MiB that unpacks to this many times its size is a bomb."""

_OLE = b"\xd0\xcf\x11\xe0"
_DOCTYPES = tuple("<!DOCTYPE".encode(name) for name in ("utf-8", "utf-16-le", "utf-16-be"))
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/(\w+)")
"""The names of the strict form of the standard, which Word and Excel can save; all else in it is as usual."""
_FIGURE = re.compile(r"[-+]?[0-9]+\.[0-9]+(?:[eE][-+]?[0-9]+)?")
_BLANKS = re.compile(r"[ \t\u00a0]+")

Element = ElementTree.Element


class Package:
    """An opened package; parts are unpacked when asked for."""

    def __init__(self, data: bytes, *, kind: str) -> None:
        self.kind = kind
        self.unpacked = 0
        if not data:
            raise ParseError("the file is empty", code="empty")
        if data.startswith(_OLE):
            raise ParseError(
                "old .doc or encrypted Office file", code="legacy_office", hint=f"save as .{kind} without a password"
            )
        try:
            self.zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise self._damaged() from error
        entries = self.zip.infolist()
        total = sum(entry.file_size for entry in entries)
        if len(entries) > MAX_ENTRIES or total > MAX_TOTAL or any(map(_is_bomb, entries)):
            raise self._bomb()
        self.names = {entry.filename: entry for entry in entries}

    def xml(self, name: str) -> Element | None:
        """The root of a part, None if there is no such part."""
        entry = self.names.get(name)
        if entry is None:
            return None
        raw = self._unpack(entry)
        if any(mark in raw for mark in _DOCTYPES):
            raise ParseError(f"{name} has a document type, which {self.kind} files never have", code="unsafe_xml")
        try:
            return ElementTree.fromstring(_STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/\2", raw))
        except (ElementTree.ParseError, ValueError, LookupError) as error:
            raise self._damaged() from error

    def main(self, name: str) -> Element:
        """The root of a part that must be there."""
        root = self.xml(name)
        if root is None:
            raise ParseError(f"no {self.kind} file: {name} is missing", code="damaged", hint="check what the file is")
        return root

    def relations(self, part: str) -> dict[str, tuple[str, str]]:
        """Of a part: relation id → (last word of its type, full name of the target part)."""
        folder, name = posixpath.split(part)
        root = self.xml(posixpath.join(folder, "_rels", f"{name}.rels"))
        found: dict[str, tuple[str, str]] = {}
        for relation in root if root is not None else ():
            target = relation.get("Target", "")
            full = target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
            found[relation.get("Id", "")] = (relation.get("Type", "").rsplit("/", 1)[-1], full)
        return found

    def unpacked_parts(self) -> Iterator[tuple[str, bytes]]:
        """The name and the bytes of every part; goes through all within the bounds, which not every reader sets."""
        for name, entry in self.names.items():
            yield name, self._unpack(entry)

    def title(self) -> str:
        """The title of the core properties, "" if there is none."""
        root = self.xml("docProps/core.xml")
        if root is None:
            return ""
        return " ".join((root.findtext("{http://purl.org/dc/elements/1.1/}title") or "").split())

    def _unpack(self, entry: zipfile.ZipInfo) -> bytes:
        if entry.flag_bits & 1:
            raise ParseError("the file is encrypted", code="encrypted", hint="save a copy without a password")
        try:
            with self.zip.open(entry) as stream:
                raw = stream.read(MAX_PART + 1)
        except (
            zipfile.BadZipFile,
            zlib.error,
            ValueError,
            EOFError,
            OSError,
            NotImplementedError,
            RuntimeError,
        ) as error:
            raise self._damaged() from error
        self.unpacked += len(raw)
        if len(raw) > MAX_PART or self.unpacked > MAX_TOTAL:
            raise self._bomb()
        return raw

    def _damaged(self) -> ParseError:
        return ParseError(
            f"the .{self.kind} file is damaged or cut off", code="damaged", hint="fetch or save the file anew"
        )

    def _bomb(self) -> ParseError:
        return ParseError(
            f"the .{self.kind} file unpacks to more than is read", code="too_large", hint="split it into smaller files"
        )


def _is_bomb(entry: zipfile.ZipInfo) -> bool:
    ratio = entry.file_size / max(entry.compress_size, 1)
    return entry.file_size > MAX_PART or (entry.file_size > 16 * 1024 * 1024 and ratio > MAX_RATIO)


class TextBuilder:
    """Builds the one text of a document block by block."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.length = 0
        self.blocks: list[Block] = []

    def add(self, kind: BlockKind, text: str) -> int | None:
        """Append a block and return where it starts; None where the text is blank and nothing is added.

        Items and rows follow each other on the next line, other blocks after a blank line.
        """
        text = text.strip("\n ") if kind == "code" else tidy(text)
        if not text:
            return None
        if self.blocks:
            group = {"item"} if kind == "item" else {"row", "header_row"}
            tight = kind in group and self.blocks[-1].kind in group
            self._put("\n" if tight else "\n\n")
        start = self.length
        self._put(text)
        self.blocks.append(Block(start, self.length, kind))
        return start

    def _put(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)

    @property
    def text(self) -> str:
        """All that was added."""
        return "".join(self.parts)


def tidy(text: str) -> str:
    """Single blanks, no blank lines, no control characters."""
    lines = (_BLANKS.sub(" ", line).strip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def number_text(value: str) -> str:
    """A saved figure as Office shows it: with 15 digits (``19.199999999999999`` → ``19.2``); other text as it is."""
    if not _FIGURE.fullmatch(value):
        return value
    figure = float(value)
    if figure.is_integer() and abs(figure) < 1e15:
        return str(int(figure))
    return repr(float(f"{figure:.15g}"))


def local(element: Element) -> str:
    """The tag without its namespace."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
