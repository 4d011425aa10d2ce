"""Failures of a store's services: which failures are temporary, and how long the store retries after them.

Temporary failures are those of the network, throttling, restarts and failovers of a database, and credentials that have
expired or are not available yet, because another program renews them. All other failures are reported at once, for
example wrong names, wrong passwords or missing permissions.
"""

from __future__ import annotations

import errno
import logging
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

from worksample.errors import StoreError, StoreUnavailable

from .error_translation import translate_os_errors

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
_log = logging.getLogger(__name__)

SHORT_SECONDS = 10.0
"""Number of seconds for which the store retries after a temporary failure by default: while a store is opened, and in
commands that a user watches.
"""
RUN_SECONDS = 900.0
"""Number of seconds for which the store retries after a temporary failure during a run. Longer than the default,
because a run that fails loses work that was paid for.
"""
MOST_SECONDS = 5.0
"""Longest pause between two tries, in seconds."""

_DRIVER_ERRORS = {
    "botocore.exceptions": ("BotoCoreError", "ClientError", "HTTPClientError"),
    "aiohttp": ("ClientError",),
    "google.auth.exceptions": ("GoogleAuthError",),
    "azure.core.exceptions": ("AzureError",),
}
"""Names of the exceptions of object stores' drivers that do not derive from OSError, by module."""
_CREDENTIAL_ERRORS = frozenset(
    {
        "NoCredentialsError",
        "PartialCredentialsError",
        "CredentialRetrievalError",
        "TokenRetrievalError",
        "SSOTokenLoadError",
        "UnauthorizedSSOTokenError",
        "SSOError",
        "RefreshError",
        "TransportError",
    }
)
_CREDENTIAL_CODES = frozenset({"ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "RequestExpired"})
_CONNECTION_ERRORS = frozenset(
    {
        "HTTPClientError",
        "EndpointConnectionError",
        "ConnectionError",
        "ConnectTimeoutError",
        "ReadTimeoutError",
        "ConnectionClosedError",
        "ResponseStreamingError",
        "IncompleteReadError",
        "ResponseParserError",
        "ClientConnectionError",
        "ClientPayloadError",
        "ServerTimeoutError",
        "ServiceRequestError",
        "ServiceResponseError",
    }
)
"""Class names of drivers' exceptions, or of their bases, that mean that a request did not arrive or got no answer."""
_PASSING_CODES = frozenset(
    {
        "InternalError",
        "InternalFailure",
        "OperationAborted",
        "RequestTimeout",
        "RequestTimeoutException",
        "ServiceUnavailable",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "ThrottledException",
        "TooManyRequestsException",
        "RequestLimitExceeded",
        "BandwidthLimitExceeded",
        "ProvisionedThroughputExceededException",
        "XAmzContentSHA256Mismatch",
    }
)
"""Error codes of S3 for throttling and for temporary failures of the service (AmazonS3/latest/API/ErrorResponses)."""
_PASSING_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504, 509})
_PASSING_NUMBERS = frozenset(
    {
        errno.ECONNREFUSED,
        errno.ECONNRESET,
        errno.ECONNABORTED,
        errno.EPIPE,
        errno.ETIMEDOUT,
        errno.ENETUNREACH,
        errno.ENETDOWN,
        errno.EHOSTUNREACH,
        errno.EHOSTDOWN,
        errno.EBUSY,
        errno.EREMOTEIO,
    }
)
_PASSING_STATES = frozenset({"57P01", "57P02", "57P03", "57P05", "53300", "25006"})
"""PostgreSQL's error codes for temporary failures: a shutdown, a server that is starting or has too many clients, and a
standby that cannot write yet after a failover. Codes of class 08 are connection failures.
"""
_PASSING_REFUSALS = re.compile(
    r"starting up|shutting down|in recovery mode|not yet accepting|too many (clients|connections)"
    r"|remaining connection slots|terminating connection|read-only"
)
"""Pattern of the messages with which a PostgreSQL server temporarily refuses a connection. Used if the error code does
not reach the client.
"""


_CERTIFICATE_ERRORS = frozenset({"SSLError", "SSLCertVerificationError", "ClientConnectorCertificateError"})
_AGAIN = "wait until it answers, then run the same command again: nothing that was committed is lost"


class CredentialsInvalid(StoreUnavailable):
    """Error of object storage whose credentials are missing or have expired. Credentials are read again before the next
    try.
    """


