"""Messages."""

from email.message import EmailMessage

from ctxcli.parsing import email_message
from tests.unit.parsing.shown import blocks, headings, kind_of


def message(subject: str = "会议纪要: 第3周") -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "甲 <a@example.org>", "b@example.org", subject
    return mail


def test_a_message_has_headers_and_text() -> None:
    mail = message()
    mail.set_content("正文第一段。\n\n- 一项\n")
    document = email_message.parse(mail.as_bytes(), name="a.eml")
    assert document.title == "会议纪要: 第3周"
    assert "From: 甲 <a@example.org>" in blocks(document, "item")
    assert kind_of(document, "正文") == "prose"
    assert not document.has_lines


def test_the_plain_part_is_preferred_and_attachments_are_named_only() -> None:
    mail = message()
    mail.set_content("plain text")
    mail.add_alternative("<p>html text</p>", subtype="html")
    mail.add_attachment(b"SECRET BYTES", maintype="application", subtype="pdf", filename="附件.pdf")
    document = email_message.parse(mail.as_bytes(), name="a.eml")
    assert "plain text" in document.text
    assert "html text" not in document.text
    assert document.text.endswith("Attachments: 附件.pdf")


def test_an_html_message_is_read_as_html() -> None:
    mail = message()
    mail.set_content("<h1>Plan</h1><p>Do <b>it</b>.</p>", subtype="html")
    document = email_message.parse(mail.as_bytes(), name="a.eml")
    assert headings(document) == [(1, "", "Plan")]
    assert document.text[document.sections[0].start :].startswith("Plan")
    assert "Do it." in document.text


def test_text_in_an_unnamed_or_wrong_charset_is_read() -> None:
    head = b"Subject: x\nContent-Type: text/plain; charset=%s\nContent-Transfer-Encoding: 8bit\n\n"
    body = "今天讨论连接池超时的问题。".encode("gbk")
    for charset in (b"gb2312", b"us-ascii", b"x-unknown", b"utf-8"):
        assert "今天讨论连接池超时" in email_message.parse(head % charset + body, name="a.eml").text, charset


def test_a_message_without_subject_is_named_by_its_file() -> None:
    document = email_message.parse(b"From: a\n\nhello\n", name="mail-1.eml")
    assert (document.title, document.title_from_name) == ("mail-1", True)


MIXED = (
    b"Subject: parts\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n"
    b"--B\nContent-Type: text/plain\n\nFirst.\n--B\nContent-Type: image/png\n"
    b"Content-Disposition: inline; filename=x.png\nContent-Transfer-Encoding: base64\n\nAAAA\n"
    b"--B\nContent-Type: text/plain; name=more.txt\n\nSecond.\n--B--\n"
)


def test_all_texts_between_pictures_are_read() -> None:
    document = email_message.parse(MIXED, name="a.eml")
    assert blocks(document, "prose") == ["First.", "Second.", "Attachments: x.png, more.txt"]


def test_a_forwarded_message_is_read_with_its_headers() -> None:
    inner = message("里面的主题")
    inner.set_content("The price is 42 euro.")
    outer = message("Fwd")
    outer.set_content("See below.")
    outer.add_attachment(inner)
    document = email_message.parse(outer.as_bytes(), name="a.eml")
    assert blocks(document, "prose") == ["See below.", "The price is 42 euro."]
    assert "Subject: 里面的主题" in blocks(document, "item")
    assert document.title == "Fwd"


def test_a_blank_plain_part_does_not_hide_the_html() -> None:
    mail = message()
    mail.set_content("\n")
    mail.add_alternative("<h1>Plan</h1><p>Code 77.</p>", subtype="html")
    document = email_message.parse(mail.as_bytes(), name="a.eml")
    assert headings(document) == [(1, "", "Plan")]
    assert kind_of(document, "Code 77.") == "prose"
    assert document.text[document.sections[0].start :].startswith("Plan")


def test_headers_that_nobody_encoded_are_read() -> None:
    text = "From: 王小明 <w@x.cn>\nSubject: 库存\nContent-Type: text/plain; charset={}\n\n正文：库存为二十箱。\n"
    for charset in ("gbk", "utf-8"):
        document = email_message.parse(text.format(charset).encode(charset), name="a.eml")
        assert document.title == "库存", charset
        assert "From: 王小明 <w@x.cn>" in blocks(document, "item")


def test_messages_in_messages_are_followed_to_an_end() -> None:
    data = b"Content-Type: message/rfc822\n\n" * 100 + b"Subject: deep\n\ntext\n"
    assert "deep" not in email_message.parse(data, name="a.eml").text


def test_a_date_that_is_none_is_shown_as_it_stands() -> None:
    data = b"Date: Mon, 4 Mar 2024 10:00:00 +99999999999999999999\nSubject: x\n\ntext\n"
    document = email_message.parse(data, name="a.eml")
    assert blocks(document, "item") == ["Date: Mon, 4 Mar 2024 10:00:00 +99999999999999999999", "Subject: x"]
