"""The chat client against a real server on this machine that misbehaves by script."""

import gzip
import json
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcli.model.chat import Reply, ToolSpec, Usage
from ctxcli.model.errors import ExitCode, ServiceError
from ctxcli.model.message import Message, ToolCall
from ctxcli.providers import http, sse
from ctxcli.providers.llm import ChatService, Endpoint
from tests.llm_server import Script, Scripted, called, delta, event, finish, said, scripted, status, streamed

HELLO = [Message("user", "你好")]
KEY = "sk-secret-0123456789"
LOOKUP = ToolSpec("look_up", "Looks up.", {"type": "object", "properties": {}})


def ask(*script: Script, pauses: list[float] | None = None, **options: Any) -> tuple[Reply, list[dict[str, Any]]]:
    waited: list[float] = [] if pauses is None else pauses
    with scripted(*script) as service:
        model = ChatService(Endpoint(service.url, "m", KEY, **options), sleep=waited.append)
        try:
            return model.reply(HELLO), service.requests
        finally:
            model.close()


def failure(*script: Script, pauses: list[float] | None = None, **options: Any) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        ask(*script, pauses=pauses, **options)
    error = caught.value
    assert error.exit_code == ExitCode.SERVICE
    assert error.hint
    assert KEY not in f"{error.message}{error.hint}{error!r}"
    return error


def test_a_streamed_reply_is_put_together_and_counted() -> None:
    pieces: list[str] = []
    with scripted(said("连接池默认大小是 10。[1] 🙂")) as service:
        model = ChatService(Endpoint(service.url, "m", KEY))
        reply = model.reply(HELLO, on_text=pieces.append)
    assert reply.text == "".join(pieces) == "连接池默认大小是 10。[1] 🙂"
    assert len(pieces) > 1
    assert reply.usage == Usage(20, 5)
    assert reply.whole
    assert service.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert service.requests[0]["messages"] == [{"role": "user", "content": "你好"}]
    assert service.requests[0]["stream_options"] == {"include_usage": True}


def test_without_a_key_no_authorization_is_sent() -> None:
    with scripted(said("ok")) as service:
        ChatService(Endpoint(service.url, "m")).reply(HELLO)
    assert "Authorization" not in service.headers[0]


@given(
    text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40),
    cuts=st.lists(st.integers(1, 9), max_size=12),
    end=st.sampled_from([b"\n", b"\r\n", b"\r"]),
)
def test_events_are_read_wherever_the_bytes_are_cut(text: str, cuts: list[int], end: bytes) -> None:
    whole = b": keep-alive\n\nevent: x\n" + event({"t": text}) + b"data: [DONE]\n\n"
    whole = whole.replace(b"\n", end)
    pieces, at = [], 0
    for cut in cuts:
        pieces.append(whole[at : at + cut])
        at += cut
    pieces.append(whole[at:])
    first, last = sse.events(pieces)
    assert json.loads(first) == {"t": text}
    assert last == "[DONE]"


def test_an_event_may_hold_line_separators_of_unicode() -> None:
    assert ask(streamed(delta(content="a\u2028b\u0085c"), *finish()))[0].text == "a\u2028b\u0085c"


def test_an_event_that_does_not_end_is_an_error() -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield b"x" * 1_000_000

    with pytest.raises(sse.EventTooLargeError):
        list(sse.events(endless()))


def test_odd_chunking_comments_and_empty_choices_do_no_harm() -> None:
    body = b"".join([b": keep-alive\n\n", event({"choices": []}), delta(content="你"), delta(content=None),
                     event({"choices": [{"delta": None}]}), delta(content="好 [1]"), *finish()])  # fmt: skip
    reply, _ = ask(streamed(*(body[at : at + 3] for at in range(0, len(body), 3))))
    assert reply.text == "你好 [1]"


def test_a_service_that_does_not_stream_is_understood() -> None:
    whole = {"model": "x", "choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}],
             "usage": {"prompt_tokens": 3, "completion_tokens": 1}}  # fmt: skip
    reply, _ = ask(status(200, whole))
    assert (reply.text, reply.usage, reply.model) == ("hi", Usage(3, 1), "x")


def test_429_waits_as_long_as_it_is_told_to() -> None:
    pauses: list[float] = []
    reply, requests = ask(status(429, {"error": {"message": "slow down"}}, Retry_After="2"), said("ok"), pauses=pauses)
    assert reply.text == "ok"
    assert pauses == [2.0]
    assert len(requests) == 2


def test_a_date_says_when_to_try_again() -> None:
    pauses: list[float] = []
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    ask(status(503, None, Retry_After=later), said("ok"), pauses=pauses)
    assert 10 < pauses[0] <= 20


