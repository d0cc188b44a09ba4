"""Packages that only some ways need, imported on use; a missing one is an error that says what to install."""

from importlib import import_module
from typing import Any

from ctxcli.model.errors import ServiceError
from ctxcli.model.extras import install


def needed(module: str, *, extra: str, by: str) -> Any:
    """The module, which the extra `extra` of ctx brings; ServiceError where it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ServiceError(
            f"{by} needs the package {error.name or module}, which is not installed",
            code="missing_extra",
            hint=install(extra),
        ) from None
