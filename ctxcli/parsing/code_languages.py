"""Where definitions begin and end in source code, by language."""

import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

Ending = Literal["brace", "indent", "end", "next"]
"""How the end of a definition is found: by matching braces, by indentation, by a line ``end``
at the indentation of the definition, or where the next definition begins."""


@dataclass(frozen=True, slots=True)
class Language:
    """`definition` matches a line that begins a definition; its group ``name`` is the name.

    A definition whose line matches `container` holds others (a class, a namespace).
    `comment` matches a line that belongs to the definition below it.
    """

    name: str
    definition: re.Pattern[str]
    container: re.Pattern[str] | None
    comment: re.Pattern[str]
    ending: Ending


_SLASHES = re.compile(r"\s*(?://|/\*|\*|@\w|#\[|\[\w+.*\]\s*$)")
_HASHES = re.compile(r"\s*#")
_DASHES = re.compile(r"\s*(?:--|/\*|\*)")
_MODIFIERS = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|override|virtual|sealed|open|inline|"
    r"unsafe|extern|partial|readonly|declare|data|suspend|synchronized|native|const|pub(?:\([^)]*\))?)\s+)*"
)


def _language(
    name: str, definition: str, *, container: str = "", comment: re.Pattern[str] = _SLASHES, ending: Ending = "brace"
) -> Language:
    return Language(
        name,
        re.compile(definition, re.IGNORECASE if name in {"sql", "sas", "powershell"} else 0),
        re.compile(container) if container else None,
        comment,
        ending,
    )


_TYPE_WORDS = (
    r"(?:class|interface|enum|struct|record|trait|object|namespace|module|protocol|extension|union|@interface)"
)

