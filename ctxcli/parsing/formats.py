"""Which parser reads a file: by content first, then by name."""

import re
from dataclasses import replace
from importlib import import_module
from pathlib import PurePath
from typing import Protocol, cast

from ctxcli.model.document import Document, ParseWarning
from ctxcli.model.errors import ParseError

_MODULES = {
    "markdown": "markdown",
    "html": "html",
    "rst": "rst",
    "plain": "plain",
    "code": "code",
    "notebook": "notebook",
    "email": "email_message",
    "tabular": "tabular",
    "json": "json_data",
    "epub": "epub",
    "pdf": "pdf",
    "docx": "docx",
    "pptx": "pptx",
    "xlsx": "xlsx",
}


def _words(*lines: str) -> list[str]:
    return " ".join(lines).split()


_SOURCE = frozenset({"code"})
"""Formats of which an empty file is no mistake."""
EXTENSIONS: dict[str, str] = {
    **dict.fromkeys([".md", ".markdown", ".mdx", ".mkd", ".mdown", ".qmd", ".rmd"], "markdown"),
    **dict.fromkeys([".html", ".htm", ".xhtml", ".shtml"], "html"),
    **dict.fromkeys([".rst", ".rest"], "rst"),
    **dict.fromkeys(
        [".txt", ".text", ".log", ".org", ".adoc", ".asciidoc", ".tex", ".textile", ".wiki", ".srt"], "plain"
    ),
    **dict.fromkeys([".ipynb"], "notebook"),
    **dict.fromkeys([".eml"], "email"),
    **dict.fromkeys([".csv", ".tsv"], "tabular"),
    **dict.fromkeys([".json", ".jsonl", ".ndjson", ".geojson"], "json"),
    **{f".{kind}": kind for kind in ("epub", "pdf", "docx", "pptx", "xlsx")},
    **dict.fromkeys([".docm", ".dotx"], "docx"),
    **dict.fromkeys([".pptm", ".ppsx"], "pptx"),
    **dict.fromkeys([".xlsm"], "xlsx"),
    **dict.fromkeys(
        _words(
            ".py .pyi .pyw .js .mjs .cjs .jsx .ts .tsx .java .kt .kts .scala .groovy .gradle .c .h .cc .cpp",
            ".cxx .hpp .hh .hxx .cs .go .rs .swift .m .mm .php .rb .pl .pm .lua .r .jl .dart .ex .exs .erl",
            ".hs .ml .mli .clj .cljs .lisp .el .sh .bash .zsh .fish .ps1 .bat .cmd .sql .sas .do .ado .m4",
            ".vim .tcl .f .f90 .f95 .pas .v .sv .vhd .proto .thrift .graphql .yaml .yml .toml .ini .cfg",
            ".conf .properties .env .tf .hcl .nix .cmake .mk .make .dockerfile .css .scss .less .vue .svelte",
            ".xml .xsd .xsl .svg .plist .diff .patch",
        ),
        "code",
    ),
}
"""The format a file extension stands for; content decides where it says otherwise."""

_NAMES = {
    **dict.fromkeys(
        ["makefile", "dockerfile", "containerfile", "jenkinsfile", "vagrantfile", "rakefile", "gemfile"], "code"
    ),
    **dict.fromkeys(["justfile", "procfile", "cmakelists.txt", "codeowners"], "code"),
    **dict.fromkeys(
        _words(
            "readme license licence copying notice authors contributors changelog changes history news todo",
            "install contributing faq thanks maintainers",
        ),
        "plain",
    ),
}
_NO_CANDIDATES = frozenset(
    _words(
        ".png .jpg .jpeg .gif .bmp .ico .webp .tif .tiff .heic .avif .psd .ai .eps .raw .mp3 .wav .flac",
        ".ogg .m4a .aac .mp4 .mkv .avi .mov .webm .wmv .zip .gz .tgz .bz2 .xz .zst .7z .rar .tar .jar",
        ".war .whl .egg .deb .rpm .dmg .iso .exe .dll .so .dylib .o .a .obj .lib .class .pyc .pyo .pyd",
        ".wasm .ttf .otf .woff .woff2 .eot .bin .dat .db .sqlite .sqlite3 .mdb .pack .idx .npy .npz .pkl",
        ".pickle .parquet .feather .h5 .hdf5 .onnx .pt .pth .safetensors .gguf .model .sas7bdat .xpt",
        ".lock .map .min.js .min.css .swp .tmp .bak .crdownload .part .ds_store",
    )
)
_MAGIC = (
    (b"%PDF-", "pdf"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "legacy_office"),
    (b"{\\rtf", "rtf"),
)
_BINARY_MAGIC = (
    *(b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"BM\x00", b"II*\x00", b"MM\x00*"),
    *(b"\x1f\x8b\x08", b"BZh9", b"\xfd7zXZ\x00", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"\x28\xb5\x2f\xfd"),
    *(b"\x7fELF", b"MZ\x90\x00", b"\xca\xfe\xba\xbe", b"\xcf\xfa\xed\xfe", b"\x00asm", b"SQLite format 3\x00"),
    *(b"OggS", b"ID3\x03", b"ID3\x04", b"fLaC", b"wOFF", b"wOF2", b"\x00\x01\x00\x00\x00", b"OTTO\x00"),
    *(b"PAR1", b"\x93NUMPY", b"\x89HDF\r\n"),
)
_HTML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,2000}?-->\s*)*<(?:!doctype\s+html|html|head|body)\b",
    re.I | re.S,
)
_CONTENT = {"plain": "plain text", "html": "HTML", "markdown": "Markdown"}
_TEXT_FORMATS = frozenset({"markdown", "html", "rst", "plain", "code", "notebook", "email", "tabular", "json"})
_ZIP_MARKS = (
    (b"application/epub+zip", "epub"),
    (b"application/vnd.oasis.opendocument", "opendocument"),
)


