"""Any OpenAI-compatible chat service over HTTP: streamed, retried before the first token only."""

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ctxcli.model.chat import Reply, ToolSpec
from ctxcli.model.errors import ServiceError
from ctxcli.model.message import Message
from ctxcli.providers import http, llm_errors, sse
from ctxcli.providers.chunks import Assembly
from ctxcli.providers.http import AgainError, Endpoint

if TYPE_CHECKING:
    import httpx


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
        return http.retried(lambda: self._once(self._fitted(body), on_text), sleep=self._sleep)

    def close(self) -> None:
        """Close the connection."""
        if self._client:
            self._client.close()

    def _body(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], temperature: float | None
    ) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._endpoint.model,
            "messages": [_sendable(message).openai() for message in messages],
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
        endpoint = self._endpoint
        assembly = Assembly(on_text)
        data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        self._client = self._client or http.connected(endpoint)
        url = endpoint.at("chat/completions")
        with (
            http.transport_errors(endpoint, begun=lambda: not assembly.is_empty),
            self._client.stream("POST", url, content=data, headers=endpoint.headers) as response,
        ):
            if response.status_code != 200:
                raise http.complaint(response, endpoint, adapt=lambda said: self._adapt(said, body))
            self._read(response, assembly)
        return self._whole(assembly)

    def _read(self, response: "httpx.Response", assembly: Assembly) -> None:
        """Take the reply, streamed or (from a service that does not stream) whole."""
        endpoint = self._endpoint
        pieces = http.pieces_of(response, endpoint)
        if "event-stream" not in response.headers.get("content-type", ""):
            data = http.limited(pieces)
            if not data.lstrip().startswith(b"data:"):
                self._take(data.decode("utf-8", "replace"), assembly)
                assembly.finish = assembly.finish or "stop"
                return
            pieces = iter([data])
        try:
            for event in sse.events(pieces):
                for chunk in _chunks(event):
                    if chunk.strip() == "[DONE]":
                        assembly.finish = assembly.finish or "stop"
                        return
                    self._take(chunk, assembly)
        except sse.EventTooLargeError:
            raise llm_errors.not_understood(endpoint.shown, "an event that does not end", endpoint.key) from None

    def _take(self, event: str, assembly: Assembly) -> None:
        endpoint = self._endpoint
        chunk = http.parsed(event.encode())
        if not isinstance(chunk, Mapping):
            raise llm_errors.not_understood(endpoint.shown, event, endpoint.key)
        if chunk.get("error"):
            said = llm_errors.redacted(llm_errors.message_of(chunk), endpoint.key)
            failed = ServiceError(f"{endpoint.shown} failed: {said}", code="llm_failed", hint="try again later")
            raise AgainError(failed) if assembly.is_empty else failed
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
            raise AgainError(cut) if assembly.is_empty else cut
        if assembly.is_empty:
            raise AgainError(llm_errors.empty(endpoint.shown))
        return assembly.reply(model=endpoint.model)


_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
_OPTIONAL = {
    "max_tokens": "max_completion_tokens",
    "temperature": "",
    "stream_options": "",
}
"""Parameters that some services do not take, and what to send instead ("": nothing)."""


def _sendable(message: Message) -> Message:
    """A message as services take it back: templates of some parse the arguments of calls, and some check their names.

    Without this a session in which a model has once called a tool wrongly would be rejected from then on.
    """
    calls = tuple(
        replace(
            call,
            name=_NOT_IN_NAMES.sub("_", call.name)[:64] or "unknown",
            arguments=call.arguments if isinstance(http.parsed(call.arguments.encode()), Mapping) else "{}",
        )
        for call in message.tool_calls
    )
    return message if calls == message.tool_calls else replace(message, tool_calls=calls)


def _chunks(event: str) -> list[str]:
    """The chunks of an event: one, or one a line from a service that leaves the empty lines between them out."""
    return event.split("\n") if "\n" in event and http.parsed(event.encode()) is None else [event]


def _function(tool: ToolSpec) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
