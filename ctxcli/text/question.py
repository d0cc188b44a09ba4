"""What a question asks: its terms, its language, the kind of thing it wants, its names and numbers."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from ctxcli.text.analyzer import Analyzer, fold, is_unspaced, tokens
from ctxcli.text.stopwords import CHINESE_POINTING, CHINESE_QUESTION, ENGLISH, ENGLISH_QUESTION

Language = Literal["en", "zh"]
AskedKind = Literal["year", "date", "number", "person", "place", ""]

CHARACTER_WEIGHT = 0.35
"""What a single Chinese character weighs beside a bigram (measured)."""

_ASKED: dict[Language, tuple[tuple[AskedKind, str], ...]] = {
    "en": (
        ("year", r"\b(?:what|which) year\b"),
        ("date", r"\bwhen\b|\b(?:what|which) (?:date|day|month|century|decade)\b"),
        (
            "number",
            r"\bhow (?:many|much|long|often|far|old|large|big|tall|high|fast|deep|wide)\b"
            r"|\bwhat (?:percentage|percent|number|proportion|portion|size|default)\b"
            r"|\b(?:maximum|minimum|limit|default)\b",
        ),
        ("person", r"\bwho(?:se|m)?\b"),
        ("place", r"\bwhere\b|\b(?:what|which) (?:city|country|state|town|place|river|county)\b"),
    ),
    "zh": (
        ("year", r"[何哪]一?年|什[么麼]年|年份"),
        ("date", r"何[时時]|什[么麼][时時][候间間]|哪一?天|[几幾][月号號]|日期|哪[个個]?世[纪紀]"),
        (
            "number",
            r"多少|[几幾][个個人次名位种種年天条條]|多[大长長久高远遠快重宽寬]|百分之|上限|下限|默[认認]值|最[多少大小]",
        ),
    ),
}
_FOUND: dict[tuple[Language, AskedKind], str] = {
    ("en", "year"): r"\b[12][0-9]{3}s?\b",
    ("zh", "year"): r"[0-9〇零一二三四五六七八九十]{2,}(?= ?年)|[12][0-9]{3}",
    ("en", "date"): (
        r"\b[12][0-9]{3}s?\b|\b[0-9]{1,2}(?:st|nd|rd|th)\b|\b[0-9]{1,2}:[0-9]{2}\b|\b[0-9]{1,2} ?[ap]\.?m\b"
        r"|\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b"
        r"|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b|\b(?:daily|weekly|monthly|yearly|annually|midnight|noon)\b"
        r"|\b(?:every|each) (?:[a-z0-9]+ )?(?:hour|day|night|morning|evening|week|month|quarter|year)s?\b"
    ),
    ("zh", "date"): (
        r"每?(?:星期|周|週|[礼禮]拜)[一二三四五六日天]|每隔?[一二两三四五六0-9]*[个個]?(?:小[时時]|日|天|周|週|星期|月|季|年)"
        r"|[0-9〇零一二三四五六七八九十百]+ ?(?:年|月|日|世[纪紀]|[时時]|天|周|[点點])|\b[12][0-9]{3}\b"
        r"|[0-9]{1,2}[:：][0-9]{2}"
    ),
    ("en", "number"): (
        r"[0-9]+(?:[.,][0-9]+)*|\b(?i:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand"
        r"|million|billion|dozen|half|third|quarter|twice|once|every|all|none|never|unlimited)\b"
    ),
    ("zh", "number"): r"[0-9]+(?:[.,][0-9]+)*|[一二三四五六七八九十百千万萬亿億两兩半]+",
    ("en", "person"): r"\b[A-Z][a-z]+(?:\s+(?:[A-Z]\.\s*)*[A-Z][a-z]+)*",
    ("en", "place"): r"\b[A-Z][a-z]+(?:\s+[A-Z][a-z]+)*",
}
_SEVERAL: dict[Language, str] = {
    "en": (
        r"\b(?:what|which) (?:are|were)\b"
        r"|\b(?:what|which) (?:\w+ ){0,2}?\w+s (?:are|were|do|does|can|may|must|should|have)\b"
        r"|\b(?:steps?|procedure|list|checklist)\b|\bhow (?:do|does|to|can|should|must)\b|\bin (?:what|which) order\b"
    ),
    "zh": r"哪些|哪[几幾]|步[骤驟]|流程|[顺順]序|列[出举舉]|如何|怎[么麼样樣]|[几幾][种種项項类類步个個条條]",
}
_NAME = re.compile(r"[A-Z][\w'’.-]*|\w{0,40}[0-9][\w.-]*|[a-z]{1,40}[_.][\w.]+|[a-z]{1,40}[A-Z]\w*")
_QUOTED = re.compile(r"[“\"「『《]([^”\"」』》]{1,40})[”\"」』》]|`([^`]{1,40})`")


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the retriever sees it.

    `terms` maps each term to its weight (1, single Chinese characters 0.35), in order of
    appearance. `names` are the terms of proper names, identifiers and quoted words, `numbers` those with a
    number in them (``PAR-9``, ``2015``, ``七号``). `identifiers` are those that stand for one thing only and have no
    other way to be written: models, codes, versions, years, counted things (``PAR-9``, ``E1502``, ``v2.1``, ``七号``).
    `sections` are the ways to write the section or article that the question names, () if it names none; `beside` are
    the terms of what else it says then, without words that ask what a section says.
    `wholes` maps each part of an identifier (``max``) to the identifier it comes from (``max_connections``).
    """

    text: str
    language: Language
    terms: dict[str, float]
    asked: AskedKind
    names: frozenset[str]
    numbers: frozenset[str]
    identifiers: frozenset[str]
    sections: tuple[str, ...]
    beside: frozenset[str]
    wholes: dict[str, str]

    def asked_things(self, text: str) -> set[str]:
        """The dates, numbers or names of the asked kind in `text` that the question does not hold itself."""
        if not self.asked:
            return set()
        things = {match.group() for match in re.finditer(_FOUND[self.language, self.asked], text)}
        return {thing for thing in things if thing not in self.text}

    @property
    def wants_several(self) -> bool:
        """Whether it asks for several things or for steps, which a list or a table gives."""
        return re.search(_SEVERAL[self.language], self.text, re.IGNORECASE) is not None


