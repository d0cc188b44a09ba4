"""Properties of front matter: what is written is read the same, and a change touches nothing else."""

from typing import Any

import yaml
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from ctxcli.parsing import front_matter, front_matter_patch, front_matter_plain, note_text, notes, yaml_text

characters = st.characters(exclude_categories=["Cs"])
texts = st.one_of(
    st.text(characters, max_size=40),
    st.text("ab:#-?[]{},&*!|>'\"%@` \n\t\\=~0123456789.周报é🎉\u2028\ufeff\u200d", max_size=20),
    st.sampled_from(
        [
            "yes",
            "No",
            "null",
            "~",
            "2024-01-01",
            "1.0",
            "1e3",
            "0x1F",
            "012",
            "a: b # c",
            "---",
            "...",
            "- x",
            "None",
            "true",
            "=",
            "<<",
            "12:30:45",
            "NaN",
            ".inf",
            "",
            " x ",
            "x ",
            "中文: 标题 #1",
            "y",
            "是的",
        ]
    ),
)
tags = st.lists(texts, max_size=4).map(tuple)


@given(texts)
def test_any_text_is_a_string_again_for_yaml(text: str) -> None:
    assert yaml.safe_load(f"key: {yaml_text.scalar(text)}\n") == {"key": text}
    assert "\n" not in yaml_text.scalar(text)


@given(tags)
def test_any_list_of_texts_is_the_same_again_for_yaml(given_tags: tuple[str, ...]) -> None:
    assert yaml.safe_load(f"key: {yaml_text.flow_list(given_tags)}\n") == {"key": list(given_tags)}


@given(st.text(characters, max_size=200))
@example("\n")
@example("a\n")
@example("---\n")
@example("a\r\nb")
def test_a_new_note_holds_its_content_exactly(content: str) -> None:
    head, body = note_text.render({"title": "t", "tags": ("a",)}, content)
    text = head + body
    span = front_matter.find(text)
    assert span.body == len(head)
    assert notes.content(text, span) == content


lines = st.lists(
    st.one_of(
        st.tuples(
            st.sampled_from(["title", "tags", "a", "状态", "x-y", "on", "no"]),
            st.sampled_from(
                [
                    "",
                    " ",
                    " v",
                    " 'q'",
                    ' "d"',
                    ' "a\\n"',
                    " [a, b]",
                    " [ ]",
                    " [a,, b]",
                    " 1",
                    " 1.5",
                    " true",
                    " 2024-01-02",
                    " 12:30",
                    " a: b",
                    " a #c",
                    " |",
                    " 'it''s'",
                    " [a, 'b c', \"d\"]",
                    " no",
                    " 007",
                    " 中文，标题",
                    " a b  ",
                    " *x",
                    " {a: 1}",
                    " 2024-01-02T10:00:00+08:00",
                    " a?b",
                    " [a?b]",
                    " 1_000",
                    ' "\\x41"',
                    " +1",
                    " -",
                    " None",
                    " 'a' b",
                    ' "a" b',
                    " [a]]",
                    " a'b",
                ]
            ),
        ).map(lambda one: f"{one[0]}:{one[1]}"),
        st.sampled_from(
            [
                "# comment",
                "",
                "- item",
                "  - item",
                "  - 'x'",
                "- a: b",
                "  more",
                "- ",
                "-",
                "  # c",
                "\tx",
                "- 1",
                "- [a]",
            ]
        ),
    ),
    max_size=6,
)


@given(lines, st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=600)
def test_the_plain_reader_reads_what_the_yaml_parser_reads_or_nothing(given_lines: list[str], newline: str) -> None:
    block = "".join(line + newline for line in given_lines)
    plain = front_matter_plain.read(block)
    if plain is not None:
        assert plain == front_matter.read_yaml(block)


@given(st.text("ab:- '\"[],#\n1.é周\t?!&*|>{}~", max_size=60))
@settings(max_examples=600)
def test_the_plain_reader_is_never_wrong_on_noise(block: str) -> None:
    plain = front_matter_plain.read(block)
    if plain is not None:
        assert plain == front_matter.read_yaml(block)


def _readable(block: str) -> dict[str, Any] | None:
    try:
        return front_matter.read_yaml(block)[1]
    except front_matter.BrokenError:
        return None


@given(lines, st.sampled_from(["title", "tags", "a", "new"]), st.one_of(texts, tags), st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=600)
def test_a_patch_changes_one_key_and_keeps_every_other_line(
    given_lines: list[str], key: str, wanted: str | tuple[str, ...], newline: str
) -> None:
    block = "".join(line + newline for line in given_lines)
    before = _readable(block)
    assume(before is not None)
    assume(not isinstance(wanted, tuple) or (all(wanted) and len(set(wanted)) == len(wanted)))
    assume(not isinstance(wanted, tuple) or all(front_matter_patch.bare(one) == one for one in wanted))
    try:
        patched = front_matter_patch.patch(block, {key: wanted}, newline=newline)
    except front_matter_patch.CannotPatchError:
        return
    after = _readable(patched)
    assert after is not None and before is not None
    assert {name: value for name, value in after.items() if name != key} == {
        name: value for name, value in before.items() if name != key
    }
    assert after[key] == (list(wanted) if isinstance(wanted, tuple) else wanted) or not wanted
    if isinstance(wanted, str):
        other = [line for line in block.splitlines() if line.lstrip().startswith("#")]
        assert [line for line in patched.splitlines() if line.lstrip().startswith("#")] == other


@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"---\n", b"\xef\xbb\xbf---\r\ntitle: x\r\n---\r\n", b"---\ntags: ["]),
)
def test_no_bytes_make_the_reader_fail(data: bytes, head: bytes) -> None:
    text = notes.decode(head + data)
    found = notes.parse(text.text, "name")
    assert found.title
    if text.exact:
        assert text.encode(text.text) == head + data
