"""Any OpenAI-compatible chat service over HTTP: streamed, retried before the first token only."""

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ctxcli.model.chat import Reply, ToolSpec
from ctxcli.model.errors import ServiceError
from ctxcli.model.message import Message
from ctxcli.providers import llm_errors, sse
from ctxcli.providers.chunks import Assembly

if TYPE_CHECKING:
    import httpx

OPENAI = "https://api.openai.com/v1"
TRIES = 3
"""Requests at most, until one begins to answer."""
LONGEST_WAIT = 30.0
"""Seconds; a service that wants a longer pause is told of instead."""
LONGEST_REPLY = 900.0
"""Seconds that a reply may take from its first piece to its last."""
_CONNECT = 5.0
_MOST_BODY = 8 << 20
_AGAIN = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
_REJECTED = frozenset({400, 422})


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is. `timeout` is in seconds between two pieces; `max_tokens` None leaves it to the service."""

    base_url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 60.0
    max_tokens: int | None = None

    @property
    def url(self) -> str:
        """The address that requests go to."""
        return f"{self.base_url.rstrip('/')}/chat/completions"

    @property
    def shown(self) -> str:
        """The address as errors show it."""
        return llm_errors.redacted(self.base_url, self.key)

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine."""
        return is_loopback(self.base_url)


def is_loopback(url: str) -> bool:
    """Whether an address is one of this machine."""
    from ipaddress import ip_address

    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class _Again(Exception):
    """Try again after `wait` seconds, or where that is None after a pause of our own; at once if `adapted`.

    `error` is what is raised where it was the last try.
    """

    def __init__(self, error: ServiceError, wait: float | None = None, *, adapted: bool = False) -> None:
        super().__init__(error.message)
        self.error, self.wait, self.adapted = error, wait, adapted


