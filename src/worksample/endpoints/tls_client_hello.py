"""The name in a TLS ClientHello (RFC 8446, 4.1.2; RFC 6066, 3), read and never changed."""

from __future__ import annotations

MOST = 1 << 16
"""Bytes of a ClientHello that are looked at."""
_HANDSHAKE, _CLIENT_HELLO, _SERVER_NAME, _HOST_NAME = 22, 1, 0, 0


class NoHello(ValueError):
    """What was sent is no ClientHello with one server name."""


def server_name(data: bytes) -> str | None:
    """The server name, in lower case; None while more bytes are needed. NoHello."""
    hello = bytearray()
    at = 0
    while True:
        if len(data) < at + 5:
            if data[at : at + 1] not in (b"", bytes([_HANDSHAKE])):
                raise NoHello("it is not a TLS handshake")
            break
        if data[at] != _HANDSHAKE or data[at + 1] != 3:
            raise NoHello("it is not a TLS handshake")
        size = int.from_bytes(data[at + 3 : at + 5], "big")
        hello += data[at + 5 : at + 5 + size]
        if len(hello) >= 4:
            if hello[0] != _CLIENT_HELLO:
                raise NoHello("it is not a ClientHello")
            whole = 4 + int.from_bytes(hello[1:4], "big")
            if len(hello) >= whole:
                return _name_of(_Bytes(bytes(hello[4:whole])))
        if len(data) < at + 5 + size:
            break
        at += 5 + size
    if len(data) > MOST:
        raise NoHello("its ClientHello is too long")
    return None


class _Bytes:
    """Fields with a length before them."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, size: int) -> bytes:
        """The next bytes. NoHello where there are not as many."""
        if self._at + size > len(self._data):
            raise NoHello("its ClientHello is cut short")
        self._at += size
        return self._data[self._at - size : self._at]

    def number(self, size: int) -> int:
        """The next number."""
        return int.from_bytes(self.take(size), "big")

    def field(self, size: int) -> _Bytes:
        """The next field, whose length stands in so many bytes."""
        return _Bytes(self.take(self.number(size)))

    def left(self) -> bool:
        """Whether anything is left."""
        return self._at < len(self._data)

    def rest(self) -> bytes:
        """All that is left."""
        return self.take(len(self._data) - self._at)


def _name_of(body: _Bytes) -> str:
    body.take(2 + 32)
    for size in (1, 2, 1):  # session, cipher suites, compression
        body.field(size)
    names: list[bytes] = []
    extensions = body.field(2) if body.left() else _Bytes(b"")
    while extensions.left():
        kind, content = extensions.number(2), extensions.field(2)
        if kind == _SERVER_NAME:
            listed = content.field(2)
            while listed.left():
                of, name = listed.number(1), listed.field(2).rest()
                names += [name] if of == _HOST_NAME else []
    if len(names) != 1 or not names[0].isascii():
        raise NoHello("its ClientHello names no server, or several")
    return names[0].decode("ascii").lower()
