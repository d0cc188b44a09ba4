"""Reads TESTS.yml, the documentation tests of `ctx check`; every error names line and key."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, NoReturn

from ctxcli.model.check import DocTest
from ctxcli.model.errors import DataError

_KEYS = ("question", "kb", "expect", "declined")
_EXPECT = ("doc", "section", "page", "contains")
_HINT = "see: ctx schema tests"


def read_doc_tests(text: str, *, name: str) -> tuple[DocTest, ...]:
    """The tests of a file; `name` is used in messages. Raises DataError (``bad_tests``) for what cannot be read."""
    import yaml

    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        _fail(name, line, f"not YAML: the character U+{ord(text[error.position]):04X} must not stand there")
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        _fail(name, line, f"not YAML: {getattr(error, 'problem', None) or error}")
    except RecursionError:
        _fail(name, 1, "not YAML: nested too deeply")
    if root is None:
        _fail(name, 1, "the file is empty")
    reader = _Reader(name)
    top = reader.mapping(root, ("tests",), "the file")
    if "tests" not in top:
        _fail(name, 1, "the key `tests` is missing")
    found = tuple(reader.tests(top["tests"]))
    if not found:
        _fail(name, top["tests"].start_mark.line + 1, "`tests` is empty")
    return found


def _fail(name: str, line: int, message: str, hint: str = _HINT) -> NoReturn:
    raise DataError(f"{name}:{line}: {message}", code="bad_tests", hint=hint)


class _Reader:
    """Turns YAML nodes, which know their lines, into tests."""

    def __init__(self, name: str) -> None:
        self._name = name

    def tests(self, node: Any) -> Iterator[DocTest]:
        for item in self._items(node, "tests"):
            yield self._test(item)

    def mapping(self, node: Any, keys: tuple[str, ...], what: str) -> dict[str, Any]:
        if node.id != "mapping":
            self._wrong(node, f"{what} must be a mapping of {', '.join(keys)}")
        found = {}
        for key, value in node.value:
            if key.id != "scalar":
                self._wrong(key, f"a key of {what} is no text")
            if key.value in found:
                self._wrong(key, f"the key `{key.value}` stands twice in {what}")
            if key.value not in keys:
                near = get_close_matches(str(key.value), keys, n=1)
                hint = f"did you mean `{near[0]}`?" if near else f"known keys: {', '.join(keys)}"
                _fail(self._name, key.start_mark.line + 1, f"unknown key `{key.value}` in {what}", hint)
            found[key.value] = value
        return found

    def _test(self, node: Any) -> DocTest:
        found = self.mapping(node, _KEYS, "a test")
        line = node.start_mark.line + 1
        if "question" not in found or ("expect" in found) == ("declined" in found):
            self._wrong(node, "a test needs `question`, and either `expect` or `declined: true`")
        question = self._text(found["question"], "question")
        kb = self._texts(found["kb"], "kb") if "kb" in found else ()
        if "declined" in found:
            if self._text(found["declined"], "declined").lower() != "true":
                self._wrong(found["declined"], "`declined` must be true; leave it out where an answer is expected")
            return DocTest(question, line, kb, declined=True)
        expect = self.mapping(found["expect"], _EXPECT, "`expect`")
        if not expect:
            self._wrong(found["expect"], "`expect` expects nothing")
        return DocTest(
            question,
            line,
            kb,
            doc=self._text(expect["doc"], "doc") if "doc" in expect else "",
            section=self._text(expect["section"], "section") if "section" in expect else "",
            page=self._page(expect["page"]) if "page" in expect else None,
            contains=self._texts(expect["contains"], "contains") if "contains" in expect else (),
        )

    def _items(self, node: Any, what: str) -> list[Any]:
        if node.id != "sequence":
            self._wrong(node, f"`{what}` must be a list")
        return list(node.value)

    def _text(self, node: Any, key: str) -> str:
        if node.id != "scalar" or node.tag.endswith(":null") or not str(node.value).strip():
            self._wrong(node, f"`{key}` must be a text")
        return str(node.value)

    def _texts(self, node: Any, key: str) -> tuple[str, ...]:
        if node.id == "scalar":
            return (self._text(node, key),)
        if not (items := self._items(node, key)):
            self._wrong(node, f"`{key}` is empty")
        return tuple(self._text(item, key) for item in items)

    def _page(self, node: Any) -> int:
        text = str(node.value) if node.id == "scalar" else ""
        if not (text.isascii() and text.isdecimal()) or int(text) < 1:
            self._wrong(node, "`page` must be a number from 1")
        return int(text)

    def _wrong(self, node: Any, message: str) -> NoReturn:
        _fail(self._name, node.start_mark.line + 1, message)