def language_of(text: str) -> Language:
    """`zh` for text of which a fifth or more is in a script without blanks, else `en`."""
    unspaced = 0 if text.isascii() else sum(map(is_unspaced, text))
    return "zh" if unspaced and unspaced * 4 >= sum(map(str.isalnum, text)) - unspaced else "en"


def read_question(text: str, analyzer: Analyzer) -> Question:
    """Take a question apart; question words and phrases are no terms."""
    folded = fold(text)
    language = language_of(folded)
    bare = re.sub(CHINESE_QUESTION if language == "zh" else ENGLISH_QUESTION, " ", folded)
    if language == "zh" and bare != folded and re.fullmatch(CHINESE_POINTING, bare):
        bare = ""
    ordered = analyzer.terms(bare).split()
    terms = {term: CHARACTER_WEIGHT if len(term) == 1 and is_unspaced(term) else 1.0 for term in ordered}
    names = _names(bare, analyzer) & terms.keys()
    counted = _counted(bare, terms.keys())
    sections = named_sections(folded)
    return Question(
        text=text,
        language=language,
        terms=terms,
        asked=next((kind for kind, pattern in _ASKED[language] if re.search(pattern, folded, re.IGNORECASE)), ""),
        names=frozenset(name for name in names if not _is_number(name)),
        numbers=frozenset(name for name in names if _is_number(name)) | counted,
        identifiers=frozenset(_identifiers(bare, analyzer) & terms.keys()) | counted,
        sections=sections,
        beside=frozenset(_beside(bare, analyzer) & terms.keys() if sections else ()),
        wholes=_wholes(bare, analyzer),
    )


_NAMED_SECTION = (
    r"第\s*(?P<han>[0-9]{1,4}|[零〇一二三四五六七八九十百千两]+)\s*(?P<kind>[条條章节節编編])(?P<of>之[一二三四五六七八九十])?"
    r"|(?:§+|\b(?:sections?|sec\.|chapters?|clauses?|articles?|art\.|appendix|annex|rule)|第(?=\s*[0-9]+\.[0-9]))\s*"
    r"(?P<number>[A-Z]?[0-9]+(?:\.[0-9]+)*|[A-Z](?:\.[0-9]+)+|(?:(?<=appendix )|(?<=annex ))(?:[B-HJ-Z]|(?-i:[AI])))"
    r"(?![A-Za-z0-9_]|\.[0-9])(?:\s*[条條款节節])?"
    r"|(?P<appended>附[录錄件]\s*(?:[A-Z](?:\.[0-9]+)*|[0-9]+|[一二三四五六七八九十]+)(?![A-Za-z]))"
    r"|(?<![\w.])(?P<bare>[0-9]+(?:\.[0-9]+)+)\s*[节節]"
)
_NAMING = tuple("第 § 附 节 節 sec chapter clause article art. appendix annex rule".split())
"""What a text holds, in lower case, that names a section."""
_ASKS_WHAT_IT_SAYS = (
    "规定|規定|内容|內容|[说說讲講写寫](?:明|到)?|提到|包括"
    r"|\b(?:says?|said|states?|contains?|reads?|requires?|content|section|article|chapter|clause|stands?|about)\b"
)
_HAN_DIGITS = "零一二三四五六七八九"
_HAN_PLACES = {"十": 10, "百": 100, "千": 1000}
_OTHER_SCRIPT = str.maketrans("条條节節编編", "條条節节編编")


_IDENTIFIER = (
    r"(?<![A-Za-z0-9_.-])(?:[A-Z][A-Za-z]*+[-_]?[0-9]+(?:[-_.][A-Za-z0-9]+)*|v[0-9]+(?:\.[0-9]+)+"
    r"|(?![0-9]{1,2}\.[0-9]{1,2}\.[12][0-9]{3}(?![0-9]))[0-9]{1,3}(?:\.[0-9]+){2,})(?![A-Za-z0-9_-])"
    r"|(?<![\w.-])[12][0-9]{3}(?![\w-])"
)
_VERSION = (
    r"(?:\b(?P<name>[A-Z][A-Za-z]+)|[Vv]ersion|[Rr]elease|版本)\s?"
    r"(?P<number>[0-9]{1,3}\.[0-9]+)(?![A-Za-z0-9_%-]|\.[0-9])"
)


