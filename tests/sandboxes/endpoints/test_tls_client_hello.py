"""The server name in the ClientHello of real TLS clients."""

from __future__ import annotations

import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worksample.sandboxes.endpoints.tls_client_hello import MOST, ClientHelloError, HelloReader, server_name


def hello(name: str | None, **versions: ssl.TLSVersion) -> bytes:
    """What OpenSSL sends first."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    for key, value in versions.items():
        setattr(context, key, value)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(incoming, outgoing, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_name_is_read_whole_or_in_pieces(version: ssl.TLSVersion) -> None:
    data = hello("Api.Example.com", maximum_version=version)
    assert server_name(data) == "api.example.com"
    assert server_name(data + b"more") == "api.example.com"
    for size in range(len(data)):
        assert server_name(data[:size]) is None


def test_hello_in_several_records_is_read() -> None:
    data = hello("api.example.com")
    body = data[5:]
    records = b"".join(data[:3] + len(p).to_bytes(2, "big") + p for p in (body[:1], body[1:40], body[40:]))
    assert server_name(records) == "api.example.com"


def test_hello_in_one_byte_records_is_read_once() -> None:
    data = hello("api.example.com")
    records = b"".join(data[:3] + b"\0\1" + bytes([one]) for one in data[5:])
    reader = HelloReader()
    names = [reader.feed(bytes([one])) for one in records]
    assert names[-1] == "api.example.com" and not any(names[:-1])
    assert bytes(reader.data) == records
    with pytest.raises(ClientHelloError, match="empty TLS record"):
        server_name(data[:3] + b"\0\0" + data)


def test_invalid_hello_is_refused() -> None:
    for data in (
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x02\x01\x00\x05hello",
        b"\x16\x03\x01\x00\x04\x02\x00\x00\x00",
        b"S",
    ):
        with pytest.raises(ClientHelloError):
            server_name(data)
    with pytest.raises(ClientHelloError, match="names no server"):
        server_name(hello(None))
    endless = b"\x16\x03\x01\x40\x00\x01\xff\xff\xff" + b"\0" * (MOST + 10)
    with pytest.raises(ClientHelloError):
        server_name(endless)


def test_two_names_are_refused() -> None:
    name = b"\0\0\x03a.b"
    listed = len(name * 2).to_bytes(2, "big") + name * 2
    extension = b"\0\0" + len(listed).to_bytes(2, "big") + listed
    body = (
        b"\x03\x03" + b"\0" * 32 + b"\0" + b"\0\x02\x13\x01" + b"\x01\0" + len(extension).to_bytes(2, "big") + extension
    )
    message = b"\x01" + len(body).to_bytes(3, "big") + body
    with pytest.raises(ClientHelloError, match="or several"):
        server_name(b"\x16\x03\x01" + len(message).to_bytes(2, "big") + message)


@given(st.binary(max_size=400), st.integers(0, 500), st.integers(0, 255))
def test_random_bytes_raise_only_the_typed_error(data: bytes, at: int, value: int) -> None:
    real = bytearray(HELLO)
    real[at % len(real)] = value
    for one in (data, b"\x16\x03\x01" + data, bytes(real)):
        try:
            found = server_name(one)
        except ClientHelloError:
            continue
        assert found is None or found == found.lower()


HELLO = hello("api.example.com")