class ChatService:
    """A model of a chat service; keeps its connection between requests."""

    def __init__(self, endpoint: Endpoint, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._endpoint = endpoint
        self._sleep = sleep
        self._client: httpx.Client | None = None
        self._adapted: dict[str, str] = {}

    @property
    def name(self) -> str:
        """The name of the model, as asked for."""
        return self._endpoint.model

    def reply(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec] = (),
        on_text: Callable[[str], None] = lambda text: None,
        temperature: float | None = None,
    ) -> Reply:
        """Ask for the next message; `on_text` gets the text piece by piece. ServiceError where there is none."""
        body = self._body(messages, tools, temperature)
        tries = 0
        while True:
            try:
                return self._once(self._fitted(body), on_text)
            except _Again as again:
                if again.adapted:
                    continue
                tries += 1
                if tries == TRIES or (again.wait or 0) > LONGEST_WAIT:
                    raise _gave_up(again) from None
                pause = 0.5 * 2 ** (tries - 1) * (1 + random.random() / 4)
                self._sleep(pause if again.wait is None else again.wait)

    def close(self) -> None:
        """Close the connection."""
        if self._client:
            self._client.close()

    def _body(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], temperature: float | None
    ) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._endpoint.model,
            "messages": [message.openai() for message in messages],
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if tools:
            body["tools"] = [{"type": "function", "function": _function(tool)} for tool in tools]
        if temperature is not None:
            body["temperature"] = temperature
        if self._endpoint.max_tokens is not None:
            body["max_tokens"] = self._endpoint.max_tokens
        return body

    def _fitted(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The body as this service takes it, as far as it has said."""
        fitted = {self._adapted.get(name, name): value for name, value in body.items()}
        fitted.pop("", None)
        return fitted

    def _adapt(self, said: str, body: Mapping[str, Any]) -> bool:
        """Learn from a complaint which parameter the service does not take; False where it is another one."""
        for name, instead in _OPTIONAL.items():
            if name in body and name in said and name not in self._adapted:
                self._adapted[name] = instead if instead in said or name == "max_tokens" else ""
                return True
        return False

    def _once(self, body: dict[str, Any], on_text: Callable[[str], None]) -> Reply:
        import httpx

        endpoint = self._endpoint
        assembly = Assembly(on_text)
        headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
        try:
            data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
            with self._connected().stream("POST", endpoint.url, content=data, headers=headers) as response:
                if response.status_code != 200:
                    self._complain(response, body)
                self._read(response, assembly)
        except httpx.ConnectTimeout:
            raise _Again(llm_errors.timed_out(endpoint.shown, _CONNECT)) from None
        except httpx.TimeoutException:
            raise llm_errors.timed_out(endpoint.shown, endpoint.timeout) from None
        except httpx.ConnectError as error:
            why = llm_errors.redacted(str(error), endpoint.key)
            raise _Again(llm_errors.unreachable(endpoint.shown, why, local=endpoint.is_local)) from None
        except httpx.TransportError:
            cut = llm_errors.cut_off(endpoint.shown)
            raise (_Again(cut) if assembly.is_empty else cut) from None
        except httpx.InvalidURL as error:
            raise ServiceError(
                f"{endpoint.shown} is no address: {error}", code="bad_base_url", hint="check OPENAI_BASE_URL"
            ) from None
        return self._whole(assembly)

    def _connected(self) -> "httpx.Client":
        import httpx

        if self._client is None:
            seconds = self._endpoint.timeout
            self._client = httpx.Client(
                timeout=httpx.Timeout(seconds, connect=_CONNECT),
                headers={
                    "User-Agent": "ctx", "Content-Type": "application/json",
                    "Accept": "text/event-stream, application/json",
                },
                trust_env=not self._endpoint.is_local,  # no proxy for what is on this machine
            )  # fmt: skip
        return self._client

    def _complain(self, response: "httpx.Response", body: Mapping[str, Any]) -> None:
        """Raise the error of a status that is not 200, or _Again where another try may help."""
        data = _limited(response.iter_bytes())
        parsed = _parsed(data)
        found = parsed if parsed is not None else data.decode("utf-8", "replace")
        status, endpoint = response.status_code, self._endpoint
        said = llm_errors.message_of(found)
        error = llm_errors.of_status(status, found, url=endpoint.shown, model=endpoint.model, key=endpoint.key)
        if status in _REJECTED and self._adapt(said, body):
            raise _Again(error, adapted=True)
        if status in _AGAIN and error.code != "llm_quota":
            raise _Again(error, _retry_after(response.headers))
        raise error

    def _read(self, response: "httpx.Response", assembly: Assembly) -> None:
        """Take the reply, streamed or (from a service that does not stream) whole."""
        endpoint = self._endpoint
        if "event-stream" not in response.headers.get("content-type", ""):
            data = _limited(response.iter_bytes())
            if not data.lstrip().startswith(b"data:"):
                self._take(data.decode("utf-8", "replace"), assembly)
                assembly.finish = assembly.finish or "stop"
                return
            pieces: Iterator[bytes] = iter([data])
        else:
            pieces = self._within(response.iter_bytes())
        try:
            for event in sse.events(pieces):
                if event.strip() == "[DONE]":
                    assembly.finish = assembly.finish or "stop"
                    return
                self._take(event, assembly)
        except sse.EventTooLargeError:
            raise llm_errors.not_understood(endpoint.shown, "an event that does not end", endpoint.key) from None

    def _within(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """The pieces, until the reply has taken too long: comments that keep a stream alive are no reply."""
        end = time.monotonic() + max(LONGEST_REPLY, self._endpoint.timeout)
        for piece in pieces:
            if time.monotonic() > end:
                raise llm_errors.timed_out(self._endpoint.shown, LONGEST_REPLY)
            yield piece

    def _take(self, event: str, assembly: Assembly) -> None:
        endpoint = self._endpoint
        chunk = _parsed(event.encode())
        if not isinstance(chunk, Mapping):
            raise llm_errors.not_understood(endpoint.shown, event, endpoint.key)
        if chunk.get("error"):
            said = llm_errors.redacted(llm_errors.message_of(chunk), endpoint.key)
            failed = ServiceError(f"{endpoint.shown} failed: {said}", code="llm_failed", hint="try again later")
            raise _Again(failed) if assembly.is_empty else failed
        if "choices" not in chunk and "usage" not in chunk:
            raise llm_errors.not_understood(endpoint.shown, event, endpoint.key)
        try:
            assembly.add(chunk)
        except ValueError as error:
            raise llm_errors.not_understood(endpoint.shown, str(error), endpoint.key) from None

    def _whole(self, assembly: Assembly) -> Reply:
        """The reply, or the error that it is not one."""
        endpoint = self._endpoint
        if assembly.refusal:
            raise llm_errors.refused(endpoint.model, assembly.refusal, endpoint.key)
        if not assembly.finish:
            cut = llm_errors.cut_off(endpoint.shown)
            raise _Again(cut) if assembly.is_empty else cut
        if assembly.is_empty:
            raise _Again(llm_errors.empty(endpoint.shown))
        return assembly.reply(model=endpoint.model)


_OPTIONAL = {
    "max_tokens": "max_completion_tokens",
    "temperature": "",
    "stream_options": "",
}
"""Parameters that some services do not take, and what to send instead ("": nothing)."""


def _gave_up(again: _Again) -> ServiceError:
    error = again.error
    if again.wait and again.wait > LONGEST_WAIT:
        error.hint = f"it wants us to wait {again.wait:.0f} seconds; try again then"
    return error


def _function(tool: ToolSpec) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}


def _limited(pieces: Iterator[bytes]) -> bytes:
    """All bytes of a body, up to a limit."""
    found = bytearray()
    for piece in pieces:
        found += piece
        if len(found) > _MOST_BODY:
            break
    return bytes(found[:_MOST_BODY])


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """The pause that a service asks for in seconds, None where it names none."""
    text = headers.get("retry-after", "").strip()
    if not text:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
