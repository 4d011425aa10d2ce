"""Secrets: tokens that only their holder has in full, and passwords."""

from __future__ import annotations

import hashlib
import secrets
import unicodedata

from worksample.people.errors import Denied

SHORTEST, LONGEST = 12, 1024
"""Characters of a password."""


def new_token() -> str:
    """256 random bits, safe in a URL."""
    return secrets.token_urlsafe(32)


def hashed(token: str) -> str:
    """What the database keeps of a token. It is random, so a plain hash cannot be turned round."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def name_key(name: str) -> str:
    """A name in the one form by which it is unique: compatibility characters, case and space do not count."""
    return " ".join(unicodedata.normalize("NFKC", storable(name)).casefold().split())


def storable(text: str) -> str:
    """The text as every database takes it: half characters and NUL are replaced."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")


def hash_password(password: str) -> str:
    """By argon2id with its library's current parameters (RFC 9106). Denied where it is too short or too long."""
    from argon2 import PasswordHasher

    if not SHORTEST <= len(password) <= LONGEST or storable(password) != password:
        raise Denied(f"a password has {SHORTEST} to {LONGEST} characters", next="use a few words in a row")
    return PasswordHasher().hash(password)


def check_password(kept: str | None, password: str) -> bool:
    """Whether it is the password. Takes as long where there is none, so that names cannot be found by waiting."""
    from argon2 import PasswordHasher
    from argon2.exceptions import Argon2Error, InvalidHashError

    hasher = PasswordHasher()
    if kept is None or len(password) > LONGEST or storable(password) != password:
        hasher.hash("nobody has this password")
        return False
    try:
        return hasher.verify(kept, password)
    except (Argon2Error, InvalidHashError):
        return False
