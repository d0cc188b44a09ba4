"""From bytes to text: byte order marks, UTF-8, UTF-16 without a mark, and the legacy encodings."""

import re
from dataclasses import dataclass

SAMPLE = 65536
"""Bytes looked at when a legacy encoding is guessed."""

_BOMS = (
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_COMMON_HAN = frozenset(
    "的一是了我不人在他有这个上们来到时大地为子中你说生国年着就那和要她出也得里后自以会家可下而过天去能对小多然于心学"
    "么之都好看起发当没成只如事把还用第样道想作种开美总从无情己面最女但现前些所同日手又行意动方期它头经长儿回位分爱老因很给"
    "名法间斯知世什两次使身者被高已亲其进此话常与活正感见明问力理尔点文几定本公特做外孩相西果走将月十实向声车全信重三机工物气"
    "每并别真打太新比才便夫再书部水像眼等体却加电主界门利海受听表德少克代员许先口由死安写性马光白或住难望教命花结乐色更拉东神"
    "记处让母父应直字场平报友关放至张认接告入笑内英军候民岁往何度山觉路带万男边风解叫任金快原吃妈变通师立象数四失满战远格士音"
    "二五六七八九条款节章项规件据统设系请配置文档测试网络服务程序错误管理规定应当依照情况期限办法机关责任部门单位可以不得"
    "這個們來時為說國著會過對於學麼還樣種開總從無動頭經長兒愛給間兩親進話與見問點幾將實聲車全機氣別書體卻電門聽許寫馬難樂東"
    "記處讓應場報關張認歲覺帶萬邊風變師數滿戰遠條款節項規據統設請網絡務錯誤檔測試資訊軟體檢視選擇檔案"
    "日本語文書検索設定変更対応実行確認場合使用方法必要情報接続起動"
)
_PUNCTUATION = frozenset("，。、；：？！“”‘’（）《》「」『』【】…—·　〈〉％０１２３４５６７８９")
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fc]")
_PLAUSIBLE_WIDE = re.compile("[\\t\\n\\r\u0020-\u007e\u2010-\u2026\u3000-\u30ff\u4e00-\u9fff\uff01-\uff5e]")
_HALF_KANA = re.compile("[\uff61-\uff9f]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_WESTERN = frozenset("àâäáãåæçéèêëíìîïñóòôöõøœúùûüÿßÀÂÄÁÃÅÆÇÉÈÊËÍÌÎÏÑÓÒÔÖÕØŒÚÙÛÜ¿¡«»“”‘’–—…•€£©®°·§±²³µ½¼×\xa0")
_EAST_ASIAN = ("gb18030", "big5", "cp932", "euc_jp", "euc_kr")
_SAME_BYTES = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "iso-8859-1": "cp1252", "ascii": "cp1252"}
_MAINFRAME = frozenset({"cp037", "cp273", "cp424", "cp500", "cp875", "cp1026", "cp1140", "utf-7", "utf7"})
_CONTROL = bytes(set(range(0x20)) - {0x08, 0x09, 0x0A, 0x0C, 0x0D, 0x1B})


@dataclass(frozen=True, slots=True)
class Decoded:
    """`text` keeps its line ends; `replaced` counts the bytes or characters that could not be read."""

    text: str
    encoding: str
    replaced: int


def decode(data: bytes) -> Decoded:
    """Decode a file; never fails, for what cannot be read becomes U+FFFD and is counted."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _decoded(data[len(mark) :], encoding)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    else:
        wide = _utf16_guess(data) if "\x00" in text else ""
        return _decoded(data, wide) if wide else Decoded(text, "utf-8", 0)
    wide = _utf16_guess(data)
    if wide:
        return _decoded(data, wide)
    return _damaged_utf8(data) or _decoded(data, guess_legacy(data))


def unify_newlines(text: str) -> str:
    """Return `text` with CRLF and CR as LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def is_binary(data: bytes) -> bool:
    """Whether the bytes are no text: NUL outside UTF-16 and UTF-32, or many control characters."""
    head = data[:8192]
    if head.startswith(tuple(mark for mark, _ in _BOMS)):
        return False
    if b"\x00" in head and not _utf16_guess(head):
        return True
    controls = len(head) - len(head.translate(None, _CONTROL.replace(b"\x00", b"")))
    return controls * 20 > len(head) and not _utf16_guess(head)


