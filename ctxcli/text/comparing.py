"""Texts as they are compared with what a person expects: what writers vary does not count."""

import unicodedata

MARKS = dict.fromkeys("“”„‟«»「」『』‘’‚‛'＂＇", '"') | dict.fromkeys("‐‑‒–—―−﹣－", "-")
"""Kinds of quotation marks and dashes, each in its plain form."""
_DROPPED = frozenset("*_`")
_ONE_FORM = str.maketrans(MARKS)


def as_compared(text: str) -> str:
    """The text without width, case, white space, marks of emphasis, and kinds of quotation marks and dashes."""
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_ONE_FORM)
    return "".join(char for char in folded if not char.isspace() and char not in _DROPPED)