class Patience:
    """Time for which the store retries after temporary failures. Its object storage and its database share one
    object.
    """

    def __init__(self, seconds: float = SHORT_SECONDS, sleep: Callable[[float], None] | None = None) -> None:
        """Set the time in seconds. `sleep` is the function that pauses between two tries, for a number of seconds."""
        self.seconds = seconds
        self._sleep = sleep or time.sleep

    @contextmanager
    def at_least(self, seconds: float) -> Iterator[None]:
        """Retry for at least this number of seconds within the block, in all threads."""
        before, self.seconds = self.seconds, max(seconds, self.seconds)
        try:
            yield
        finally:
            self.seconds = before

    def retry(self, work: Callable[[], T]) -> T:
        """Return the result of `work`. After a temporary failure, pause and call `work` again; the pauses are random
        and grow. `work` must be idempotent.

        Raises StoreUnavailable if the failure lasts longer than the patience.
        """
        try:
            return work()
        except StoreUnavailable as error:
            if self.seconds <= 0:
                raise
            first = error
        return self._retry_after(first, work)

    def _retry_after(self, first: StoreUnavailable, work: Callable[[], T]) -> T:
        from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_random_exponential

        failures = [first]

        def attempt() -> T:
            if failures:
                raise failures.pop()
            return work()

        _log.warning("%s; trying again for up to %.0f s", first.what, self.seconds)
        retrying = Retrying(
            sleep=self._sleep,
            wait=wait_random_exponential(multiplier=0.25, max=MOST_SECONDS),
            stop=stop_after_delay(self.seconds),
            retry=retry_if_exception_type(StoreUnavailable),
            reraise=True,
        )
        found = retrying(attempt)
        _log.warning("%s answers again", first.where)
        return found


def with_patience(method: F) -> F:
    """Decorate a method so that it is called again after temporary failures, within the `patience` of its object. The
    method must be idempotent.
    """

    @wraps(method)
    def patient(self: Any, *args: Any, **kwargs: Any) -> Any:
        patience: Patience = self.patience
        return patience.retry(lambda: method(self, *args, **kwargs))

    return cast("F", patient)


@contextmanager
def translate_remote_errors(where: str, *, missing: type[OSError] | None = None) -> Iterator[None]:
    """Translate exceptions of object storage's drivers within the block into StoreUnavailable, StoreFull or StoreError.
    OSErrors of the type `missing` are raised unchanged.
    """
    try:
        with translate_os_errors(where, missing=missing, passing=lambda e: _remote_fault(e, where)):
            yield
    except _driver_errors() as e:
        raise _remote_fault(e, where) or _storage_refusal(e, where) from e


def _driver_errors() -> tuple[type[Exception], ...]:
    """Return the exception classes of those drivers of object storage that are imported."""
    loaded = ((sys.modules[module], names) for module, names in _DRIVER_ERRORS.items() if module in sys.modules)
    return tuple(getattr(module, name) for module, names in loaded for name in names if hasattr(module, name))


def _remote_fault(error: BaseException, where: str) -> StoreUnavailable | None:
    """Return the error for a temporary failure of object storage; None if the failure is not temporary."""
    told: BaseException | None = error
    while told is not None:
        if _is_about_credentials(told):
            return CredentialsInvalid(
                f"the object storage has no valid credentials: {_text(error)}",
                where=where,
                next="renew its credentials (as with aws sso login), then run the same command again",
            )
        if _is_passing(told):
            return StoreUnavailable(f"the object storage does not answer: {_text(error)}", where=where, next=_AGAIN)
        told = told.__cause__
    return None


def _is_about_credentials(error: BaseException) -> bool:
    code, _, operation = _answer(error)
    # The answer to a HEAD request has no body, and so no code: S3 says 400 to expired credentials.
    bare = code == "400" and operation.startswith("Head")
    return type(error).__name__ in _CREDENTIAL_ERRORS or code in _CREDENTIAL_CODES or bare


def _is_passing(error: BaseException) -> bool:
    names = {cls.__name__ for cls in type(error).__mro__}
    if names & _CERTIFICATE_ERRORS:
        return False
    code, status, _ = _answer(error)
    number = error.errno if isinstance(error, OSError) else None
    return bool(
        isinstance(error, TimeoutError | ConnectionError)
        or names & _CONNECTION_ERRORS
        or code in _PASSING_CODES
        or status in _PASSING_STATUS
        or number in _PASSING_NUMBERS
    )


def _answer(error: BaseException) -> tuple[str, int, str]:
    """Return the error code, the HTTP status and the operation of a service's answer, as botocore's exceptions hold
    them. The values are empty if the error has no answer.
    """
    answer = getattr(error, "response", None)
    if not isinstance(answer, dict):
        return "", 0, ""
    code = str(answer.get("Error", {}).get("Code", ""))
    status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode") or (int(code) if code.isdigit() else 0)
    return code, int(status), str(getattr(error, "operation_name", ""))


def _storage_refusal(error: BaseException, where: str) -> StoreError:
    return StoreError(
        f"the object storage refused: {_text(error)}",
        where=where,
        next="check the address, the credentials and their rights, then run the same command again",
    )


def _text(error: BaseException) -> str:
    said = str(error).strip()
    return said.splitlines()[0] if said else type(error).__name__


def database_fault(error: BaseException, where: str) -> StoreUnavailable | None:
    """Return the error for a temporary failure of the database; None if the failure is not temporary."""
    state = getattr(error, "sqlstate", None)
    said = _text(error)
    if state is None:
        # The client reports what happened before a session began, and lost connections, without a code.
        names = {cls.__name__ for cls in type(error).__mro__}
        passes = bool(names & {"OperationalError", "InterfaceError"}) and (
            "FATAL:" not in str(error) or _PASSING_REFUSALS.search(str(error)) is not None
        )
    else:
        passes = state in _PASSING_STATES or state.startswith("08")
    if not passes:
        return None
    return StoreUnavailable(f"the database does not answer: {said}", where=where, next=_AGAIN)
