"""What goes wrong with the service of a model, as errors that say what to do. No key is ever part of one."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ctxcli.model.errors import ServiceError

_LONGEST = 300
_SECRET = re.compile(r"\b(?:sk|pk|rk|gsk|xai|hf)[-_][A-Za-z0-9_*\-]{6,}|(?<=Bearer )\S+")
_USER = re.compile(r"(?<=://)[^/@\s]+@")
_QUOTA = ("insufficient_quota", "billing", "credit balance", "余额", "欠费")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of service: its name, what it is asked at, and what the user changes where it fails."""

    name: str
    request: str
    address: str
    model: str
    shorter: str


_LONGER = "name a model that reads longer texts"
CHAT = Kind(
    "chat", "/chat/completions", "OPENAI_BASE_URL", "--model or CTX_MODEL",
    "lower context.budget, or name a model with a longer context",
)  # fmt: skip
EMBEDDING = Kind(
    "embedding", "/embeddings", "embed.base_url or OPENAI_BASE_URL", "--embed openai:MODEL",
    f"lower embed.batch, or {_LONGER}",
)  # fmt: skip
RERANKING = Kind("reranking", "/rerank", "rerank.base_url", "rerank.model", f"lower rerank.top, or {_LONGER}")


def redacted(text: str, key: str = "") -> str:
    """A message of a service in one line, shortened, without keys and passwords."""
    if len(key) >= 4:
        text = text.replace(key, "[key]")
    text = _USER.sub("", _SECRET.sub("[key]", " ".join(text.split())))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def message_of(body: Any) -> str:
    """The message in an error document, of whatever form, "" where there is none."""
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, Mapping):
        return body if isinstance(body, str) else ""
    error = body.get("error", body)
    if isinstance(error, str):
        return error
    if isinstance(error, Mapping):
        parts = [str(error[name]) for name in ("message", "detail", "msg") if isinstance(error.get(name), str)]
        code = error.get("code") or error.get("type")
        return parts[0] if parts else str(code or "")
    return ""


def is_out_of_quota(text: str) -> bool:
    """Whether asking again is of no use although the service answers 429."""
    lowered = text.lower()
    return any(one in lowered for one in _QUOTA)


def of_status(status: int, body: Any, *, url: str, model: str, key: str, kind: Kind = CHAT) -> ServiceError:
    """The error of an answer that is none."""
    raw = message_of(body)
    said = redacted(raw, key)
    tail = f": {said}" if said else ""
    if status in (401, 403):
        hint = "check OPENAI_API_KEY, and that it belongs to this endpoint" if key else "set OPENAI_API_KEY"
        return ServiceError(f"{url} does not let us in ({status}){tail}", code="llm_unauthorized", hint=hint)
    if 300 <= status < 400:
        hint = f"give the address that it leads to as {kind.address}"
        return ServiceError(f"{url} leads elsewhere ({status}); keys are not sent on", code="llm_redirect", hint=hint)
    if status >= 500:
        return ServiceError(f"{url} failed ({status}){tail}", code="llm_failed", hint="try again later")
    lowered = f"{raw} {body if isinstance(body, Mapping) else ''}".lower()
    if status == 429:
        if is_out_of_quota(lowered):
            return ServiceError(f"the account has no credit left{tail}", code="llm_quota", hint="see your plan there")
        return ServiceError(f"too many requests to {url}{tail}", code="llm_rate_limited", hint="try again later")
    return _rejected(status, lowered, tail, url=url, model=model, kind=kind)


def _rejected(status: int, lowered: str, tail: str, *, url: str, model: str, kind: Kind) -> ServiceError:
    """The error of a request that the service does not take."""
    if status == 413 or any(f"context{gap}{word}" in lowered for gap in "_ " for word in ("length", "size", "window")):
        return ServiceError(f"the request is too long for {model}{tail}", code="llm_too_long", hint=kind.shorter)
    if "model" in lowered and (status == 404 or "model_not_found" in lowered or "not exist" in lowered):
        hint = f"name one that the service has with {kind.model}"
        return ServiceError(f"{url} has no model {model!r}{tail}", code="llm_model_not_found", hint=hint)
    if status == 404:
        hint = f"the base URL ends where {kind.request} begins, mostly in /v1: check {kind.address}"
        message = f"there is no {kind.name} service at {url} ({status}){tail}"
        return ServiceError(message, code="llm_not_found", hint=hint)
    hint = "check the model and the URL"
    return ServiceError(f"{url} does not accept the request ({status}){tail}", code="llm_rejected", hint=hint)


def unreachable(url: str, why: str, *, local: bool, kind: Kind = CHAT) -> ServiceError:
    """Nobody answers."""
    hint = "is the server running there?" if local else f"check the network, the proxy and {kind.address}"
    return ServiceError(f"{url} cannot be reached: {why}", code="llm_unreachable", hint=hint)


def timed_out(url: str, seconds: float) -> ServiceError:
    """The service has said nothing for too long."""
    return ServiceError(
        f"{url} has said nothing for {seconds:g} seconds", code="llm_timeout", hint="try again, or raise llm.timeout"
    )


def endless(url: str, seconds: float) -> ServiceError:
    """The reply goes on and on."""
    return ServiceError(
        f"{url} has not come to an end within {seconds:g} seconds", code="llm_timeout", hint="try another model"
    )


def no_socks() -> ServiceError:
    """A proxy that needs a package."""
    hint = "pip install socksio, or name an HTTP proxy in HTTPS_PROXY"
    return ServiceError("the proxy in ALL_PROXY or HTTPS_PROXY speaks SOCKS", code="bad_proxy", hint=hint)


def bad_proxy(why: str) -> ServiceError:
    """A proxy that is none."""
    hint = "check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY"
    return ServiceError(f"the proxy that is set cannot be used: {redacted(why)}", code="bad_proxy", hint=hint)


def no_certificates(why: str) -> ServiceError:
    """The certificates that the environment names."""
    hint = "check SSL_CERT_FILE and SSL_CERT_DIR"
    return ServiceError(f"the certificates cannot be read: {redacted(why)}", code="bad_certificates", hint=hint)


def cut_off(url: str) -> ServiceError:
    """The stream has ended before the reply did."""
    return ServiceError(f"{url} broke off in the middle of the reply", code="llm_cut_off", hint="try again")


def not_understood(url: str, said: str, key: str, kind: Kind = CHAT) -> ServiceError:
    """What came is not what such a service answers."""
    article = "an" if kind.name[0] in "aeiou" else "a"
    message = f"{url} did not answer as {article} {kind.name} service does: {redacted(said, key)[:120]!r}"
    return ServiceError(message, code="llm_not_json", hint=f"check {kind.address}")


def refused(model: str, said: str, key: str) -> ServiceError:
    """The model or its filter refuses."""
    return ServiceError(
        f"{model} refused: {redacted(said, key)}", code="llm_refused", hint="word the question in another way"
    )


def empty(url: str) -> ServiceError:
    """The reply holds nothing."""
    return ServiceError(f"{url} sent an empty reply", code="llm_empty", hint="try again, or name another model")
