"""Patterns of ``.gitignore`` files, matched as Git matches them.

One difference: ``?`` and ``[…]`` stand for one character, where Git takes one byte of a non-ASCII name.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "\\x21-\\x7e",
    "lower": "a-z",
    "print": "\\x20-\\x7e",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\s",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern. `regex` matches a whole name, or a whole path below the file's folder where `anchored`."""

    regex: re.Pattern[str]
    negated: bool
    folders_only: bool
    anchored: bool


@dataclass(frozen=True)
class Rules:
    """The patterns of one file, in its order; the last that matches decides."""

    rules: tuple[Rule, ...]

    @cached_property
    def _names(self) -> re.Pattern[str] | None:
        return _any_of(rule for rule in self.rules if not rule.anchored)

    @cached_property
    def _paths(self) -> re.Pattern[str] | None:
        return _any_of(rule for rule in self.rules if rule.anchored)

    def decide(self, path: str, *, folder: bool) -> bool | None:
        """True: ignored; False: taken back by ``!``; None: no pattern fits. `path` is below the file's folder."""
        name = path.rpartition("/")[2]
        if not (self._names and self._names.fullmatch(name)) and not (self._paths and self._paths.fullmatch(path)):
            return None
        for rule in reversed(self.rules):
            if (folder or not rule.folders_only) and rule.regex.fullmatch(path if rule.anchored else name):
                return not rule.negated
        return None


@dataclass(frozen=True)
class PrefixedRules(Rules):
    """Rules of a folder further out: `prefix` leads from it to where the paths begin."""

    prefix: str

    def decide(self, path: str, *, folder: bool) -> bool | None:
        """As `Rules.decide`."""
        return Rules.decide(self, self.prefix + path, folder=folder)


def _any_of(rules: Iterable[Rule]) -> re.Pattern[str] | None:
    """One expression in place of many: nearly every name matches none of them."""
    sources = [rule.regex.pattern for rule in rules]
    return re.compile("|".join(f"(?:{source})" for source in sources), re.DOTALL) if sources else None


def parse(text: str) -> Rules:
    """Read the lines of a ``.gitignore`` file; lines that can never match are left out."""
    lines = text.removeprefix("\ufeff").split("\n")
    return Rules(tuple(rule for line in lines if (rule := parse_line(line.removesuffix("\r")))))


def parse_line(line: str) -> Rule | None:
    """Read one pattern; None for a blank line, a comment or a pattern that can never match."""
    pattern = _without_trailing_blanks(line)
    if not pattern or pattern.startswith("#"):
        return None
    negated = pattern.startswith("!")
    pattern = pattern[1:] if negated else pattern
    folders_only = pattern.endswith("/")
    pattern = pattern[:-1] if folders_only else pattern
    anchored = "/" in pattern
    pattern = pattern.removeprefix("/")
    source = _translate(pattern, paths=anchored)
    if not pattern or source is None:
        return None
    return Rule(re.compile(source, re.DOTALL), negated, folders_only, anchored)


def _without_trailing_blanks(line: str) -> str:
    end = len(line)
    while end and line[end - 1] == " ":
        end -= 1
    backslashes = end - len(line[:end].rstrip("\\"))
    return line[: end + 1] if backslashes % 2 and end < len(line) else line[:end]


def _translate(pattern: str, *, paths: bool) -> str | None:
    """The pattern as a regular expression; None where it can never match."""
    parts: list[str] = []
    at = 0
    literal_so_far = True  # Git compares the literal start apart, so stars right after it stand at a start
    while at < len(pattern):
        char = pattern[at]
        if char == "*":
            end = at + len(pattern[at:]) - len(pattern[at:].lstrip("*"))
            starts = literal_so_far or pattern[at - 1] == "/"
            source, at = _stars(pattern, at, end, starts=starts) if paths else (".*", end)
            parts.append(source)
        elif char == "?":
            parts.append("[^/]")
            at += 1
        elif char == "[":
            found = _bracket(pattern, at + 1)
            if found is None:
                return None
            parts.append(found[0])
            at = found[1]
        elif char == "\\":
            if at + 1 == len(pattern):
                return None
            parts.append(re.escape(pattern[at + 1]))
            at += 2
        else:
            parts.append(re.escape(char))
            at += 1
            continue
        literal_so_far = False
    return "".join(parts)


def _stars(pattern: str, at: int, end: int, *, starts: bool) -> tuple[str, int]:
    """A run of stars from `at` to `end`, and where to go on. Two between slashes pass over any folders."""
    if end - at < 2 or not starts:
        return "[^/]*", end
    if end == len(pattern):
        return ".*", end
    if pattern[end] == "/":
        return "(?:.*/)?", end + 1
    return (".*", end) if pattern.startswith("\\/", end) else ("[^/]*", end)


def _bracket(pattern: str, at: int) -> tuple[str, int] | None:
    """A ``[…]`` expression whose inside begins at `at`, and where to go on; None where it does not end."""
    negated = pattern[at : at + 1] in ("!", "^")
    at += negated
    items: list[str] = []
    first = True
    while first or pattern[at : at + 1] != "]":
        first = False
        if pattern.startswith("[:", at):
            end = pattern.find(":]", at)
            name = pattern[at + 2 : end] if end >= 0 else ""
            if name not in _CLASSES:
                return None
            items.append(_CLASSES[name])
            at = end + 2
            continue
        low, at = _bracket_char(pattern, at)
        high = low
        if low and pattern[at : at + 1] == "-" and pattern[at + 1 : at + 2] not in ("]", ""):
            high, at = _bracket_char(pattern, at + 1)
        if not low or not high:
            return None
        if low <= high:
            items.append(f"{re.escape(low)}-{re.escape(high)}")
    inside = "".join(items)
    if not inside:
        return ("[^/]" if negated else "(?!)"), at + 1
    return (f"[^/{inside}]" if negated else f"(?!/)[{inside}]"), at + 1


def _bracket_char(pattern: str, at: int) -> tuple[str, int]:
    if pattern[at : at + 1] == "\\":
        at += 1
    return pattern[at : at + 1], at + 1
