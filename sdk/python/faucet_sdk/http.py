"""HTTP requests, one at a time, to hosts that the configuration grants.

A component says in `wants` which those are, and is built with the world `faucet:python/http` beside its own. The host
puts secrets in: `${secret:NAME}` in a header or the path becomes the value, which the component never sees.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from componentize_py_types import Err, Ok
from wit_world.imports import http_types, outgoing_handler, streams

from .errors import Error, Unavailable

# What one call of `blocking-write-and-flush` takes.
_WRITE_LIMIT = 4096
_READ_LIMIT = 1 << 16

_METHODS = {
    name.upper(): getattr(http_types, f"Method_{name}")
    for name in ("Get", "Head", "Post", "Put", "Delete", "Connect", "Options", "Trace", "Patch")
}


@dataclass(frozen=True)
class Response:
    """What came back, whatever its status."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case; the values of a name that comes several times are joined by commas."""
    body: bytes = b""

    @property
    def ok(self) -> bool:
        """Whether the status is 200 to 299."""
        return 200 <= self.status < 300

    def text(self) -> str:
        """The body as UTF-8."""
        return self.body.decode()

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


def request(
    url: str, method: str = "GET", headers: Mapping[str, str] | None = None, body: bytes | str = b""
) -> Response:
    """Sends a request and waits for all of the answer. Raises `Unavailable` if there is none."""
    parts = urlsplit(url)
    outgoing = _outgoing(parts, method, headers or {})
    try:
        return _exchange(outgoing, body.encode() if isinstance(body, str) else body)
    except Err as error:
        code = type(error.value).__name__.removeprefix("ErrorCode_")
        if code == "HttpRequestDenied":
            raise Error(f"no request to {parts.netloc} is allowed") from None
        raise Unavailable(f"{parts.netloc} can't be reached: {code}") from None


def _outgoing(parts, method: str, headers: Mapping[str, str]) -> http_types.OutgoingRequest:
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise Error("an address must start with http:// or https:// and a host")
    fields = http_types.Fields.from_list([(name, value.encode()) for name, value in headers.items()])
    outgoing = http_types.OutgoingRequest(fields)
    known = _METHODS.get(method.upper())
    outgoing.set_method(known() if known else http_types.Method_Other(method))
    outgoing.set_scheme(http_types.Scheme_Http() if parts.scheme == "http" else http_types.Scheme_Https())
    outgoing.set_authority(parts.netloc)
    outgoing.set_path_with_query((parts.path or "/") + (f"?{parts.query}" if parts.query else ""))
    return outgoing


def _exchange(outgoing: http_types.OutgoingRequest, data: bytes) -> Response:
    body = outgoing.body()
    with outgoing_handler.handle(outgoing, None) as future:
        with body.write() as stream:
            for at in range(0, len(data), _WRITE_LIMIT):
                stream.blocking_write_and_flush(data[at : at + _WRITE_LIMIT])
        http_types.OutgoingBody.finish(body, None)
        with future.subscribe() as ready:
            ready.block()
        return _response(_answer(future.get()))


def _answer(got) -> http_types.IncomingResponse:
    """An answer comes as a result in a result: whether it was taken before, and whether there was one."""
    if isinstance(got, Ok) and isinstance(got.value, Ok):
        return got.value.value
    raise got.value if isinstance(got, Ok) else got


def _response(incoming: http_types.IncomingResponse) -> Response:
    with incoming:
        headers: dict[str, str] = {}
        with incoming.headers() as fields:
            for name, value in fields.entries():
                text, key = value.decode("latin-1"), name.lower()
                headers[key] = f"{headers[key]}, {text}" if key in headers else text
        return Response(incoming.status(), headers, _body(incoming))


def _body(incoming: http_types.IncomingResponse) -> bytes:
    pieces = []
    with incoming.consume() as body, body.stream() as stream:
        try:
            while True:
                pieces.append(stream.blocking_read(_READ_LIMIT))
        except Err as error:
            if not isinstance(error.value, streams.StreamError_Closed):
                raise
    return b"".join(pieces)
