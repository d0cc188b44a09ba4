"""Which documents a pattern on the command line means."""

import re
from collections.abc import Callable
from itertools import accumulate

from ctxcli.storage.files import identity
from ctxcli.storage.ignore import parse_line


def doc_matcher(glob: str) -> Callable[[str], bool]:
    """A function that says whether the path of a document, as cited, fits `glob`.

    As in ``.gitignore``: a pattern without a slash means a name at any depth, one that fits a folder all below it;
    ``*`` stays within a folder, ``**`` does not; ``!`` turns the meaning round. Case counts only where the pattern
    has capitals, the way letters are composed never. A path written out means itself whatever is in it.
    """
    wanted = identity(glob).removeprefix("./")
    keep_case = wanted != wanted.lower()
    rule = parse_line(f"\\{wanted}" if wanted.startswith("#") else wanted)
    regex = re.compile(rule.regex.pattern, re.DOTALL if keep_case else re.DOTALL | re.IGNORECASE) if rule else None

    def fits(path: str) -> bool:
        plain = identity(path)
        if plain == wanted:
            return True
        if rule is None or regex is None:
            return False
        parts = plain.lstrip("/").split("/")
        candidates = list(accumulate(parts, "{}/{}".format)) if rule.anchored else parts
        if rule.folders_only:
            candidates.pop()
        return any(map(regex.fullmatch, candidates)) != rule.negated

    return fits