def guess_legacy(data: bytes) -> str:
    """Name the likeliest encoding of bytes that are neither UTF-8 nor UTF-16."""
    sample = _sample(data)
    scores = {encoding: score for encoding in _EAST_ASIAN if (score := _east_asian_score(sample, encoding)) > 0}
    best = max(scores, key=lambda encoding: scores[encoding], default="")
    others = [score for encoding, score in scores.items() if encoding != best]
    if best and scores[best] >= 0.35 and scores[best] > 1.3 * max(others, default=0.0):
        return best
    return _by_chardet(sample) or best or "cp1252"


def _by_chardet(sample: bytes) -> str:
    import chardet

    found = str(chardet.detect(sample)["encoding"] or "").lower()
    found = _SAME_BYTES.get(found, found)
    found = "" if found in _MAINFRAME else found
    western = _western_share(sample)
    if western >= 0.9:
        return "cp1252"
    try:
        sample.decode(found or "no-such-encoding", errors="replace")
    except (LookupError, UnicodeError):
        return "cp1252" if western >= 0.5 else ""
    return found


def _western_share(sample: bytes) -> float:
    """Of the characters beyond ASCII, how many Western European texts use (0…1).

    Words whose letters are mostly beyond ASCII are not Western, whatever the letters.
    """
    marks = [c for c in sample.decode("cp1252", errors="replace") if c > "\x7f"]
    letters = sum(chr(byte).isalpha() for byte in sample if byte < 0x80)
    if not marks or len(marks) > letters:
        return 0.0
    return sum(c in _WESTERN for c in marks) / len(marks)


def _east_asian_score(sample: bytes, encoding: str) -> float:
    """Share of the characters beyond ASCII that are common in the encoding's languages (0…1)."""
    try:
        text = sample.decode(encoding)
    except UnicodeDecodeError:
        return 0.0
    beyond = [c for c in text if c > "\x7f"]
    if not beyond:
        return 0.0
    good = sum(c in _COMMON_HAN or c in _PUNCTUATION for c in beyond)
    if encoding in {"cp932", "euc_jp"}:
        good += len(_KANA.findall(text)) - len(_HALF_KANA.findall(text))
    if encoding == "euc_kr":
        good = len(_HANGUL.findall(text)) + sum(c in _PUNCTUATION for c in beyond)
        good = good if good * 10 > len(beyond) * 9 else 0
    return good / len(beyond)


def _damaged_utf8(data: bytes) -> Decoded | None:
    """UTF-8 with a few broken bytes, if that is what the bytes are.

    Whole characters of several bytes are what other encodings hardly form by chance, least of all three bytes long.
    """
    text = data.decode("utf-8", errors="replace")
    bad = text.count("\ufffd")
    wide = sum(char > "\u07ff" for char in text) - bad
    narrow = sum("\x7f" < char <= "\u07ff" for char in text)
    return Decoded(text, "utf-8", bad) if 2 * bad <= narrow + 3 * wide else None


def _utf16_guess(data: bytes) -> str:
    """``utf-16-le`` or ``utf-16-be`` when bytes without a mark look like it, else ""."""
    head = data[: SAMPLE // 4]
    if len(head) < 4 or len(head) % 2:
        return ""
    for encoding, high in (("utf-16-le", 1), ("utf-16-be", 0)):
        nul_share = head[high::2].count(0) / (len(head) // 2)
        other_share = head[1 - high :: 2].count(0) / (len(head) // 2)
        if (nul_share > 0.6 and other_share < 0.05) or _reads_as_chinese(head, encoding):
            return encoding
    return ""


def _reads_as_chinese(head: bytes, encoding: str) -> bool:
    """Whether nearly all characters are Han, kana, ASCII or full-width, and some of them common."""
    try:
        text = head.decode(encoding)
    except UnicodeDecodeError:
        return False
    plausible = len(_PLAUSIBLE_WIDE.findall(text))
    common = sum(c in _COMMON_HAN or c in _PUNCTUATION or bool(_KANA.match(c)) for c in text)
    return plausible * 100 >= 95 * len(text) and common * 100 >= 15 * len(text)


def _sample(data: bytes) -> bytes:
    """At most `SAMPLE` bytes, cut after a line so that no character is cut."""
    if len(data) <= SAMPLE:
        return data
    head = data[:SAMPLE]
    end = head.rfind(b"\n")
    return head[: end + 1] if end > 0 else head


def _decoded(data: bytes, encoding: str) -> Decoded:
    text = data.decode(encoding.replace("-sig", ""), errors="replace")
    return Decoded(text, encoding, text.count("\ufffd"))
