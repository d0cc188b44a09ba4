"""Decoding of files: marks, UTF-8, UTF-16, legacy encodings, binary files."""

import pytest

from ctxcli.text.encoding import decode, is_binary, unify_newlines

SIMPLIFIED = "今天讨论连接池超时的问题，需要把最大连接数调到三百。"
TRADITIONAL = "今天討論連線逾時的問題，需要把最大連線數調到三百。"
JAPANESE = "サーバーの設定ファイルを変更したときは再起動してください。"
FRENCH = "Les résultats préliminaires ont été présentés à l’équipe – déjà fermé."


@pytest.mark.parametrize(
    ("text", "written", "named"),
    [
        (SIMPLIFIED, "gb2312", "gb18030"),
        (SIMPLIFIED, "gbk", "gb18030"),
        (TRADITIONAL, "big5", "big5"),
        (JAPANESE, "shift_jis", "cp932"),
        (JAPANESE, "euc_jp", "euc_jp"),
        ("안녕하세요. 데이터베이스 설정 문서입니다.", "euc_kr", "euc_kr"),
        ("Привет, мир! Это заметка о базе данных.", "cp1251", "windows-1251"),
        (FRENCH, "cp1252", "cp1252"),
        (SIMPLIFIED, "utf-16-le", "utf-16-le"),
        (TRADITIONAL, "utf-16-be", "utf-16-be"),
        ("plain ASCII text", "utf-16-le", "utf-16-le"),
        (SIMPLIFIED, "utf-8", "utf-8"),
        (SIMPLIFIED, "utf-8-sig", "utf-8-sig"),
        (SIMPLIFIED, "utf-16", "utf-16-le"),
        (SIMPLIFIED, "utf-32", "utf-32-le"),
    ],
)
def test_a_text_is_read_in_the_encoding_it_was_written_in(text: str, written: str, named: str) -> None:
    decoded = decode(text.encode(written))
    assert decoded.text == text
    assert decoded.encoding == named
    assert decoded.replaced == 0


@pytest.mark.parametrize("text", ["中文", "你好，世界", "会议纪要", "连接超时", "数据库配置说明"])
def test_a_few_chinese_characters_are_enough(text: str) -> None:
    assert decode(text.encode("gbk")).text == text


@pytest.mark.parametrize("text", ["café", "naïve", "Größe über alles", "señor ¿qué?", "“quoted” – dash"])
def test_a_few_western_letters_are_enough(text: str) -> None:
    assert decode(text.encode("cp1252")).text == text


def test_characters_only_gb18030_knows_are_read() -> None:
    text = "这个字是𠮷，人名常用，我们的系统要支持。"
    assert decode(text.encode("gb18030")).text == text


def test_a_broken_byte_in_utf8_is_replaced_and_counted() -> None:
    data = SIMPLIFIED.encode() + b"\xff" + SIMPLIFIED.encode()
    decoded = decode(data)
    assert decoded.encoding == "utf-8"
    assert decoded.text == f"{SIMPLIFIED}\ufffd{SIMPLIFIED}"
    assert decoded.replaced == 1


def test_nothing_is_text() -> None:
    assert decode(b"").text == ""
    assert not is_binary(b"")


@pytest.mark.parametrize(
    "data", [b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", bytes(range(256)) * 4, b"\x00" * 50, b"ab\x00cd"]
)
def test_bytes_that_are_no_text_are_binary(data: bytes) -> None:
    assert is_binary(data)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "gbk", "utf-32"])
def test_chinese_text_is_not_binary(encoding: str) -> None:
    assert not is_binary((SIMPLIFIED * 3).encode(encoding))


def test_terminal_colours_do_not_make_a_log_binary() -> None:
    assert not is_binary(b"\x1b[31mERROR\x1b[0m something failed\n")


def test_all_line_ends_become_one() -> None:
    assert unify_newlines("a\r\nb\rc\nd") == "a\nb\nc\nd"


def test_utf8_with_a_stray_byte_stays_utf8_however_short() -> None:
    for whole, stray in (("naïve café", b" \x92s"), ("好的，中文 text", b" \xff"), ("开会", b" \xe9 later")):
        found = decode(whole.encode() + stray)
        assert (found.encoding, found.replaced) == ("utf-8", 1)
        assert found.text.startswith(whole)
