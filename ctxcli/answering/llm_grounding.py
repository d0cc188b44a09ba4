"""Whether what a model says is backed by what it cites: numbers, addresses, words; and whether a text gives orders."""

import re
from collections.abc import Iterable, Iterator

from ctxcli.text.analyzer import fold

_NUMBER = re.compile(r"[0-9]+(?:[.,:：][0-9]+)*")
_THOUSANDS = re.compile(r",(?=[0-9]{3}(?![0-9]))")
_WORDS = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
} | {word: 10 * tens for tens, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}
_SPELLED = re.compile(rf"\b(?:{'|'.join(_WORDS)})(?:[- ](?:{'|'.join(list(_WORDS)[1:10])}))?\b", re.IGNORECASE)
_HAN_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_HAN_TENS = {"十": 10, "百": 100, "千": 1000}
_HAN = re.compile(r"[零〇一二两兩三四五六七八九十百千万萬]{1,20}")
_HAN_UNIT = re.compile(r"[点點时時分秒天日月年周个個次台人倍度米克元块岁歲页頁行条條章节節号號级級小層层种種项項%％]")
_ADDRESS = re.compile(
    r"(?:https?|ftp|data|javascript|file|mailto):[^\s)\]>\"'，。]+|(?<![a-z0-9])www\.[^\s)\]>\"'，。]+"
    r"|(?<![\w:/])//[^\s)\]>\"'，。]+"  # without a scheme
    r"|(?<=\]\()[^\s)]+"  # of a link or an image
    r"|(?<![a-z0-9.-])[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,8}\.[a-z]{2,24}/[^\s)\]>\"'，。]+",
    re.IGNORECASE,
)
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|all|these|your|other)\b.{0,30}"
    r"\b(?:instructions?|rules?|prompts?|excerpts?|documents?|directions?|questions?|context)\b"
    r"|\b(?:you are|act as|pretend to be) (?:now )?(?:an? )?(?:\w+ )?(?:ai|assistant|chatbot|language model)\b"
    r"|\b(?:reveal|repeat|print|show|output)\b.{0,20}\b(?:your|the system|the developer) (?:prompt|instructions?)\b"
    r"|\b(?:notes?|instructions?|message|attention|important)\b.{0,20}\b(?:to|for) (?:the |any |all )?"
    r"(?:ai|llms?|language models?|assistants?|chatbots?)\b"
    r"|\b(?:reply|respond|answer) (?:only|exactly|just) with\b"
    r"|\b(?:reply|respond|answer|say|print|output|write)\b.{0,20}\b(?:only|exactly|nothing but|just)\b.{0,10}[\"'“:：]"
    r"|(?:忽略|无视|無視|忘记|忘記|不要理会|不理会).{0,12}(?:以上|之前|前面|上述|所有|一切|先前|其他).{0,10}"
    r"(?:指令|指示|规则|規則|提示|内容|內容|要求|摘录|问题)"
    r"|(?:泄露|输出|显示|打印|重复).{0,8}系统提示词|你现在是|从现在起,?你|你必须(?:回答|回复|输出)"
    r"|(?:请|必须|只能|只需|直接|只)(?:回答|回复|回覆|输出|輸出)[:“\"「]"
    r"|致(?:AI|人工智能|语言模型|大模型)|[给給](?:AI|人工智能|语言模型|大模型)的(?:指令|指示|说明|要求)",
    re.IGNORECASE | re.DOTALL,
)
_TERM = re.compile(r"[^\W_]+")
_COMMON = frozenset(
    "the a an of to in on at is are was were be been it its this that these those and or for with by from as not no "
    "has have had do does did can will would should may must than then there their he she they we you i but if".split()
)


def numbers_in(text: str) -> set[str]:
    """All numbers of a text in one form, spelled ones too: ``1,200`` and ``twelve hundred`` apart, ``六`` as ``6``."""
    text = fold(text)
    found = set(_digits(text))
    found |= {str(_spelled(match.group())) for match in _SPELLED.finditer(text)}
    found |= {str(value) for match in _HAN.finditer(text) if (value := han_value(match.group())) is not None}
    return found


def claimed_numbers(text: str) -> set[str]:
    """The numbers that a sentence claims; ``one`` and what may be part of a Chinese word are none."""
    text = fold(text)
    found = set(_digits(text))
    found |= {str(_spelled(match.group())) for match in _SPELLED.finditer(text) if match.group().lower() != "one"}
    for match in _HAN.finditer(text):
        value = han_value(match.group())
        if value not in (None, 1) and _HAN_UNIT.match(text, match.end()):
            found.add(str(value))
    return found


def _digits(text: str) -> Iterator[str]:
    for match in _NUMBER.finditer(text):
        for at, part in enumerate(re.split(r"[,:：]", _THOUSANDS.sub("", match.group()))):
            whole, dot, rest = part.partition(".")
            if at == 0 or part != "00":  # six o'clock may be written 6:00
                yield f"{whole.lstrip('0') or '0'}{dot}{rest}"


def _spelled(word: str) -> int:
    return sum(_WORDS[part] for part in re.split("[- ]", word.lower()))


def han_value(text: str) -> int | None:
    """The value of a number in Chinese characters, None where it is none.

    >>> han_value("二十五"), han_value("一千二百"), han_value("三万五千"), han_value("二〇二五")
    (25, 1200, 35000, 2025)
    """
    if not any(char in _HAN_TENS or char in "万萬" for char in text):
        return int("".join(str(_HAN_DIGITS[char]) for char in text))
    head, _, tail = text.replace("萬", "万").partition("万")
    if "万" in tail:
        return None
    if "万" in text.replace("萬", "万"):
        return (_below(head) or 1) * 10_000 + _below(tail)
    return _below(head)


def _below(text: str) -> int:
    total, digit = 0, 0
    for char in text:
        if char in _HAN_TENS:
            total += (digit or 1) * _HAN_TENS[char]
            digit = 0
        else:
            digit = _HAN_DIGITS[char]
    return total + digit


def addresses_in(text: str) -> set[str]:
    """Web addresses and others that a program might follow."""
    return {match.group().rstrip(".,;:!?") for match in _ADDRESS.finditer(text)}


def is_grounded(sentence: str, cited: Iterable[str], allowed: str) -> bool:
    """Whether a sentence claims no number and no address that neither the cited texts nor `allowed` hold.

    It also shares a word (a pair of Chinese characters) with what it cites, if both are written in the same script.
    """
    backing = list(cited)
    everything = "\n".join([*backing, allowed])
    if not claimed_numbers(sentence) <= numbers_in(everything):
        return False
    if any(address not in everything for address in addresses_in(sentence)):
        return False
    mine, theirs = words_of(sentence), words_of("\n".join(backing))
    return bool(mine & theirs) or not _same_script(mine, theirs)


def words_of(text: str) -> set[str]:
    """Words of letters in a rough stem, and pairs of characters of scripts without blanks."""
    found: set[str] = set()
    for match in _TERM.finditer(fold(text)):
        word = match.group().lower()
        if word.isascii():
            if word not in _COMMON:
                found.add(word[:5])
        else:
            found.update(word[at : at + 2] for at in range(len(word) - 1) if not word[at : at + 2].isascii())
    return found


def _same_script(one: set[str], other: set[str]) -> bool:
    return any(word.isascii() for word in one) == any(word.isascii() for word in other) or (
        any(not word.isascii() for word in one) == any(not word.isascii() for word in other)
    )


def gives_orders(text: str) -> bool:
    """Whether a text speaks to a language model and not to a reader."""
    return bool(_ORDERS.search(fold(text)))