def test_a_long_pause_is_told_and_not_waited_for() -> None:
    pauses: list[float] = []
    error = failure(status(429, None, Retry_After="3600"), pauses=pauses)
    assert error.code == "llm_rate_limited"
    assert "3600" in error.hint
    assert pauses == []


def test_pauses_grow_and_tries_end() -> None:
    pauses: list[float] = []
    error = failure(*[status(500, {"error": "boom"})] * 5, pauses=pauses)
    assert error.code == "llm_failed"
    assert "boom" in error.message
    assert len(pauses) == http.TRIES - 1
    assert pauses[0] < pauses[1]


def test_no_credit_is_not_tried_again() -> None:
    pauses: list[float] = []
    body = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
    assert failure(status(429, body), pauses=pauses).code == "llm_quota"
    assert pauses == []


def test_a_stream_cut_before_the_first_word_is_tried_again() -> None:
    reply, requests = ask(streamed(delta(role="assistant"), cut=True), said("ok"))
    assert reply.text == "ok"
    assert len(requests) == 2


@pytest.mark.parametrize("cut", [True, False], ids=["connection closed", "no end of the stream"])
def test_a_stream_cut_in_the_middle_is_an_error_and_not_tried_again(cut: bool) -> None:
    pauses: list[float] = []
    assert failure(streamed(delta(content="The pool"), cut=cut), said("never"), pauses=pauses).code == "llm_cut_off"
    assert pauses == []


def test_an_error_in_the_middle_of_a_stream_is_one() -> None:
    error = failure(streamed(delta(content="The"), event({"error": {"message": "overloaded", "code": 529}})))
    assert (error.code, "overloaded" in error.message) == ("llm_failed", True)


@pytest.mark.parametrize(
    ("script", "code"),
    [
        (status(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}), "llm_unauthorized"),
        (status(403, b"<html>forbidden</html>"), "llm_unauthorized"),
        (status(404, {"error": {"message": "The model `m` does not exist", "code": "model_not_found"}}),
         "llm_model_not_found"),
        (status(404, {"error": "model 'm' not found, try pulling it first"}), "llm_model_not_found"),
        (status(404, b"404 page not found"), "llm_not_found"),
        (status(400, {"error": {"message": "max context length is 8192", "code": "context_length_exceeded"}}),
         "llm_too_long"),
        (status(400, {"error": {"message": "the request exceeds the available context size"}}), "llm_too_long"),
        (status(400, {"detail": "bad"}), "llm_rejected"),
        (status(400, {"error": {"message": "Model Not Exist"}}), "llm_model_not_found"),
        (status(307, None, Location="https://elsewhere.example/"), "llm_redirect"),
        (Scripted([b"<html>welcome</html>"], headers={"Content-Type": "text/html"}), "llm_not_json"),
        (streamed(b"data: {broken\n\n"), "llm_not_json"),
        (streamed(b'data: ["list"]\n\n'), "llm_not_json"),
        (status(200, {"hello": "world"}), "llm_not_json"),
        (streamed(delta(refusal="I can't help with that."), *finish()), "llm_refused"),
        (streamed(delta(content="Well"), *finish("content_filter")), "llm_refused"),
    ],
)  # fmt: skip
def test_each_failure_has_a_code_and_says_what_to_do(script: Script, code: str) -> None:
    assert failure(script).code == code


def test_an_empty_reply_is_tried_again_and_then_told() -> None:
    assert failure(*[streamed(*finish())] * http.TRIES).code == "llm_empty"
    assert failure(*[streamed(event({"choices": []}), b"data: [DONE]\n\n")] * http.TRIES).code == "llm_empty"


def test_nobody_there_is_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        pauses: list[float] = []
        with pytest.raises(ServiceError) as caught:
            ChatService(Endpoint(url, "m"), sleep=pauses.append).reply(HELLO)
    assert caught.value.code == "llm_unreachable"
    assert len(pauses) == http.TRIES - 1


def test_silence_is_told_after_the_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        with pytest.raises(ServiceError) as caught:
            ChatService(Endpoint(url, "m", timeout=0.2)).reply(HELLO)
    assert caught.value.code == "llm_timeout"


