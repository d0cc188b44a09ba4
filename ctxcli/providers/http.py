"""Requests to a model's service: tried again where that may help, with errors that say what to do.

`ctxcli.providers.llm` streams over it; embeddings and rerankers post one document and get one back.
"""

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

from ctxcli.model.errors import ServiceError
from ctxcli.providers import llm_errors

if TYPE_CHECKING:
    import httpx

OPENAI = "https://api.openai.com/v1"
TRIES = 3
"""Requests at most, until one begins to answer."""
LONGEST_WAIT = 30.0
"""Seconds; a service that wants a longer pause is told of instead."""
LONGEST_REPLY = 900.0
"""Seconds that a reply may take from its first piece to its last."""
MOST_BODY = 8 << 20
_MOST_VECTORS = 256 << 20
_CONNECT = 5.0
_AGAIN = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
_Got = TypeVar("_Got")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is. `timeout` is in seconds between two pieces; `max_tokens` None leaves it to the service."""

    base_url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 60.0
    max_tokens: int | None = None
    kind: llm_errors.Kind = llm_errors.CHAT

    def at(self, path: str) -> str:
        """The address of a request, `path` below the base; parameters of the base (``?api-version=…``) stay."""
        parts = urlsplit(self.base_url)
        return urlunsplit((parts.scheme, parts.netloc, f"{parts.path.rstrip('/')}/{path}", parts.query, ""))

    @property
    def shown(self) -> str:
        """The address as errors show it."""
        return llm_errors.redacted(self.base_url, self.key)

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine."""
        return is_loopback(self.base_url)

    def not_understood(self, said: str) -> ServiceError:
        """The error of an answer that is not of the form of such a service."""
        return llm_errors.not_understood(self.shown, said, self.key, self.kind)

    @property
    def headers(self) -> dict[str, str]:
        """What a request bears to be let in."""
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}


