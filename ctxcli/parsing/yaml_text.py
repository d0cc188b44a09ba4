"""YAML as ctx writes it: texts that every reader of YAML, 1.1 or 1.2, takes as texts."""

import re
from collections.abc import Iterable

_PLAIN = re.compile(r"[^\W\d_][\w ./()+%@&!'、。《》「」『』【】（），：；！？“”‘’—…·～-]*")
_MIXED = re.compile(r"[0-9][0-9a-z]*[g-mp-wyz][0-9a-z]*")
_WORDS = frozenset("y yes n no true false on off null none nan inf".split())
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def scalar(text: str) -> str:
    """`text` as a YAML string on one line: plain where nobody can take it for anything else, else quoted."""
    plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS and not text.endswith(" ")
    return text if plain or _MIXED.fullmatch(text) else quoted(text)


def quoted(text: str) -> str:
    """`text` in double quotes; what is not printable is escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped if escaped.isprintable() else "".join(map(_escaped, escaped))}"'


def _escaped(char: str) -> str:
    if char.isprintable() or _is_allowed(ord(char)):
        return char
    code = ord(char)
    return _NAMED.get(char) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def _is_allowed(code: int) -> bool:
    """Whether a character that is not shown by itself (a joiner, a wide blank) may stand in YAML and ends no line."""
    if code < 0xA0 or code in (0x2028, 0x2029, 0xFEFF):
        return False
    return not (0xD800 <= code <= 0xDFFF or 0xFFFE <= code <= 0xFFFF)


def flow_list(texts: Iterable[str]) -> str:
    """Texts as a YAML list on one line."""
    return "[" + ", ".join(map(scalar, texts)) + "]"


def value(given: str | tuple[str, ...]) -> str:
    """A text or a list of texts as YAML."""
    return scalar(given) if isinstance(given, str) else flow_list(given)
