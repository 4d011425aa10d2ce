"""A reader of the server name in a TLS ClientHello (RFC 8446, 4.1.2; RFC 6066, 3). The ClientHello is never changed."""

from __future__ import annotations

MOST = 1 << 16
"""Maximum bytes of a ClientHello."""
_HANDSHAKE, _CLIENT_HELLO, _SERVER_NAME, _HOST_NAME = 22, 1, 0, 0


class ClientHelloError(ValueError):
    """Error: the bytes are not a ClientHello with exactly one server name."""


def server_name(data: bytes) -> str | None:
    """Return the server name of a ClientHello in lower case, or None if `data` is not complete. Raises ClientHelloError
    if the bytes are not a valid ClientHello.
    """
    return HelloReader().feed(data)


class HelloReader:
    """A reader of a ClientHello that arrives in pieces. Each byte is processed only once, even if every TLS record has
    only one byte.
    """

    def __init__(self) -> None:
        self.data = bytearray()
        """All bytes received so far."""
        self._at, self._hello = 0, bytearray()

    def feed(self, piece: bytes) -> str | None:
        """Add a piece of the ClientHello. Return the server name if the ClientHello is complete, otherwise None. Raises
        ClientHelloError if the bytes are not a valid ClientHello.
        """
        self.data += piece
        while len(self.data) >= self._at + 5:
            at = self._at
            if self.data[at] != _HANDSHAKE or self.data[at + 1] != 3:
                raise ClientHelloError("the client did not begin with a TLS handshake")
            size = int.from_bytes(self.data[at + 3 : at + 5], "big")
            if not size:
                raise ClientHelloError("the client sent an empty TLS record")
            if len(self.data) < at + 5 + size:
                return self._read_server_name(self._hello + self.data[at + 5 :])
            self._hello += self.data[at + 5 : at + 5 + size]
            self._at = at + 5 + size
            if (name := self._read_server_name(self._hello)) is not None:
                return name
        if self.data[self._at : self._at + 1] not in (b"", bytes([_HANDSHAKE])):
            raise ClientHelloError("the client did not begin with a TLS handshake")
        return None

    def _read_server_name(self, hello: bytearray) -> str | None:
        if len(hello) >= 4:
            if hello[0] != _CLIENT_HELLO:
                raise ClientHelloError("the client's first TLS message is not a ClientHello")
            whole = 4 + int.from_bytes(hello[1:4], "big")
            if whole > MOST:
                raise ClientHelloError("the client's TLS ClientHello is too long")
            if len(hello) >= whole:
                return _name_of(_FieldReader(bytes(hello[4:whole])))
        if len(self.data) > MOST:
            raise ClientHelloError("the client's TLS ClientHello is too long")
        return None


class _FieldReader:
    """A reader of binary fields that are preceded by their length."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes. Raises ClientHelloError if fewer bytes are left."""
        if self._at + size > len(self._data):
            raise ClientHelloError("the client's TLS ClientHello is cut short")
        self._at += size
        return self._data[self._at - size : self._at]

    def number(self, size: int) -> int:
        """Return the next integer, which takes `size` bytes."""
        return int.from_bytes(self.take(size), "big")

    def field(self, size: int) -> _FieldReader:
        """Return a reader of the next field. The length of the field is an integer of `size` bytes before it."""
        return _FieldReader(self.take(self.number(size)))

    def has_more(self) -> bool:
        """Return whether unread bytes are left."""
        return self._at < len(self._data)

    def rest(self) -> bytes:
        """Return all unread bytes."""
        return self.take(len(self._data) - self._at)


def _name_of(body: _FieldReader) -> str:
    body.take(2 + 32)
    for size in (1, 2, 1):  # session, cipher suites, compression
        body.field(size)
    names: list[bytes] = []
    extensions = body.field(2) if body.has_more() else _FieldReader(b"")
    while extensions.has_more():
        kind, content = extensions.number(2), extensions.field(2)
        if kind == _SERVER_NAME:
            listed = content.field(2)
            while listed.has_more():
                of, name = listed.number(1), listed.field(2).rest()
                names += [name] if of == _HOST_NAME else []
    if len(names) != 1 or not names[0].isascii():
        raise ClientHelloError("the client's TLS ClientHello names no server, or several")
    return names[0].decode("ascii").lower()