def test_a_limit_of_tokens_is_sent_under_the_name_that_the_service_knows() -> None:
    complaint = {"error": {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}
    reply, requests = ask(status(400, complaint), said("ok"), max_tokens=50)
    assert reply.text == "ok"
    assert requests[0]["max_tokens"] == 50
    assert requests[1]["max_completion_tokens"] == 50
    assert "max_tokens" not in requests[1]


def test_what_a_service_does_not_take_is_left_out_from_then_on() -> None:
    complaint = {"error": {"message": "temperature does not support 0 with this model"}}
    with scripted(status(400, complaint), said("one"), said("two")) as service:
        model = ChatService(Endpoint(service.url, "m"))
        assert model.reply(HELLO, temperature=0).text == "one"
        assert model.reply(HELLO, temperature=0).text == "two"
    assert ["temperature" in one for one in service.requests] == [True, False, False]


def test_a_reply_at_its_limit_says_that_it_is_not_whole() -> None:
    assert not ask(said("The pool is", reason="length"))[0].whole


def test_tool_calls_come_in_pieces() -> None:
    with scripted(called(("look_up", {"q": "水泵"}), ("other", {}), text="Let me see.")) as service:
        reply = ChatService(Endpoint(service.url, "m")).reply(HELLO, tools=[LOOKUP])
    assert reply.text == "Let me see."
    assert reply.tool_calls == (ToolCall("c0", "look_up", '{"q": "水泵"}'), ToolCall("c1", "other", "{}"))
    assert service.requests[0]["tools"][0]["function"]["name"] == "look_up"


def test_calls_with_the_same_id_are_told_apart() -> None:
    same = [
        {"index": at, "id": "x", "function": {"name": "look_up", "arguments": f'{{"q": "泵 {at}"}}'}} for at in (0, 1)
    ]
    reply, _ = ask(streamed(delta(tool_calls=same), *finish("tool_calls")))
    assert [(call.id, call.arguments) for call in reply.tool_calls] == [
        ("x", '{"q": "泵 0"}'),
        ("call-2", '{"q": "泵 1"}'),
    ]


def test_calls_that_a_model_got_wrong_do_not_spoil_the_requests_to_come() -> None:
    wrong = (ToolCall("a", "look_up", '{"q": "水'), ToolCall("b", "", "[]"), ToolCall("c", "查 找", '{"q": "水泵"}'))
    results = [Message("tool", "error", tool_call_id=call.id) for call in wrong]
    with scripted(said("ok")) as service:
        ChatService(Endpoint(service.url, "m")).reply([*HELLO, Message("assistant", tool_calls=wrong), *results])
    sent = [call["function"] for call in service.requests[0]["messages"][1]["tool_calls"]]
    assert sent == [
        {"name": "look_up", "arguments": "{}"},
        {"name": "unknown", "arguments": "{}"},
        {"name": "_", "arguments": '{"q": "水泵"}'},
    ]


def test_tool_calls_without_an_index_are_told_apart_by_their_ids() -> None:
    first = {"id": "a", "function": {"name": "look_up", "arguments": "{}"}}
    second = {"id": "b", "function": {"name": "look_up", "arguments": '{"q": 1}'}}
    reply, _ = ask(streamed(delta(tool_calls=[first]), delta(tool_calls=[second]), *finish("tool_calls")))
    assert [call.arguments for call in reply.tool_calls] == ["{}", '{"q": 1}']


def test_a_proxy_is_not_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert ask(said("ok"))[0].text == "ok"


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:7890", "bad_proxy"),
        ("HTTPS_PROXY", "socks://127.0.0.1:7890", "bad_proxy"),
        ("HTTPS_PROXY", "http://[::1", "bad_proxy"),
        ("SSL_CERT_FILE", "/there/is/none.pem", "bad_certificates"),
    ],
)
def test_an_environment_that_no_client_can_be_made_in_is_told(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, code: str
) -> None:
    for one in ("ALL_PROXY", "all_proxy", "HTTPS_PROXY", "https_proxy"):
        monkeypatch.delenv(one, raising=False)
    monkeypatch.setenv(name, value)
    with pytest.raises(ServiceError) as caught:
        ChatService(Endpoint("https://llm.invalid/v1", "m", KEY), sleep=lambda seconds: None).reply(HELLO)
    assert caught.value.code == code
    assert name in f"{caught.value.message} {caught.value.hint}"


def packed(*bodies: bytes, coding: str = "gzip") -> Scripted:
    return Scripted(bodies, headers={"Content-Type": "text/event-stream", "Content-Encoding": coding})


def test_packed_bodies_are_unpacked_once_and_bad_ones_told() -> None:
    stream = b"".join([delta(content="你好"), *finish()])
    assert ask(packed(gzip.compress(stream)))[0].text == "你好"
    assert failure(packed(b"this is no gzip")).code == "llm_not_json"
    assert failure(packed(gzip.compress(gzip.compress(stream)), coding="gzip, gzip")).code == "llm_not_json"
    assert failure(packed(gzip.compress(b"data: " + b"x" * (64 << 20)))).code == "llm_not_json"


