"""Tokens and passwords: creation, hashing and checks."""

from __future__ import annotations

import hashlib
import secrets
import unicodedata

from worksample.people.errors import Denied

SHORTEST, LONGEST = 12, 1024
"""Minimum and maximum number of characters of a password."""


def new_token() -> str:
    """Return a token of 256 random bits, in characters that are allowed in a URL."""
    return secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """Return the hash under which the database stores a token. Tokens are random, so a plain SHA-256 is safe."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def name_key(name: str) -> str:
    """Normalise a name, so that two names that differ only in compatibility characters, case or spaces count as
    equal.
    """
    return " ".join(unicodedata.normalize("NFKC", storable(name)).casefold().split())


def storable(text: str) -> str:
    """Replace the characters that databases refuse: lone surrogates and NUL."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")


def hash_password(password: str) -> str:
    """Hash a password by argon2id with the library's current parameters (RFC 9106). Raises Denied for a bad length."""
    from argon2 import PasswordHasher

    if not SHORTEST <= len(password) <= LONGEST or storable(password) != password:
        raise Denied(f"a password must have {SHORTEST} to {LONGEST} characters", next="use a few words in a row")
    return PasswordHasher().hash(password)


def check_password(kept: str | None, password: str) -> bool:
    """Tell whether the password fits. Takes the same time if there is none, so that timing does not reveal names."""
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
