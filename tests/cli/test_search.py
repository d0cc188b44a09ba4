"""`ctx kb search` as a process."""

import unicodedata
from pathlib import Path

import pytest

from tests.cli.run import ctx, fed, write

HIT_KEYS = {
    "rank", "score", "kb", "doc", "title", "section", "heading", "heading_path", "page", "page_end", "page_label",
    "line_start", "line_end", "quote", "text", "chunk_id", "doc_sha256",
}  # fmt: skip
DECOMPOSED = unicodedata.normalize("NFD", "café.md")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("search") / "w"
    vents = "# 6.3 Vents\n\nWind and the vent.\n\n# 6.3.2 Strong\n\nStrong wind closes it.\n"
    write(folder, "docs/manual.md", f"# 6 Wind\n\nWind in general.\n\n{vents}\n# 6.30 Other\n\nWind elsewhere.\n")
    write(folder, "docs/手册.md", "# 第三章 大风\n\n大风时天窗关闭。\n")
    write(folder, "docs/deep/README.md", "# Read me\n\nWind is read about here.\n")
    write(folder, f"docs/{DECOMPOSED}", "# Café\n\nThe wind in the café.\n")
    assert ctx(folder, "kb", "index", "docs", "-q").code == 0
    return folder


def docs(place: Path, *arguments: str) -> set[str]:
    return {unicodedata.normalize("NFC", hit["doc"]) for hit in hits(place, *arguments)}


def hits(place: Path, *arguments: str) -> list[dict[str, str]]:
    done = ctx(place, "kb", "search", *arguments, "--json")
    assert done.code == 0, done.err
    return list(done.json["hits"])


@pytest.mark.parametrize("mode", ["bm25", "keyword"])
def test_the_hits_document_has_its_fields(place: Path, mode: str) -> None:
    document = ctx(place, "kb", "search", "strong wind", "--mode", mode, "--json").json
    assert list(document) == ["schema", "query", "hits"]
    assert (document["schema"], document["query"]) == ("ctx/hits/1", "strong wind")
    assert [hit["rank"] for hit in document["hits"]] == list(range(1, len(document["hits"]) + 1))
    for hit in document["hits"]:
        assert set(hit) == HIT_KEYS
        assert hit["quote"] in hit["text"]
    assert document["hits"][0]["section"] == "6.3.2"
    scores = [hit["score"] for hit in document["hits"]]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) > 0


def test_modes_score_differently(place: Path) -> None:
    assert hits(place, "strong wind", "--mode", "keyword")[0]["score"] == 1.3
    assert float(hits(place, "strong wind")[0]["score"]) <= 1


def test_a_section_includes_those_below_it(place: Path) -> None:
    assert {hit["section"] for hit in hits(place, "wind", "--section", "6.3")} == {"6.3", "6.3.2"}
    assert {hit["section"] for hit in hits(place, "wind", "--section", "6.3.2")} == {"6.3.2"}
    assert {hit["section"] for hit in hits(place, "wind", "--section", "6")} == {"6", "6.3", "6.3.2", "6.30"}
    assert {hit["section"] for hit in hits(place, "大风", "--section", "第三章")} == {"第三章"}
    assert hits(place, "wind", "--section", "7") == []


@pytest.mark.parametrize("section", ["§6.3.2", "§ 6.3.2", "section 6.3.2"])
def test_a_section_may_be_written_as_sources_show_it(place: Path, section: str) -> None:
    assert {hit["section"] for hit in hits(place, "wind", "--section", section)} == {"6.3.2"}
    assert {hit["section"] for hit in hits(place, "大风", "--section", "第3章")} == {"第三章"}
    assert hits(place, "wind", "--section", "§7") == []


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("manual.md", {"docs/manual.md"}),
        ("docs/*.md", {"docs/manual.md", "docs/café.md"}),
        ("docs/**/*.md", {"docs/manual.md", "docs/café.md", "docs/deep/README.md"}),
        ("readme*", {"docs/deep/README.md"}),
        ("README*", {"docs/deep/README.md"}),
        ("ReadMe*", set()),
        ("docs/deep", {"docs/deep/README.md"}),
        ("café.md", {"docs/café.md"}),
        (DECOMPOSED, {"docs/café.md"}),
        ("!manual.md", {"docs/café.md", "docs/deep/README.md"}),
        ("nothing*", set()),
    ],
)
def test_documents_are_chosen_by_pattern(place: Path, glob: str, expected: set[str]) -> None:
    assert docs(place, "wind", "--doc", glob) == expected


def test_the_number_of_hits_is_limited(place: Path) -> None:
    assert len(hits(place, "wind", "--top-k", "2")) == 2
    assert len(hits(place, "wind", "-k", "1")) == 1


def test_nothing_found_is_an_empty_list_and_with_fail_empty_code_4(place: Path) -> None:
    assert hits(place, "zebra") == []
    assert hits(place, "the") == []
    assert ctx(place, "kb", "search", "zebra").out == ""
    done = ctx(place, "kb", "search", "zebra", "--fail-empty", "--json")
    assert (done.code, done.json["hits"]) == (4, [])
    assert ctx(place, "kb", "search", "wind", "--fail-empty").code == 0


def test_explain_tells_where_each_term_occurs(place: Path) -> None:
    document = ctx(place, "kb", "search", "strong zebra wind", "--explain", "--json").json
    terms = {one["term"]: one for one in document["explain"]["terms"]}
    assert set(terms) == {"strong", "zebra", "wind"}
    assert (terms["zebra"]["chunks"], terms["zebra"]["hits"]) == (0, [])
    assert terms["strong"]["hits"] == [1]
    assert terms["strong"]["weight"] > terms["wind"]["weight"] > 0
    shown = ctx(place, "kb", "search", "strong zebra wind", "--explain").out
    assert ["strong", "1"] in [line.split()[::3] for line in shown.splitlines()]


def test_text_shows_place_and_quote(place: Path) -> None:
    out = ctx(place, "kb", "search", "strong wind", "-k", "1").out
    assert "docs/manual.md · §6.3.2 Strong" in out
    assert "Strong wind closes it." in out
    assert "docs/手册.md · §第三章 大风 · 第 3 行" in ctx(place, "kb", "search", "天窗关闭").out


@pytest.mark.parametrize(
    ("arguments", "code", "name"),
    [
        (["wind", "--mode", "magic"], 2, "usage"),
        (["wind", "--kb", "nope"], 3, "kb_not_found"),
        (["wind", "-k", "0"], 2, "usage"),
        ([], 2, "usage"),
    ],
)
def test_mistakes_are_told(place: Path, arguments: list[str], code: int, name: str) -> None:
    done = ctx(place, "kb", "search", *arguments, "--json")
    assert (done.code, done.json["error"]["code"]) == (code, name)


@pytest.mark.parametrize("query", ["a AND b OR (c", "wind^2 +x -y", '"unclosed', "*", "field:wind", "\\", "😀"])
def test_any_query_is_words_not_syntax(place: Path, query: str) -> None:
    assert ctx(place, "kb", "search", query, "--json").code == 0


@pytest.mark.parametrize("query", ["", "  ", "\u3000"])
def test_an_empty_query_is_refused(place: Path, query: str) -> None:
    done = ctx(place, "kb", "search", query)
    assert done.code == 2
    assert "the query is empty" in done.err


def test_a_query_is_read_from_stdin(place: Path) -> None:
    done = fed(place, "大风 天窗\n", "kb", "search", "-", "--json")
    assert [hit["doc"] for hit in done.json["hits"]][:1] == ["docs/手册.md"]