def _identifiers(text: str, analyzer: Analyzer) -> set[str]:
    found = [match.group() for match in re.finditer(_IDENTIFIER, text)]
    if any(map(str.isdigit, text)):
        found += [match["number"] for match in re.finditer(_VERSION, text) if _is_name(match)]
    return {terms[0] for one in found if (terms := analyzer.terms(one).split())}


def _is_name(match: "re.Match[str]") -> bool:
    """Whether a version follows a name (``PostgreSQL 14.2``), not the first word of a sentence (``Is 3.5 enough?``)."""
    name = match["name"]
    return not name or (name.lower() not in ENGLISH and not (match.start() == 0 and name.istitle()))


def _is_number(term: str) -> bool:
    return any(char.isdigit() for char in term)


def _counted(text: str, terms: Collection[str]) -> frozenset[str]:
    """The bigrams of Chinese numerals with the word they count (``七号`` of ``七号温室``)."""
    found: set[str] = set()
    if text.isascii():
        return frozenset()
    for match in re.finditer("[一二三四五六七八九十百千两]{1,12}[号號级級条條章节節楼樓期批]", text):
        found.update(map("".join, zip(match.group(), match.group()[1:], strict=False)))
    return frozenset(found & set(terms))


def named_sections(text: str) -> tuple[str, ...]:
    """The section or article that a question names, in the ways it may be printed; () if it names none.

    ``第7条`` gives ``第7条`` and ``第七条`` (and both with 條); ``section 4.2`` gives ``4.2`` and ``section 4.2``.
    """
    lowered = text.lower()
    if not any(map(lowered.__contains__, _NAMING)):
        return ()  # nothing to find, and the pattern is slow to compile
    match = re.search(_NAMED_SECTION, text, re.IGNORECASE)
    if not match:
        return ()
    if match["han"]:
        number = match["han"]
        other = _han(int(number)) if number.isdecimal() else str(from_han(number))
        found = [f"第{one}{match['kind']}{match['of'] or ''}" for one in (number, other)]
        return tuple(dict.fromkeys(form for one in found for form in (one, one.translate(_OTHER_SCRIPT))))
    if match["appended"]:
        return ("".join(match["appended"].split()).upper(),)
    number = (match["number"] or match["bare"]).upper()
    word = " ".join(match.group().lower().split())
    return (number,) if match["bare"] else (number, word)


def from_han(text: str) -> int:
    """The number that Chinese numerals below 10,000 write (``二十五``, ``一百零三``, ``二〇二``)."""
    if not any(char in _HAN_PLACES for char in text):
        return int("".join(str(_han_digit(char)) for char in text))
    total, digit = 0, 0
    for char in text:
        if char in _HAN_PLACES:
            total += max(digit, 1) * _HAN_PLACES[char]
            digit = 0
        else:
            digit = _han_digit(char)
    return total + digit


def _han_digit(char: str) -> int:
    return {"〇": 0, "两": 2}.get(char, _HAN_DIGITS.find(char))


def _beside(text: str, analyzer: Analyzer) -> set[str]:
    """The terms of a question without the section that it names."""
    rest = re.sub(_NAMED_SECTION, " ", text, flags=re.IGNORECASE)
    return set(analyzer.terms(re.sub(_ASKS_WHAT_IT_SAYS, " ", rest, flags=re.IGNORECASE)).split())


def _han(number: int) -> str:
    """A whole number below 10,000 in Chinese numerals, as articles of laws are numbered."""
    digits = [int(digit) for digit in str(number)]
    out, zero = "", False
    for place, digit in zip(range(len(digits) - 1, -1, -1), digits, strict=True):
        if digit:
            out += ("零" if zero and out else "") + _HAN_DIGITS[digit] + ("", "十", "百", "千")[min(place, 3)]
        zero = digit == 0
    return out.removeprefix("一") if 10 <= number < 20 else out or "零"


def _wholes(text: str, analyzer: Analyzer) -> dict[str, str]:
    """The parts of identifiers in a text that do not stand in it as words of their own."""
    words = [analyzer.terms(token).split() for token in tokens(text) if token.isascii()]
    alone = {terms[0] for terms in words if terms}
    return {part: terms[0] for terms in words for part in terms[1:] if part not in alone}


def _names(text: str, analyzer: Analyzer) -> set[str]:
    found: set[str] = set()
    words = tokens(text)
    first = text.find(words[0]) if words else -1
    for match in _NAME.finditer(text):
        plain_first = match.start() == first and match.group().istitle()
        if not plain_first and match.group().lower() not in ENGLISH:
            found.update(analyzer.terms(match.group()).split())
    for match in _QUOTED.finditer(text):
        found.update(term for term in analyzer.terms(match.group(1) or match.group(2)).split() if len(term) > 1)
    return found
