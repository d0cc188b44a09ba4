"""Arguments of tools as models write them, and as attackers do."""

import math
from typing import Any

import pytest

from ctxcli.model.errors import CtxError, UsageError
from ctxcli.services.tool_arguments import checked
from ctxcli.services.tools import TOOLS, Toolbox

_BY_NAME = {tool.name: tool for tool in TOOLS}


def given(name: str, **arguments: Any) -> dict[str, Any]:
    tool = _BY_NAME[name]
    return checked(name, tool.properties, tool.required, arguments)


def refusal(name: str, **arguments: Any) -> UsageError:
    with pytest.raises(UsageError) as caught:
        given(name, **arguments)
    assert caught.value.hint
    assert len(caught.value.message) < 300
    return caught.value


def test_lists_numbers_and_truth_values_may_come_as_text() -> None:
    found = given("search", query="水泵", kb='["default", "手册"]', limit="5", notes="true")
    assert found == {"query": "水泵", "kb": ["default", "手册"], "limit": 5, "notes": True}
    assert given("search", query="pump", kb="a，b, c")["kb"] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("search", {"query": "pump " * 100_000}),
        ("search", {"query": "泵" * 20_000}),
        ("search", {"query": "pump", "x" * 1_000_000: 1}),
        ("search", {"query": "pump", "kb": ["k" * 1_000_000]}),
        ("get", {"doc": "a\0b"}),
        ("note_create", {"title": "水泵\0"}),
        ("search", {"query": math.nan}),
        ("fact_set", {"key": "k", "source": "s", "value": math.nan}),
        ("fact_set", {"key": "k", "source": "s", "value": {"a": 1}}),
        ("fact_set", {"key": "k", "source": "s", "value": [1]}),
    ],
)
def test_what_no_tool_takes_is_told_in_short(name: str, arguments: dict[str, Any]) -> None:
    refusal(name, **arguments)


def test_the_content_of_a_note_may_be_long() -> None:
    assert len(given("note_create", title="t", content="泵" * 500_000)["content"]) == 500_000
    assert "1,000,000" in refusal("note_create", title="t", content="x" * 2_000_000).hint


def test_a_fact_is_a_text_a_number_or_a_truth_value() -> None:
    assert [given("fact_set", key="温度", source="表 1", value=one)["value"] for one in ("28", 28.5, True, 0)] == [
        "28", 28.5, True, 0,
    ]  # fmt: skip


def test_an_unknown_tool_is_told_in_short() -> None:
    with pytest.raises(CtxError) as caught:
        Toolbox().call("y" * 1_000_000, {})
    assert len(caught.value.message) < 100


def test_limits_of_texts_stand_in_no_strict_schema() -> None:
    assert "maxLength" in str(_BY_NAME["note_create"].parameters)
    assert not any("maxLength" in str(tool.strict_parameters) for tool in TOOLS)
