"""Messages read: OpenAI-style lists, ``{"messages": […]}``, JSON Lines, and the lines of sessions."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ctxcli.model.errors import ParseError
from ctxcli.model.json_errors import json_reason
from ctxcli.model.message import RESULTS, ROLES, Message, ToolCall

_KNOWN = frozenset({"role", "content", "tool_calls", "tool_call_id", "name", "id", "at"})
_HINT = 'a message is {"role": "user", "content": "…"}'


def read_messages(data: bytes, *, name: str) -> tuple[Message, ...]:
    """All messages of a file; ParseError with the place of the first that is none."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ParseError(f"{name} is no UTF-8 text", code="not_text", hint="give a JSON list of messages") from error
    found = []
    for place, value in _values(text, name):
        try:
            found.append(read_message(value))
        except ParseError as error:
            raise ParseError(f"{name}: {place}: {error.message}", code=error.code, hint=error.hint) from None
    return tuple(found)


def _values(text: str, name: str) -> Iterator[tuple[str, Any]]:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        first = json_reason(error)
    else:
        rows = whole.get("messages", [whole]) if isinstance(whole, dict) else whole
        if not isinstance(rows, list):
            raise ParseError(f"{name} holds no list of messages", code="bad_messages", hint=_HINT)
        yield from ((f"message {number}", row) for number, row in enumerate(rows, 1))
        return
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if len(lines) < 2:
        raise ParseError(f"{name} is no JSON ({first})", code="bad_json", hint="give a JSON list of messages")
    for number, line in lines:
        try:
            yield f"line {number}", json.loads(line)
        except (ValueError, RecursionError):
            raise ParseError(f"{name}: line {number} is no JSON", code="bad_json", hint=_HINT) from None


def read_line(line: bytes) -> Message:
    """A line of a session; ParseError where it is none."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise ParseError("no JSON", code="bad_json", hint=_HINT) from None
    return read_message(value)


def read_message(value: Any) -> Message:
    """A message from its JSON value; ParseError says what is wrong."""
    if not isinstance(value, dict):
        raise ParseError(f"not a message but {kind(value)}", code="bad_message", hint=_HINT)
    role = value.get("role")
    if role not in ROLES:
        said = "has no role" if role is None else f"has the unknown role {role!r}"
        raise ParseError(f"the message {said}", code="unknown_role", hint=f"use one of: {', '.join(ROLES)}")
    calls = _calls(value.get("tool_calls"))
    call_id = _text(value, "tool_call_id")
    if calls and role != "assistant":
        raise ParseError(f"a message of {role} calls tools", code="bad_message", hint="only the assistant does")
    if role == "tool" and not call_id:
        raise ParseError("a tool result names no call", code="no_tool_call_id", hint='add "tool_call_id"')
    content, whole = _content(value.get("content"))
    is_empty_reply = role == "assistant" and value.get("content") == ""
    if not content and not whole and not calls and role not in RESULTS and not is_empty_reply:
        raise ParseError("the message has no content", code="no_content", hint='add "content"')
    extra = {key: one for key, one in value.items() if key not in _KNOWN}
    if whole is not None:
        extra["content"] = whole
    return Message(
        role, content, calls, call_id, _text(value, "name"), _text(value, "id"), _text(value, "at"), extra or None
    )


def _text(value: Mapping[str, Any], key: str) -> str:
    found = value.get(key)
    if found is None:
        return ""
    if not isinstance(found, str):
        raise ParseError(f"{key} must be a text, not {kind(found)}", code="bad_message", hint=_HINT)
    return found


def _content(value: Any) -> tuple[str, Any]:
    """The text of a content, and the content itself where it is more than a text."""
    if value is None or isinstance(value, str):
        return value or "", None
    if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
        raise ParseError(f"content must be a text, not {kind(value)}", code="bad_message", hint=_HINT)
    texts = []
    for part in value:
        text = part.get("text")
        texts.append(text if isinstance(text, str) else f"[{part.get('type', 'part')}]")
    return "\n".join(texts), value


def _calls(value: Any) -> tuple[ToolCall, ...]:
    if not value:
        return ()
    found = []
    for call in value if isinstance(value, list) else [value]:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            hint = '[{"id": "…", "type": "function", "function": {"name": "…", "arguments": "{}"}}]'
            raise ParseError("tool_calls is no list of calls", code="bad_tool_calls", hint=hint)
        arguments = function.get("arguments", "{}")
        written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        if not isinstance(call.get("id"), str) or not call["id"]:
            raise ParseError(f"the call of {function['name']} has no id", code="bad_tool_calls", hint='add "id"')
        found.append(ToolCall(call["id"], function["name"], written))
    return tuple(found)


def kind(value: Any) -> str:
    """What a JSON value is, in words."""
    names = {list: "a list", dict: "an object", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
