"""What commands say about facts, as values; `document` gives the JSON."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ctxcli.model.fact import Fact, FactKind

FactState = Literal["new", "same", "changed", "deleted"]


@dataclass(frozen=True, slots=True)
class FactChange:
    """What setting or deleting a fact did. `previous` is what stood there before, if anything did."""

    fact: Fact
    state: FactState
    previous: Fact | None = None
    kind: FactKind = "fact"

    def document(self) -> dict[str, Any]:
        """``ctx/fact/1``."""
        before = self.previous.fields() if self.previous else None
        schema = f"ctx/{self.kind}/1"
        changed = self.state == "changed"
        return {"schema": schema, **self.fact.fields(), "state": self.state, "changed": changed, "previous": before}


@dataclass(frozen=True, slots=True)
class FactList:
    """Facts by key; or the values of one `key`, oldest first."""

    SCHEMAS: ClassVar[Mapping[FactKind, str]] = {"fact": "ctx/facts/1", "artifact": "ctx/artifacts/1"}

    facts: tuple[Fact, ...]
    kind: FactKind = "fact"
    key: str | None = None

    def document(self) -> dict[str, Any]:
        """``ctx/facts/1``, ``ctx/artifacts/1`` (sizes, no values), ``ctx/fact-history/1``."""
        rows = [fact.fields() for fact in self.facts]
        if self.key is not None:
            return {"schema": "ctx/fact-history/1", "key": self.key, "entries": rows}
        if self.kind == "artifact":
            rows = [{"bytes": size_of(row.pop("value")), **row} for row in rows]
        return {"schema": self.SCHEMAS[self.kind], "total": len(rows), f"{self.kind}s": rows}


def size_of(value: Any) -> int:
    """Bytes of a value as JSON; of a text, the text alone."""
    import json

    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return len(text.encode("utf-8", "surrogatepass"))
