"""A chat service on this machine that answers as a script says."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Scripted:
    """One response: status, headers, and the body in pieces; `cut` ends the connection without an end."""

    pieces: Sequence[bytes] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False


Script = Scripted | Callable[[dict[str, Any]], Scripted]


def event(value: Any) -> bytes:
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"


def delta(**fields: Any) -> bytes:
    return event({"model": "scripted", "choices": [{"index": 0, "delta": fields}]})


def finish(reason: str = "stop", *, prompt: int = 20, completion: int = 5) -> list[bytes]:
    return [
        event({"model": "scripted", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}),
        event({"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": completion}}),
        b"data: [DONE]\n\n",
    ]


def streamed(*pieces: bytes, **options: Any) -> Scripted:
    return Scripted(pieces, headers={"Content-Type": "text/event-stream"}, **options)


def said(text: str, *, reason: str = "stop", size: int = 7) -> Scripted:
    """A reply, streamed a few characters at a time."""
    parts = [text[at : at + size] for at in range(0, len(text), size)]
    return streamed(delta(role="assistant", content=""), *(delta(content=part) for part in parts), *finish(reason))


def called(*calls: tuple[str, Any], text: str = "") -> Scripted:
    """A reply that calls tools."""
    pieces = [delta(content=text)] if text else []
    for at, (name, arguments) in enumerate(calls):
        whole = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        head, tail = whole[: len(whole) // 2], whole[len(whole) // 2 :]
        first = {"index": at, "id": f"c{at}", "type": "function", "function": {"name": name, "arguments": head}}
        pieces.append(delta(tool_calls=[first]))
        pieces.append(delta(tool_calls=[{"index": at, "function": {"arguments": tail}}]))
    return streamed(*pieces, *finish("tool_calls"))


def status(code: int, body: Any = None, **headers: str) -> Scripted:
    data = body if isinstance(body, bytes) else json.dumps(body if body is not None else {}).encode()
    return Scripted([data], code, {"Content-Type": "application/json", **headers})


@dataclass
class Service:
    """The running service; `requests` are the bodies that came, `headers` what came with them."""

    url: str
    requests: list[dict[str, Any]]
    headers: list[dict[str, str]]

    @property
    def prompt(self) -> str:
        """All that the model was told in the last request."""
        return "\n".join(str(one.get("content") or "") for one in self.requests[-1]["messages"])

    @property
    def environment(self) -> dict[str, str]:
        """What makes a process use it."""
        return {"OPENAI_BASE_URL": self.url, "CTX_MODEL": "scripted"}


@contextmanager
def scripted(*script: Script) -> Iterator[Service]:
    """Serve the responses in order; after the last one every request fails."""
    left = list(script)
    service = Service("", [], [])
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                service.requests.append(body)
                service.headers.append(dict(self.headers))
                one: Script = left.pop(0) if left else status(400, {"error": {"message": "the script is over"}})
            with suppress(ConnectionError):  # a client that has had enough
                self.answer(one if isinstance(one, Scripted) else one(body))

        def answer(self, one: Scripted) -> None:
            self.send_response(one.status)
            for name, value in one.headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for piece in one.pieces:
                if piece:
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                    self.wfile.flush()
            if one.cut:
                self.close_connection = True
                self.connection.close()
                return
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    service.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
