"""Byte pair encoding with the ranks of OpenAI's encodings, exact, from a file that is mapped and not parsed.

A file of ranks (little-endian, made by ``scripts/ranks``): ``ctxbpe1\\0``, then as u32 the number of slots (a power
of two), the number of tokens and the length of the longest one; the slots, u32 each; the tokens, each as its length
(u8), bytes and rank (u24). A slot is 0, or the place of a token plus 1 (22 bits) below the highest 10 bits of its
CRC-32; the lowest bits of the CRC say at which slot to begin looking.
"""

import heapq
import mmap
import re
import sys
from array import array
from binascii import crc32
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Literal

from ctxcli.text.pretokens import REFERENCE_PATTERNS, data_file, pieces

EncodingName = Literal["o200k_base", "cl100k_base"]
ENCODINGS: tuple[EncodingName, ...] = ("o200k_base", "cl100k_base")
BULK = 200_000
"""Characters from which loading the reference implementation (0.5 s) pays."""
SMALL = 2_000
"""Characters up to which the pieces that are known already are counted faster here, even then."""
_LONG_GAP = re.compile(r"\s{10000}")
"""White space at which the reference implementation gives up."""
_HEAD = 20
_PLACE = (1 << 22) - 1
_NONE = 1 << 30
_SCANNED = 160
"""Bytes; a longer piece is merged with a heap."""
_KEPT = 200_000


class _Ranks(dict[bytes, int]):
    """Ranks by token, looked up in the file when first asked for; what is no token has the rank `_NONE`."""

    def __init__(self, path: str) -> None:
        super().__init__()
        with open(path, "rb") as handle:  # noqa: PTH123 - pathlib is slow to load
            data = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
        slots, self.count, self._longest = (int.from_bytes(data[at : at + 4], "little") for at in (8, 12, 16))
        self._tokens = _HEAD + 4 * slots
        self._data, self._mask = data, slots - 1
        self._slots: Sequence[int] = memoryview(data)[_HEAD : self._tokens].cast("I")
        if sys.byteorder == "big":
            swapped = array("I", data[_HEAD : self._tokens])
            swapped.byteswap()
            self._slots = swapped

    def __missing__(self, token: bytes) -> int:
        rank, size = _NONE, len(token)
        if size <= self._longest:
            code = crc32(token)
            mark, at = code >> 22, code & self._mask
            while slot := self._slots[at]:
                if slot >> 22 == mark:
                    end = self._tokens + (slot & _PLACE) + size
                    if self._data[end - size - 1] == size and self._data[end - size : end] == token:
                        rank = int.from_bytes(self._data[end : end + 3], "little")
                        break
                at = at + 1 & self._mask
        self[token] = rank
        return rank

    def all(self) -> Iterable[tuple[bytes, int]]:
        """Every token and its rank."""
        data, at = self._data[self._tokens :], 0
        while at < len(data):
            end = at + 1 + data[at]
            yield data[at + 1 : end], int.from_bytes(data[end : end + 3], "little")
            at = end + 3


class Encoding:
    """One of the encodings. Text is ordinary text: ``<|endoftext|>`` in it is no special token."""

    def __init__(self, name: EncodingName) -> None:
        self.name = name
        self._ranks = _Ranks(data_file(f"{name}.bin"))
        self._counts: dict[str, int] = {}
        self._bulk: Callable[[str], list[int]] | None = None

    def expect(self, size: int) -> None:
        """Make ready for `size` characters: many are counted by the reference implementation, if it is there."""
        if size >= BULK and self._bulk is None:
            self._bulk = self._reference()

    def count(self, text: str) -> int:
        """The number of tokens."""
        text = whole_characters(text)
        if len(text) >= BULK:
            self.expect(len(text))
        if self._bulk and len(text) >= SMALL and not _LONG_GAP.search(text):
            return len(self._bulk(text))
        if len(self._ranks) >= _KEPT:
            self._ranks.clear()
        counts, total = self._counts, 0
        for piece in pieces(text, self.name):
            number = counts.get(piece)
            if number is None:
                if len(counts) >= _KEPT:
                    counts.clear()
                number = counts[piece] = len(self._merged(piece.encode()))
            total += number
        return total

    def encode(self, text: str) -> list[int]:
        """The tokens, as ranks."""
        ranks = self._ranks
        parts = (part for piece in pieces(whole_characters(text), self.name) for part in self._merged(piece.encode()))
        return [ranks[part] for part in parts]

    def _merged(self, piece: bytes) -> Sequence[bytes]:
        """A piece as tokens: the pair with the least rank is merged first, the first of several."""
        if self._ranks[piece] != _NONE:
            return (piece,)
        return (_scan if len(piece) <= _SCANNED else _heap)(piece, self._ranks)

    def _reference(self) -> Callable[[str], list[int]] | None:
        """The encoder of tiktoken over the ranks that are here; nothing is downloaded."""
        try:
            import tiktoken
        except ImportError:
            return None
        ranks = dict(self._ranks.all())
        return tiktoken.Encoding(
            self.name, pat_str=REFERENCE_PATTERNS[self.name], mergeable_ranks=ranks, special_tokens={}
        ).encode_ordinary


def whole_characters(text: str) -> str:
    """The text with pairs of surrogates joined and others replaced, as the reference implementation does."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _scan(piece: bytes, ranks: _Ranks) -> list[bytes]:
    parts = [piece[at : at + 1] for at in range(len(piece))]
    pairs = [ranks[piece[at : at + 2]] for at in range(len(piece) - 1)]
    while pairs and (least := min(pairs)) != _NONE:
        at = pairs.index(least)
        parts[at] += parts.pop(at + 1)
        del pairs[at]
        if at < len(pairs):
            pairs[at] = ranks[parts[at] + parts[at + 1]]
        if at:
            pairs[at - 1] = ranks[parts[at - 1] + parts[at]]
    return parts


def _heap(piece: bytes, ranks: _Ranks) -> list[bytes]:
    """As `_scan`, in time n·log n: parts are linked, pairs wait in a heap, those that have changed are passed over."""
    size = len(piece)
    end = list(range(1, size + 1))  # of the part that begins at i; 0 once it is merged away
    before = list(range(-1, size - 1))
    waiting = [(rank, at) for at in range(size - 1) if (rank := ranks[piece[at : at + 2]]) != _NONE]
    heapq.heapify(waiting)
    while waiting:
        rank, at = heapq.heappop(waiting)
        middle = end[at]
        if not middle or middle >= size or ranks[piece[at : end[middle]]] != rank:
            continue
        end[at], end[middle] = end[middle], 0
        if end[at] < size:
            before[end[at]] = at
        for first in (before[at], at):
            if first >= 0 and end[first] < size:
                new = ranks[piece[first : end[end[first]]]]
                if new != _NONE:
                    heapq.heappush(waiting, (new, first))
    found, at = [], 0
    while at < size:
        found.append(piece[at : end[at]])
        at = end[at]
    return found


@cache
def encoding(name: EncodingName) -> Encoding:
    """The encoding of that name; one for all."""
    return Encoding(name)
