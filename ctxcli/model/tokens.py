"""Counts of tokens, the value behind `ctx/tokens/1`. Named tuples: dataclasses cost more to load than counting does."""

from typing import Any, NamedTuple


class FileTokens(NamedTuple):
    """The tokens of one file; `path` is ``-`` for standard input."""

    path: str
    tokens: int


class TokenCount(NamedTuple):
    """Tokens of all files together.

    `exact` is false for an estimate, and where nobody knows whether the model uses `encoding`.
    """

    tokens: int
    encoding: str
    model: str | None
    exact: bool
    files: tuple[FileTokens, ...] = ()

    def document(self) -> dict[str, Any]:
        """``ctx/tokens/1``."""
        files = [one._asdict() for one in self.files]
        return {"schema": "ctx/tokens/1", **self._asdict(), "files": files}