_LANGUAGES = {
    "javascript": _language(
        "javascript",
        rf"\s*{_MODIFIERS}(?:(?:function\s*\*?|class|interface|enum|namespace|type)\s+(?P<name>[\w$]+)"
        r"|(?:const|let|var)\s+(?P<value>[\w$]+)\s*(?::[^=]+)?=\s*(?:async\s*)?(?:function\b|\([^)]*\)\s*(?::[^=]+)?=>|[\w$]+\s*=>)"
        r"|(?:get\s+|set\s+|\*)?(?P<method>(?!(?:if|for|while|switch|catch|return|function)\b)[\w$#]+)\s*(?:<[^>]*>)?"
        r"\([^;]*\)\s*(?::\s*[^{;=]+)?\{\s*$)",
        container=r"\b(?:class|interface|namespace)\s+[\w$]+",
    ),
    "java": _language(
        "java",
        rf"\s*{_MODIFIERS}(?:{_TYPE_WORDS}\s+(?P<name>\w+)"
        r"|(?:<[^>]+>\s*)?[\w<>\[\],.?]+\s+(?P<method>(?!(?:if|for|while|switch|catch|return|new|else)\b)\w+)\s*"
        r"\([^;]*\)?\s*(?:throws\s+[\w,.\s]+)?\{?\s*$)",
        container=rf"\b{_TYPE_WORDS}\s+\w+",
    ),
    "kotlin": _language(
        "kotlin",
        rf"\s*{_MODIFIERS}(?:{_TYPE_WORDS}\s+(?P<name>\w+)|(?:fun|func|def)\s+(?:<[^>]+>\s*)?(?:[\w<>]+\.)?(?P<method>\w+))",
        container=rf"\b{_TYPE_WORDS}\s+\w+",
    ),
    "go": _language(
        "go", r"(?:func\s+(?:\([^)]*?\*?(?P<owner>\w+)(?:\[[^\]]*\])?\)\s*)?(?P<name>\w+)|type\s+(?P<type>\w+))"
    ),
    "rust": _language(
        "rust",
        rf"\s*{_MODIFIERS}(?:(?:fn|struct|enum|trait|union|mod|type|macro_rules!)\s+(?P<name>\w+)"
        r"|impl(?:<[^>]*>)?\s+(?:[\w:<>,\s&']+\s+for\s+)?(?P<impl>[\w:]+))",
        container=r"\b(?:impl|trait|mod)\b",
    ),
    "c": _language(
        "c",
        rf"(?:\s*{_MODIFIERS}(?:class|struct|enum|union|namespace|typedef\s+struct)\s+(?P<name>\w+)[^;]*$"
        r"|(?:[\w:*&<>,~]+\s+)+[*&]*(?P<method>[\w:~]+)\s*\([^;]*$|#define\s+(?P<macro>\w+)\()",
        container=r"\b(?:class|namespace)\s+\w+",
    ),
    "php": _language(
        "php",
        rf"\s*{_MODIFIERS}(?:(?:class|interface|trait|enum)\s+(?P<name>\w+)|function\s+&?(?P<method>\w+))",
        container=r"\b(?:class|interface|trait)\s+\w+",
    ),
    "ruby": _language(
        "ruby",
        r"\s*(?:class|module|def)\s+(?:self\.)?(?P<name>[\w:?!=]+)",
        container=r"^\s*(?:class|module)\b",
        comment=_HASHES,
        ending="end",
    ),
    "lua": _language("lua", r"\s*(?:local\s+)?function\s+(?P<name>[\w.:]+)", comment=_DASHES, ending="end"),
    "elixir": _language(
        "elixir",
        r"\s*(?:defmodule|defp?|defmacro)\s+(?P<name>[\w.?!]+)",
        container=r"^\s*defmodule\b",
        comment=re.compile(r"\s*(?:#|@)"),
        ending="end",
    ),
    "shell": _language("shell", r"\s*(?:function\s+)?(?P<name>[\w-]+)\s*\(\)\s*\{?", comment=_HASHES),
    "powershell": _language("powershell", r"\s*(?:function|filter|class)\s+(?P<name>[\w:-]+)", comment=_HASHES),
    "r": _language("r", r"(?P<name>[\w.]+)\s*(?:<-|=)\s*function\s*\(", comment=_HASHES),
    "perl": _language("perl", r"\s*(?:sub|package)\s+(?P<name>[\w:]+)", comment=_HASHES),
    "sql": _language(
        "sql",
        r"\s*create\s+(?:or\s+replace\s+)?(?:\w+\s+){0,2}?(?:table|view|function|procedure|trigger|index|type)\s+"
        r"(?:if\s+not\s+exists\s+)?(?P<name>[\w.\"`\[\]]+)",
        comment=_DASHES,
        ending="next",
    ),
    "sas": _language(
        "sas",
        r"\s*(?:%macro\s+(?P<name>\w+)|data\s+(?P<data>[\w.]+)|proc\s+(?P<proc>\w+))",
        comment=re.compile(r"\s*(?:/\*|\*)"),
        ending="next",
    ),
    "make": _language("make", r"(?P<name>[A-Za-z][\w./%-]*)\s*:(?!=)", comment=_HASHES, ending="next"),
    "docker": _language("docker", r"(?P<name>FROM\s+\S+(?:\s+AS\s+\S+)?)", comment=_HASHES, ending="next"),
    "toml": _language(
        "toml", r"\s*\[+(?P<name>[^\]]+)\]+\s*(?:[#;].*)?$", comment=re.compile(r"\s*[#;]"), ending="next"
    ),
    "yaml": _language("yaml", r"(?P<name>[A-Za-z_][\w./ -]*)\s*:(?:\s|$)", comment=_HASHES, ending="next"),
    "css": _language("css", r"(?P<name>[.#@:\w\[][^{};]*?)\s*\{"),
    "proto": _language("proto", r"\s*(?:message|service|enum|type|input|interface|struct|rpc)\s+(?P<name>\w+)"),
    "hcl": _language("hcl", r"(?P<name>\w+(?:\s+\"[^\"]+\")*)\s*\{", comment=_HASHES),
    "none": _language("none", r"(?!)", comment=re.compile(r"(?!)"), ending="next"),
}
_EXTENSIONS = {
    "javascript": "js mjs cjs jsx ts tsx",
    "java": "java cs",
    "kotlin": "kt kts scala swift groovy gradle dart",
    "go": "go",
    "rust": "rs",
    "c": "c h cc cpp cxx hpp hh hxx m mm",
    "php": "php",
    "ruby": "rb",
    "lua": "lua",
    "elixir": "ex exs",
    "shell": "sh bash zsh",
    "powershell": "ps1",
    "r": "r",
    "perl": "pl pm",
    "sql": "sql",
    "sas": "sas",
    "make": "mk make",
    "docker": "dockerfile",
    "toml": "toml ini cfg conf",
    "yaml": "yaml yml",
    "css": "css scss less",
    "proto": "proto graphql thrift",
    "hcl": "tf hcl",
}
_BY_EXTENSION = {extension: name for name, extensions in _EXTENSIONS.items() for extension in extensions.split()}
_BY_NAME = {
    "makefile": "make",
    "dockerfile": "docker",
    "containerfile": "docker",
    "rakefile": "ruby",
    "gemfile": "ruby",
}


def language_of(name: str) -> Language:
    """The language of a file by its name; one without definitions where it is not known."""
    base = PurePath(name).name.lower()
    known = _BY_NAME.get(base) or _BY_EXTENSION.get(PurePath(base).suffix.removeprefix("."), "none")
    return _LANGUAGES[known]
