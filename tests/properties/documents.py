"""Documents made by Hypothesis: sections, blocks of all kinds, pages."""

from hypothesis import strategies as st

from ctxcli.model.document import Block, BlockKind, Document
from ctxcli.parsing.sections import nest

SENTENCES = st.sampled_from(
    [
        "The quick brown fox jumps over the lazy dog.",
        "Set max_connections to 100 in v2.1!",
        "连接池的大小由参数决定。",
        "第二句话，比较短；",
        "😀 family 👨‍👩‍👧 and e\u0301 here.",
        "short",
        "字",
        "A sentence that goes on and on, with a comma here and there, until it is long enough to matter at all.",
        "本条规定的期限从通知送达之日起计算，期限届满的最后一日是法定节假日的，以节假日后的第一日为期限届满的日期。",
    ]
)
KINDS: st.SearchStrategy[BlockKind] = st.sampled_from(["prose", "item", "row", "header_row", "code", "meta"])


@st.composite
def bodies(draw: st.DrawFn, kind: BlockKind) -> str:
    repeat = draw(st.sampled_from([1, 1, 1, 2, 5, 12, 40]))
    sentences = draw(st.lists(SENTENCES, min_size=1, max_size=5))
    joint = "\n" if kind == "code" else " "
    return joint.join(sentences * repeat)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(st.sampled_from(["", "\n", "\n \n"]))
    blocks: list[Block] = []
    headings: list[tuple[int, int, str, str]] = []
    for _ in range(draw(st.integers(0, 14))):
        if draw(st.integers(0, 2)) == 0:
            number = draw(st.sampled_from(["", "6.3 ", "6.3.2 ", "第三章 ", "A.1 "]))
            line = f"{number}Title {len(blocks)} 标题"
            headings.append((len(text), draw(st.integers(1, 4)), line, ""))
            kind: BlockKind = "heading"
        else:
            kind = draw(KINDS)
            line = draw(bodies(kind))
        blocks.append(Block(len(text), len(text) + len(line), kind))
        text += line + draw(st.sampled_from(["\n", "\n\n", "\n \n\n"]))
    pages = sorted(draw(st.sets(st.integers(1, max(1, len(text))), max_size=4))) if draw(st.booleans()) else None
    starts = (0, *(page for page in pages if page < len(text))) if pages is not None else ()
    labels = tuple(draw(st.sampled_from(["", "i", "7"])) for _ in starts)
    return Document(
        format="made",
        title="Made 文档",
        text=text,
        sections=nest(headings),
        blocks=tuple(blocks),
        page_starts=starts,
        page_labels=labels,
        has_lines=not starts,
    )
