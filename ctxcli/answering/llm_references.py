"""What an answer of a chat points to: numbers, files and quotes that stand in nothing the model was shown."""

import re
from collections.abc import Iterator, Sequence, Set
from posixpath import basename

from ctxcli.answering.llm_quotes import find_quote, weight
from ctxcli.answering.llm_verify import MARKS, numbers_of

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_ENDINGS = "md|markdown|txt|rst|html?|pdf|docx?|pptx?|xlsx?|csv|tsv|epub|ipynb|eml|jsonl?|ya?ml|toml|py|js|ts"
_FILE = re.compile(
    rf"[^\s\u3000\[\](){{}}<>|*`\"'“”‘’「」『』《》【】（）,;:，。；：、！？!?]+\.(?:{_ENDINGS})(?!\w|\.\w)",
    re.IGNORECASE | re.ASCII,
)
_QUOTE = re.compile(r"“([^“”\n]+)”|「([^「」\n]+)」|\"([^\"\n]+)\"")
_LEAST = 20
"""What a quote must weigh to be looked for: a letter 1, a Chinese character 2.5; shorter ones are often mere terms."""
_MOST_QUOTES = 20
_LONGEST = 100_000


def unbacked(answer: str, material: Sequence[str], numbers: Set[int], *, quotes: bool) -> tuple[str, ...]:
    """The citations ``[n]`` with a number that is none of `numbers`, the files that `material` does not name, and with
    `quotes` the quotes that stand nowhere in it word for word; in the order of kinds, each once. Code does not count.
    """
    text = _CODE.sub(" ", answer[:_LONGEST])
    shown = "\n".join(material)
    found = [f"[{n}]" for mark in MARKS.finditer(text) for n in numbers_of(mark.group()) if n not in numbers]
    names = {match.group().casefold() for match in _FILE.finditer(shown)}
    found += [match.group() for match in _FILE.finditer(text) if not _is_named(match.group().casefold(), names)]
    if quotes:
        found += [f"“{quote}”" for quote in _quotes(text) if not find_quote(quote, shown)]
    return tuple(dict.fromkeys(found))


def _is_named(name: str, names: Set[str]) -> bool:
    """Whether a file is among those named, perhaps with less of its path, or right behind a Chinese word."""
    if any(one == name or one.endswith(f"/{name}") for one in names):
        return True
    tails = (basename(one) for one in names if name.endswith(basename(one)))
    return any(not _is_ascii_word(name[: -len(tail)][-1:]) and "/" not in name[: -len(tail)] for tail in tails)


def _is_ascii_word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char in "_-.") if char else False


def _quotes(text: str) -> Iterator[str]:
    found = 0
    for line in text.splitlines():
        for match in _QUOTE.finditer(line if line.count('"') % 2 == 0 else line.replace('"', " ")):
            quote = next(filter(None, match.groups()))
            if weight(quote) >= _LEAST and found < _MOST_QUOTES:
                found += 1
                yield quote
