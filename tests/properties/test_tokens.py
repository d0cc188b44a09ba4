"""Token counts equal those of the reference implementation, over generated text, in both encodings."""

from functools import cache

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcli.text.bpe import ENCODINGS, EncodingName, encoding
from ctxcli.text.pretokens import REFERENCE_PATTERNS

_FRAGMENTS = st.sampled_from(
    "中文 连接池 。 ，\n 默认值是10。 hello Don't 'S 'ſ É é e\u0301 \r\n \t \u00a0 \u3000 １２ Ⅷ ² ٣ 123456".split(" ")
    + "👨‍👩‍👧 🙂 ภาษาไทย 한국어 Привет / // _ -- \x01 \x02 \x1c \x85 ǅ ª ʰ".split(" ")
    + "\U00031350 \U00011f04 \ud83d \ude00 <|endoftext|> 's 'LL x==1".split(" ")
)
_TEXTS = st.lists(st.one_of(_FRAGMENTS, st.text(max_size=6), st.just(" "), st.just("\n")), max_size=20).map("".join)


@cache
def reference(name: EncodingName) -> tiktoken.Encoding:
    ranks = dict(encoding(name)._ranks.all())
    return tiktoken.Encoding(name, pat_str=REFERENCE_PATTERNS[name], mergeable_ranks=ranks, special_tokens={})


@pytest.mark.parametrize("name", ENCODINGS)
@settings(max_examples=300, deadline=None)
@given(text=_TEXTS)
def test_tokens_and_counts_are_those_of_tiktoken(name: EncodingName, text: str) -> None:
    wanted = reference(name).encode_ordinary(text)
    assert encoding(name).encode(text) == wanted
    assert encoding(name).count(text) == len(wanted)


@pytest.mark.parametrize("name", ENCODINGS)
@settings(max_examples=30, deadline=None)
@given(unit=st.sampled_from(["a", "中", " ", "!", "\n", "ab", "天气", "🙂", "x1"]), times=st.integers(60, 1_500))
def test_long_runs_are_merged_as_by_tiktoken(name: EncodingName, unit: str, times: int) -> None:
    text = unit * times
    assert encoding(name).encode(text) == reference(name).encode_ordinary(text)
