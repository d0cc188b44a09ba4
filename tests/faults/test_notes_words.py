"""Words of any script and form, found in notes."""

from pathlib import Path

import pytest

from tests.cli.run import ctx, write
from tests.faults.test_notes import place

__all__ = ["place"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("今天讨论连接池超时", "连接池"),
        ("云盘 300 元学生券", "云盘 优惠券"),
        ("设置止损线", "止损"),
        ("古籍除濕", "古籍除湿"),
        ("古籍除湿", "古籍除濕"),
        ("ACCT-99", "ＡＣＣＴ－９９"),
        ("ＡＣＣＴ－９９", "acct-99"),
        ("cafe\u0301", "caf\u00e9"),
        ("caf\u00e9", "CAFE\u0301"),
        ("version 2026.4.10 came", "2026.4.10"),
        ("it is 1.0.21", '"1.0.21"'),
        ("a real-time thing", "real-time"),
        ("call snake_case now", "snake_case"),
        ("call snake_case now", "case"),
        ("Привет мир", "привет"),
        ("нашего мира", "мира"),
        ("ภาษาไทยง่าย", "ไทย"),
        ("หน้า हिन्दी में", "हिन्दी"),
        ("we are deploying", "deployed"),
        ("GitHub Actions", "github"),
        ("如何配置连接池超时时间", "连接池的超时时间怎么配置"),
    ],
)
def test_words_are_found_in_any_script(place: Path, text: str, query: str) -> None:
    write(place, "notes/hit.md", f"---\ntitle: hit\n---\n{text}\n")
    write(place, "notes/other.md", "---\ntitle: other\n---\n别的事情 nothing here\n")
    found = ctx(place, "note", "search", query, "--json").json
    assert [note["title"] for note in found["notes"]] == ["hit"]
    assert "**" in found["notes"][0]["snippet"]


def test_front_matter_is_no_text(place: Path) -> None:
    ctx(place, "note", "create", "x", "--content", "body")
    assert ctx(place, "note", "search", "general", "--json").json["total"] == 0
    assert ctx(place, "note", "search", "updated_at", "--json").json["total"] == 0
