"""Facts and artifacts: values under a key, with where they come from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

FactKind = Literal["fact", "artifact"]


@dataclass(frozen=True, slots=True)
class Fact:
    """A value (JSON) under a key. `step` counts the user's own steps; `at` is ISO 8601 with zone.

    A deletion is a fact too, with `deleted` and no value; `extra` holds keys that others have written.
    """

    key: str
    value: Any
    source: str
    step: int | None
    at: str
    deleted: bool = False
    extra: Mapping[str, Any] | None = None

    def fields(self) -> dict[str, Any]:
        """The fields as they stand in documents."""
        found: dict[str, Any] = {
            "key": self.key, "value": self.value, "source": self.source, "step": self.step, "at": self.at,
        }  # fmt: skip
        return {**found, "deleted": True} if self.deleted else found
