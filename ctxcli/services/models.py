"""The language model that the settings name. Nothing is sent before it is asked."""

import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from ctxcli.model.errors import ServiceError
from ctxcli.model.ports import LanguageModel
from ctxcli.settings import Settings

KEY = "OPENAI_API_KEY"


def language_model(
    settings: Settings, *, model: str | None = None, environ: Mapping[str, str] | None = None
) -> LanguageModel:
    """The model of the settings, or `model` at the same endpoint.

    Its key comes from ``OPENAI_API_KEY``; a service on this machine needs none. ServiceError if something is missing.
    """
    from ctxcli.providers.http import OPENAI, Endpoint
    from ctxcli.providers.llm import ChatService

    environ = os.environ if environ is None else environ
    name = (model or settings.text("llm.model")).strip()
    if not name:
        raise ServiceError(
            "no language model is named", code="no_model", hint="use --model, CTX_MODEL, or: ctx config set llm.model M"
        )
    url = settings.text("llm.base_url") or environ.get("OPENAI_API_BASE", "") or OPENAI
    most = settings.optional_number("llm.max_tokens")
    endpoint = Endpoint(
        _checked_url(url),
        name,
        _checked_key(environ.get(KEY, "")),
        settings.number("llm.timeout"),
        None if most is None else int(most),
    )
    if not endpoint.key and not endpoint.is_local:
        raise ServiceError(
            f"there is no key for {endpoint.shown}",
            code="no_api_key",
            hint=f"set {KEY}, or OPENAI_BASE_URL to a service on this machine",
        )
    return ChatService(endpoint)


def _checked_url(url: str) -> str:
    url = url.strip()
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        fits = False
    if not fits:
        raise ServiceError(
            "the address of the language model is none", code="bad_base_url", hint="write it as https://HOST/v1"
        )
    return url


def _checked_key(key: str) -> str:
    key = key.strip()
    if not key.isascii() or not key.isprintable():
        raise ServiceError(f"{KEY} holds what no key can", code="bad_api_key", hint=f"set {KEY} again")
    return key