def is_loopback(url: str) -> bool:
    """Whether an address is one of this machine."""
    from ipaddress import ip_address

    host = (urlsplit(url).hostname or "").removesuffix(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        found = ip_address(host)
        return found.is_loopback or found.is_unspecified  # 0.0.0.0, as servers say where they listen
    except ValueError:
        return False


class AgainError(Exception):
    """Try again after `wait` seconds, or where that is None after a pause of our own; at once if `adapted`.

    `error` is what is raised where it was the last try.
    """

    def __init__(self, error: ServiceError, wait: float | None = None, *, adapted: bool = False) -> None:
        super().__init__(error.message)
        self.error, self.wait, self.adapted = error, wait, adapted


def retried(once: Callable[[], _Got], *, sleep: Callable[[float], None] = time.sleep) -> _Got:
    """What `once` gives, which is called again while it raises AgainError, at most `TRIES` times."""
    tries = 0
    while True:
        try:
            return once()
        except AgainError as again:
            if again.adapted:
                continue
            tries += 1
            if tries == TRIES or (again.wait or 0) > LONGEST_WAIT:
                raise _gave_up(again) from None
            pause = 0.5 * 2 ** (tries - 1) * (1 + random.random() / 4)
            sleep(pause if again.wait is None else again.wait)


def _gave_up(again: AgainError) -> ServiceError:
    error = again.error
    if again.wait and again.wait > LONGEST_WAIT:
        error.hint = f"it wants us to wait {again.wait:.0f} seconds; try again then"
    return error


def connected(endpoint: Endpoint) -> "httpx.Client":
    """A client that keeps its connection. ServiceError where the environment keeps it from being made."""
    import httpx

    try:
        return httpx.Client(
            timeout=httpx.Timeout(endpoint.timeout, connect=_CONNECT),
            headers={
                "User-Agent": "ctx", "Content-Type": "application/json",
                "Accept": "text/event-stream, application/json",
            },
            trust_env=not endpoint.is_local,  # no proxy for what is on this machine
        )  # fmt: skip
    except ImportError:
        raise llm_errors.no_socks() from None
    except (ValueError, httpx.InvalidURL) as error:
        raise llm_errors.bad_proxy(str(error)) from None
    except OSError as error:
        raise llm_errors.no_certificates(error.strerror or str(error)) from None


@contextmanager
def transport_errors(endpoint: Endpoint, *, begun: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Turn what goes wrong on the way into AgainError, or ServiceError where the reply has `begun`."""
    import httpx

    try:
        yield
    except httpx.ConnectTimeout:
        raise AgainError(llm_errors.timed_out(endpoint.shown, _CONNECT)) from None
    except httpx.TimeoutException:
        raise llm_errors.timed_out(endpoint.shown, endpoint.timeout) from None
    except httpx.ConnectError as failed:
        why = llm_errors.redacted(str(failed), endpoint.key)
        error = llm_errors.unreachable(endpoint.shown, why, local=endpoint.is_local, kind=endpoint.kind)
        raise AgainError(error) from None
    except httpx.TransportError:
        cut = llm_errors.cut_off(endpoint.shown)
        raise (cut if begun() else AgainError(cut)) from None
    except httpx.DecodingError:
        raise endpoint.not_understood("a body that cannot be unpacked") from None
    except httpx.InvalidURL as failed:
        message = f"{endpoint.shown} is no address: {failed}"
        raise ServiceError(message, code="bad_base_url", hint=f"check {endpoint.kind.address}") from None


def complaint(
    response: "httpx.Response", endpoint: Endpoint, *, adapt: Callable[[str], bool] = lambda said: False
) -> ServiceError | AgainError:
    """The error of a status that is not 200, AgainError where another try may help.

    `adapt` is told what a service says that rejects the request, and says whether it will be worded otherwise.
    """
    data = limited(pieces_of(response, endpoint))
    found = parsed(data)
    found = data.decode("utf-8", "replace") if found is None else found
    status = response.status_code
    error = llm_errors.of_status(
        status, found, url=endpoint.shown, model=endpoint.model, key=endpoint.key, kind=endpoint.kind
    )
    if status in (400, 422) and adapt(llm_errors.message_of(found)):
        return AgainError(error, adapted=True)
    if status in _AGAIN and error.code != "llm_quota":
        return AgainError(error, _retry_after(response.headers))
    return error


class JsonService:
    """Posts one JSON document after another to a service."""

    def __init__(self, endpoint: Endpoint, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self.endpoint = endpoint
        self._sleep = sleep
        self._client: httpx.Client | None = None

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The object or list that the service answers with; ServiceError where there is none."""
        return retried(lambda: self._once(path, body), sleep=self._sleep)

    def _once(self, path: str, body: Mapping[str, Any]) -> Any:
        endpoint = self.endpoint
        self._client = self._client or connected(endpoint)
        data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        with (
            transport_errors(endpoint),
            self._client.stream("POST", endpoint.at(path), content=data, headers=endpoint.headers) as response,
        ):
            if response.status_code != 200:
                raise complaint(response, endpoint)
            raw = limited(pieces_of(response, endpoint), most=_MOST_VECTORS)
        found = parsed(raw)
        if not isinstance(found, Mapping | list):
            raise endpoint.not_understood(raw[:200].decode("utf-8", "replace"))
        if isinstance(found, Mapping) and found.get("error"):
            said = llm_errors.redacted(llm_errors.message_of(found), endpoint.key)
            raise ServiceError(f"{endpoint.shown} failed: {said}", code="llm_failed", hint="try again later")
        return found


def pieces_of(response: "httpx.Response", endpoint: Endpoint) -> Iterator[bytes]:
    """The body as it comes.

    ServiceError where it takes too long (comments that keep a stream alive are no reply), and where it is packed more
    than once, which lets a few bytes unpack to more than any memory holds.
    """
    if "," in response.headers.get("content-encoding", ""):
        raise endpoint.not_understood("a body that is packed more than once")
    longest = max(LONGEST_REPLY, endpoint.timeout)
    end = time.monotonic() + longest
    for piece in response.iter_bytes():
        if time.monotonic() > end:
            raise llm_errors.endless(endpoint.shown, longest)
        yield piece


def limited(pieces: Iterator[bytes], *, most: int = MOST_BODY) -> bytes:
    """All bytes of a body, up to a limit."""
    found = bytearray()
    for piece in pieces:
        found += piece
        if len(found) > most:
            break
    return bytes(found[:most])


def parsed(data: bytes) -> Any:
    """The JSON value, None where there is none."""
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
        seconds = float(text)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - time.time()
        except (TypeError, ValueError, OverflowError):
            return None
    return max(0.0, seconds) if isfinite(seconds) else None