class _Parser(Protocol):
    VERSION: str

    def parse(self, data: bytes, *, name: str) -> Document:
        """Parse a file of the module's format."""


def detect(data: bytes, name: str) -> str:
    """Name the format of a file.

    Beside the formats that can be parsed there are ``empty``, ``binary``, ``legacy_office``,
    ``opendocument`` and ``rtf``, which `parse` refuses. Content outweighs the name.
    """
    if not data:
        return "empty"
    by_content = _by_content(data)
    if by_content:
        return by_content
    by_name = _by_name(name)
    if by_name in _TEXT_FORMATS:
        return by_name
    return "json" if data[:1] == b"{" and data.rstrip()[-1:] == b"}" and b'"' in data[:200] else "plain"


def _by_content(data: bytes) -> str:
    from ctxcli.text.encoding import is_binary

    head = data[:1024]
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            return kind
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_kind(data)
    if b"%PDF-" in head and is_binary(data):
        return "pdf"
    if data.startswith(_BINARY_MAGIC) or head[4:8] == b"ftyp" or (head[:4] == b"RIFF" and is_binary(data)):
        return "binary"
    if is_binary(data):
        return "binary"
    return "html" if _HTML_START.match(head) else ""


def _zip_kind(data: bytes) -> str:
    """What a ZIP archive holds, told by its first entry or by the names in its directory."""
    for mark, kind in _ZIP_MARKS:
        if mark in data[:200]:
            return kind
    tail = data[-262144:] + data[:4096]
    for mark, kind in ((b"word/document", "docx"), (b"ppt/presentation", "pptx"), (b"xl/workbook", "xlsx")):
        if mark in tail:
            return kind
    return "epub" if b"META-INF/container.xml" in tail else "binary"


def _by_name(name: str) -> str:
    base = PurePath(name).name.lower()
    if base in _NAMES:
        return _NAMES[base]
    kind = EXTENSIONS.get(PurePath(base).suffix, "")
    return kind or _NAMES.get(PurePath(base).stem, "")


def is_candidate(name: str) -> bool:
    """Whether a walk over a folder should look at a file of this name.

    Unknown extensions are looked at, for `detect` tells whether their content is text;
    images, archives, media, fonts and object files are not.
    """
    base = PurePath(name).name.lower()
    if base.startswith((".", "~$")) or base.endswith("~") or not base:
        return False
    return PurePath(base).suffix not in _NO_CANDIDATES and not base.endswith((".min.js", ".min.css"))


def parser_version(format_id: str) -> str:
    """The parser of a format and its version (``markdown/1``), "" for a format without one."""
    return _module(format_id).VERSION if format_id in _MODULES else ""


def parse(data: bytes, *, name: str) -> Document:
    """Parse a file of any format.

    A file that cannot be read raises `ParseError`; its codes here: ``empty``, ``binary`` (to be
    skipped rather than reported), ``legacy_office``, ``unsupported``.
    """
    kind = detect(data, name)
    if kind in _MODULES:
        return _told(_module(kind).parse(data, name=name), name)
    if kind == "empty" and _by_name(name) in _SOURCE:
        return Document(_by_name(name), PurePath(name).name, "", title_from_name=True)  # `__init__.py` is often empty
    if kind == "empty":
        raise _empty("the file is empty")
    if kind == "legacy_office":
        raise ParseError(
            "this is an old Office file (.doc, .xls, .ppt) or an encrypted one",
            code="legacy_office",
            hint="save it as .docx, .xlsx, .pptx or PDF, without a password",
        )
    if kind == "binary":
        raise ParseError("the file is no text and no known document", code="binary", hint="leave it out with --exclude")
    raise ParseError(f"{kind} files cannot be read", code="unsupported", hint="save it as .docx, PDF or text")


def _told(document: Document, name: str) -> Document:
    """The document, with a warning where its name says something else; a text with nothing in it is a failure."""
    if document.format in _TEXT_FORMATS - {"code"} and (not document.text or document.text.isspace()):
        raise _empty("there is no text in the file")
    named = _by_name(name)
    if named in _TEXT_FORMATS | {"", document.format} or document.format not in _MODULES:
        return document
    message = f"named {PurePath(name).suffix}, but its content is {_CONTENT.get(document.format, document.format)}"
    return replace(document, warnings=(*document.warnings, ParseWarning("other_format", message)))


def _empty(message: str) -> ParseError:
    return ParseError(message, code="empty", hint="remove it or write something into it")


def _module(format_id: str) -> _Parser:
    return cast(_Parser, import_module(f"ctxcli.parsing.{_MODULES[format_id]}"))
