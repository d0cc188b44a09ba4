"""YAML as ctx writes it: texts that every reader of YAML, 1.1 or 1.2, takes as texts."""

import re
from collections.abc import Iterable

_PLAIN = re.compile(r"[^\W\d_][\w ./()+%@&!'、。《》「」『』【】（），：；！？“”‘’—…·～-]*")
_MIXED = re.compile(r"[0-9][0-9a-z]*[g-mp-wyz][0-9a-z]*")
_WORDS = frozenset("y yes n no true false on off null none nan inf".split())
_UNPRINTABLE = re.compile("[^ -~\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def scalar(text: str) -> str:
    """`text` as a YAML string on one line: plain where nobody can take it for anything else, else quoted."""
    plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS and not text.endswith(" ")
    return text if plain or _MIXED.fullmatch(text) else quoted(text)


def quoted(text: str) -> str:
    """`text` in double quotes; what is not printable is escaped."""
    return '"' + _UNPRINTABLE.sub(_escape, text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    if char in _NAMED:
        return _NAMED[char]
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def flow_list(texts: Iterable[str]) -> str:
    """Texts as a YAML list on one line."""
    return "[" + ", ".join(map(scalar, texts)) + "]"


def value(given: str | tuple[str, ...]) -> str:
    """A text or a list of texts as YAML."""
    return scalar(given) if isinstance(given, str) else flow_list(given)
