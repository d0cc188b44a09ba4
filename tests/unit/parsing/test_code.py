"""Source code: definitions by ``ast`` for Python, by lines for others."""

from pathlib import Path

import pytest

from ctxcli.model.document import Document
from ctxcli.parsing import code
from tests.unit.parsing.shown import blocks, kind_of, path_of

FIXTURES = Path(__file__).parents[2] / "fixtures" / "code"


def read(text: str, name: str = "store.py") -> Document:
    return code.parse(text.encode(), name=name)


def names(document: Document) -> list[str]:
    return [section.title for section in document.sections]


PYTHON = '''"""The store keeps notes."""
import os

# Opens a store.
# Slowly.
@decorated(
    1,
)
def open_store(
    path,
    mode="r",
):
    """Opening hours."""
    def nested():
        pass
    return nested

LIMIT = 3

class Small:
    def one(self):
        pass

async def later():
    pass

if __name__ == "__main__":
    later()
'''


def test_functions_keep_decorators_comments_and_all_lines_of_their_signature() -> None:
    document = read(PYTHON)
    found = next(block for block in blocks(document, "code") if "def open_store" in block)
    assert found.startswith("# Opens a store.\n# Slowly.\n@decorated(")
    assert found.endswith("return nested")
    assert names(document) == ["open_store", "(top level)", "Small", "later", "(top level)"]


def test_nested_functions_are_no_definitions_of_their_own() -> None:
    assert "nested" not in names(read(PYTHON))


def test_the_docstring_of_a_module_is_prose() -> None:
    assert kind_of(read(PYTHON), "keeps notes") == "prose"


def test_module_level_code_belongs_to_no_function() -> None:
    document = read(PYTHON)
    assert path_of(document, "LIMIT") == ("(top level)",)
    assert path_of(document, "if __name__") == ("(top level)",)
    assert path_of(document, "import os") == ()


def test_the_title_is_the_name_of_the_file() -> None:
    document = read("x = 1\n")
    assert (document.title, document.title_from_name, document.has_lines) == ("store.py", True, True)


def test_a_long_class_is_split_by_method_and_a_short_one_is_not() -> None:
    body = "".join(
        f"    # number {n}\n    @property\n    def m{n}(self):\n        return {'x' * 200!r}\n\n" for n in range(8)
    )
    document = read(f"class Store:\n    '''Doc.'''\n\n{body}    LAST = 1\n")
    assert names(document)[:3] == ["Store", "Store.m0", "Store.m1"]
    assert names(document)[-1] == "Store"
    assert document.sections[1].path == ("Store", "Store.m0")
    assert blocks(document, "code")[1].startswith("    # number 0\n    @property\n    def m0")
    assert names(read("class A:\n    def m(self):\n        pass\n")) == ["A"]


@pytest.mark.parametrize(
    "text",
    ["def f(:\n    pass\n\ndef g():\n    return 1\n", "def f():\n\treturn '\n\ndef g():\n    pass\n", "(" * 5000],
)
def test_a_file_that_does_not_parse_is_read_with_a_warning(text: str) -> None:
    document = read(text)
    assert [warning.code for warning in document.warnings] == ["python_syntax"]
    assert document.text == text
    if "def g" in text:
        assert "g" in names(document)


def test_python_in_gbk_with_chinese_comments_is_read() -> None:
    document = code.parse("# 计算平均值，返回结果\ndef mean(xs):\n    return 1\n".encode("gbk"), name="a.py")
    assert "计算平均值" in document.text
    assert names(document) == ["mean"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("sample.js", ["load", "add"]),
        ("sample.ts", ["Row", "Store"]),
        ("sample.go", ["Open", "Store.Close", "Store"]),
        ("sample.rs", ["open", "Store"]),
        ("Store.java", ["Store"]),
        ("sample.c", ["add", "row"]),
        ("sample.rb", ["Store", "main"]),
        ("sample.sh", ["build", "clean"]),
        ("sample.sql", ["users", "v"]),
        ("sample.toml", ["project", "tool.ruff"]),
        ("sample.yaml", ["name", "jobs"]),
        ("Makefile", ["all", "build"]),
        ("sample.sas", ["means", "tab"]),
    ],
)
def test_definitions_of_other_languages_are_sections(name: str, found: list[str]) -> None:
    source = (FIXTURES / name).read_text(encoding="utf-8")
    document = read(source, name)
    assert [title for title in names(document) if title != code.TOP_LEVEL] == found
    assert "".join("".join(blocks(document)).split()) == "".join(source.split())


def test_leading_comments_belong_to_the_definition() -> None:
    document = read("int x;\n\n/**\n * Adds.\n */\nint add(int a) {\n  return a;\n}\n", "a.c")
    assert any(block.startswith("/**\n * Adds.") and block.endswith("}") for block in blocks(document))


def test_methods_of_a_long_class_have_qualified_names() -> None:
    body = "".join(f"  method{n}(a) {{\n    return '{'x' * 300}';\n  }}\n\n" for n in range(6))
    document = read(f"class Store {{\n{body}}}\n", "a.js")
    assert names(document)[:2] == ["Store", "Store.method0"]