@pytest.mark.parametrize(
    "field",
    [
        {"content": "x" * 10_000},
        {"refusal": "不" * 10_000},
        {"tool_calls": [{"index": 0, "function": {"name": "n" * 10_000}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": "a" * 10_000}}]},
    ],
    ids=["text", "refusal", "name", "arguments"],
)
def test_whatever_does_not_end_is_an_error(field: dict[str, Any]) -> None:
    error = failure(streamed(*[delta(**field)] * 1_000, *finish()))
    assert (error.code, "does not end" in error.message) == ("llm_not_json", True)


def test_too_many_calls_at_once_are_an_error() -> None:
    calls = [{"index": at, "id": f"c{at}", "function": {"name": "look_up", "arguments": "{}"}} for at in range(1_000)]
    assert "calls of tools" in failure(streamed(delta(tool_calls=calls), *finish("tool_calls"))).message


def test_calls_with_numbers_and_ids_that_are_none_do_no_harm() -> None:
    for strange in ({"index": [1]}, {"index": {}, "id": 5}, {"id": {"a": 1}}, {"index": None}):
        call = {**strange, "function": {"name": "look_up", "arguments": "{}"}}
        reply, _ = ask(streamed(delta(tool_calls=[call]), *finish("tool_calls")))
        assert reply.tool_calls == (ToolCall("call-1", "look_up", "{}"),)


def test_halves_of_characters_are_joined_or_replaced() -> None:
    first, second = (b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n' % half for half in (b"\\ud83d", b"\\ude00"))
    assert ask(streamed(first, second, *finish()))[0].text == "😀"
    assert ask(streamed(first, *finish()))[0].text == "\ufffd"


def test_a_stream_with_a_mark_before_it_or_without_empty_lines_is_understood() -> None:
    stream = b"".join([delta(content="你"), delta(content="好"), *finish()])
    assert ask(streamed(b"\xef\xbb\xbf" + stream))[0].text == "你好"
    assert ask(streamed(stream.replace(b"\n\n", b"\n")))[0].text == "你好"
    assert ask(streamed(stream.replace(b"\n", b"\r\n")))[0].usage == Usage(20, 5)


def test_a_line_that_comes_byte_by_byte_is_read_once() -> None:
    def bytewise(size: int) -> Iterator[bytes]:
        yield b"data: "
        yield from (b"x" for _ in range(size))
        yield b"\n\n"

    assert [len(one) for one in sse.events(bytewise(1 << 20))] == [1 << 20]


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e999", "Mon, 01 Jan 0001 00:00:00 -0000", "later"])
def test_a_pause_that_is_none_is_replaced_by_our_own(value: str) -> None:
    pauses: list[float] = []
    assert ask(status(429, {}, Retry_After=value), said("ok"), pauses=pauses)[0].text == "ok"
    assert 0 <= pauses[0] < 1


def test_the_key_does_not_follow_to_another_place() -> None:
    with scripted(said("stolen")) as other:
        error = failure(status(307, {}, Location=f"{other.url}/chat/completions"))
    assert (error.code, other.requests) == ("llm_redirect", [])


@pytest.mark.parametrize(
    ("base", "address"),
    [
        ("http://h/v1", "http://h/v1/chat/completions"),
        ("http://h/v1//", "http://h/v1/chat/completions"),
        ("http://h", "http://h/chat/completions"),
        ("https://h/a/b?api-version=2024-10-21", "https://h/a/b/chat/completions?api-version=2024-10-21"),
        ("http://[::1]:8080/v1#x", "http://[::1]:8080/v1/chat/completions"),
    ],
)
def test_the_path_is_put_below_the_base(base: str, address: str) -> None:
    assert Endpoint(base, "m").at("chat/completions") == address


def test_a_password_in_an_address_is_not_shown() -> None:
    endpoint = Endpoint("http://user:secret@127.0.0.1:9/v1", "m")
    with pytest.raises(ServiceError) as caught:
        ChatService(endpoint, sleep=lambda seconds: None).reply(HELLO)
    assert "secret" not in caught.value.message
    assert KEY not in repr(Endpoint("http://x", "m", KEY))


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:11434/v1", True),
        ("http://127.0.0.1/v1", True),
        ("http://[::1]:8080/v1", True),
        ("http://LOCALHOST.:80/v1", True),
        ("http://0.0.0.0:11434/v1", True),
        ("https://api.example.com/v1", False),
        ("http://localhost.example.com/v1", False),
        ("http://127.0.0.1.example.com/v1", False),
    ],
)
def test_this_machine_is_told_from_others(url: str, local: bool) -> None:
    assert http.is_loopback(url) is local
