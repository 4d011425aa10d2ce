"""A limit on failed sign-ins per minute, by network address and by account name."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from worksample.app.config import AppConfig
from worksample.app.server.middleware.rate_limit import RateLimit, TooMany
from worksample.people import Denied
from worksample.people.access.tokens import name_key

WAIT_SECONDS, BUSY_SECONDS = 3.0, 10


class SignInThrottle:
    """A guard against guessing passwords and tokens.

    Hashing a password takes 64 MiB and a tenth of a second, so at most two are hashed at once.
    """

    def __init__(self, config: AppConfig) -> None:
        self._rate = RateLimit(config.logins_per_minute)
        self._turn = threading.BoundedSemaphore(2)

    @contextmanager
    def attempt(self, address: str, name: str = "", *, hashing: bool = True) -> Iterator[None]:
        """Guard one attempt to sign in. Only attempts that raise Denied count against the limit. Raises TooMany."""
        # Count before the attempt: concurrent attempts must not all pass the limit.
        keys = [f"address {address}", *([f"name {name_key(name)}"] if name else [])]
        taken: list[str] = []
        try:
            for key in keys:
                if wait := self._rate.take(key):
                    raise TooMany(wait)
                taken.append(key)
            with ExitStack() as inside:
                if hashing:
                    # Waiting occupies one of the threads that serve all requests.
                    if not self._turn.acquire(timeout=WAIT_SECONDS):
                        raise TooMany(BUSY_SECONDS)
                    inside.callback(self._turn.release)
                yield
        except Denied:
            taken.clear()
            raise
        finally:
            for key in taken:
                self._rate.give_back(key)
