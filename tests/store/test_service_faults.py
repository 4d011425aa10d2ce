"""Faults of S3 that pass are waited for; others are refused at once, with what to do."""

from __future__ import annotations

import errno
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import psycopg
import pytest
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    CredentialRetrievalError,
    EndpointConnectionError,
    NoCredentialsError,
    ParamValidationError,
    ReadTimeoutError,
    SSLError,
)
from fsspec.exceptions import FSTimeoutError
from moto.server import ThreadedMotoServer
from s3fs.errors import translate_boto_error

from store.cut_proxy import CutProxy
from store.slow_files import SlowFiles
from store.views import damage
from store.worlds import World, planted
from worksample.errors import StoreError, StoreFull, StoreUnavailable
from worksample.records import Submission, Trial
from worksample.store import Store
from worksample.store.faults import CredentialsInvalid, Patience, database_fault, translate_remote_errors

WORLD = World()
FOREVER = 10_000


def answer(code: str, status: int = 0, operation: str = "PutObject") -> ClientError:
    return ClientError(
        {"Error": {"Code": code, "Message": code}, "ResponseMetadata": {"HTTPStatusCode": status}}, operation
    )


def by_s3fs(error: Exception) -> Exception:
    """The error as s3fs raises it."""
    return translate_boto_error(error)


URL = {"endpoint_url": "https://bucket"}
PASSING: list[Exception] = [
    EndpointConnectionError(**URL, error="refused"),
    ConnectTimeoutError(**URL),
    ReadTimeoutError(**URL),
    ConnectionClosedError(**URL),
    FSTimeoutError(),
    ConnectionResetError(errno.ECONNRESET, "reset"),
    OSError(errno.ENETUNREACH, "unreachable"),
    *(answer(code) for code in ("SlowDown", "Throttling", "InternalError", "ServiceUnavailable", "RequestTimeout")),
    *(answer(str(status), status, "HeadObject") for status in (500, 502, 503, 504, 429)),
    answer("WhoKnows", 503),
]
CREDENTIALS: list[Exception] = [
    NoCredentialsError(),
    CredentialRetrievalError(provider="iam-role", error_msg="timed out"),
    answer("ExpiredToken", 400),
    answer("RequestExpired", 400),
    answer("400", 400, "HeadObject"),
]
LASTING: list[Exception] = [
    answer("AccessDenied", 403),
    answer("InvalidAccessKeyId", 403),
    answer("SignatureDoesNotMatch", 403),
    answer("RequestTimeTooSkewed", 403),
    answer("NoSuchBucket", 404),
    answer("InvalidArgument", 400),
    SSLError(**URL, error=ssl.SSLCertVerificationError("self-signed certificate")),
    ParamValidationError(report="no such parameter"),
    PermissionError(errno.EACCES, "denied"),
]


def name_of(error: object) -> str:
    code = error.response["Error"]["Code"] if isinstance(error, ClientError) else ""
    return f"{type(error).__name__}{code}" if isinstance(error, Exception) else str(error)


@pytest.mark.parametrize("form", [lambda e: e, by_s3fs], ids=["driver", "s3fs"])
@pytest.mark.parametrize(
    ("error", "expected"),
    [(e, StoreUnavailable) for e in PASSING]
    + [(e, CredentialsInvalid) for e in CREDENTIALS]
    + [(e, StoreError) for e in LASTING],
    ids=name_of,
)
def test_remote_error_is_typed_with_a_next_command(
    error: Exception, expected: type[StoreError], form: Callable[[Exception], Exception]
) -> None:
    with pytest.raises(StoreError) as caught, translate_remote_errors("s3://bucket/store"):
        raise form(error)
    assert type(caught.value) is expected
    assert caught.value.where == "s3://bucket/store" and caught.value.next


def test_full_remote_disk_is_told_from_passing_faults() -> None:
    with pytest.raises(StoreFull), translate_remote_errors("s3://bucket"):
        raise OSError(errno.ENOSPC, "full")


def state(code: str) -> Exception:
    found: Exception = psycopg.errors.lookup(code)("said so")
    return found


@pytest.mark.parametrize(
    ("error", "passes"),
    [(state(code), True) for code in ("57P01", "57P02", "57P03", "08006", "08001", "53300", "25006")]
    + [(state(code), False) for code in ("23505", "42P01", "28P01", "53100", "57014")]
    + [
        (psycopg.OperationalError("connection failed: Connection refused"), True),
        (psycopg.OperationalError("consuming input failed: server closed the connection unexpectedly"), True),
        (psycopg.OperationalError("could not translate host name"), True),
        (psycopg.OperationalError("connection failed: FATAL:  the database system is starting up"), True),
        (psycopg.OperationalError('connection failed: FATAL:  password authentication failed for user "me"'), False),
        (psycopg.OperationalError('connection failed: FATAL:  database "none" does not exist'), False),
        (psycopg.InterfaceError("the connection is closed"), True),
        (psycopg.ProgrammingError("no"), False),
    ],
    ids=str,
)
def test_database_error_passes_by_its_code(error: Exception, passes: bool) -> None:
    fault = database_fault(error, "postgresql://db")
    assert (fault is not None) == passes
    assert fault is None or fault.next


class Faults:
    """`SlowFiles.during` that fails in chosen operations, so many times."""

    def __init__(self, error: Exception, times: int, operation: str = "put") -> None:
        self.error, self.left, self.operation, self.seen = error, times, operation, 0

    def __call__(self, operation: str, path: str) -> None:
        if operation == self.operation and self.left:
            self.left -= 1
            self.seen += 1
            raise self.error


@pytest.fixture
def far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("WORKSAMPLE_CACHE", str(tmp_path / "cache"))
    usual = SlowFiles.during
    SlowFiles.during = staticmethod(lambda operation, path: None)
    yield f"slow://{tmp_path}/far"
    SlowFiles.during = staticmethod(usual)


def patient(store: Store, seconds: float, sleep: Callable[[float], None] = lambda _: None) -> None:
    """Give a store's services so many seconds, without real pauses."""
    store.patience.seconds, store.patience._sleep = seconds, sleep


@pytest.mark.parametrize("error", PASSING + CREDENTIALS, ids=name_of)
def test_commit_outlives_passing_faults(far: str, error: Exception) -> None:
    pauses: list[float] = []
    with planted(Store.open(far, create=True), WORLD) as store:
        patient(store, 600, pauses.append)
        trial = WORLD.trial(0, "t1")
        before = len(store.objects.digests())
        blob = store.blobs.put(b"finished work")
        SlowFiles.during = staticmethod(faults := Faults(error, 7))
        store.commit(trial, WORLD.submission(trial))
        assert faults.seen == 7 and len(pauses) >= 7
        assert len(store.objects.digests()) == before + 1 and store.blobs.has(blob)
        assert [s.trial for s in store.find(Submission)] == ["t1"] and damage(store, deep=True) == []
    assert max(pauses) <= 5 and len(set(pauses)) > 3  # bounded, and not in step with others


def test_lasting_refusal_is_not_repeated(far: str) -> None:
    with planted(Store.open(far, create=True), WORLD) as store:
        patient(store, 600)
        SlowFiles.during = staticmethod(faults := Faults(by_s3fs(answer("AccessDenied", 403)), FOREVER))
        with pytest.raises(StoreError, match="AccessDenied") as refused:
            store.commit(WORLD.trial(0, "t1"))
        assert faults.seen == 1 and refused.value.next and not isinstance(refused.value, StoreUnavailable)
        assert store.find(Trial) == []


def test_fault_that_stays_ends_with_a_typed_error(far: str) -> None:
    with planted(Store.open(far, create=True), WORLD) as store:
        patient(store, 0.05)
        SlowFiles.during = staticmethod(faults := Faults(EndpointConnectionError(**URL), FOREVER))
        with pytest.raises(StoreUnavailable, match="does not answer") as ended:
            store.commit(WORLD.trial(0, "t1"))
        assert faults.seen > 1 and "same command" in str(ended.value.next)
        SlowFiles.during = staticmethod(lambda operation, path: None)
        store.commit(WORLD.trial(0, "t1"))
        assert [t.id for t in store.find(Trial)] == ["t1"] and damage(store) == []


def test_patience_is_raised_for_a_block_only() -> None:
    patience = Patience(10)
    with patience.at_least(900):
        assert patience.seconds == 900
        with patience.at_least(20):
            assert patience.seconds == 900
    assert patience.seconds == 10


@pytest.fixture(scope="module")
def moto() -> Iterator[int]:
    """The port of moto's S3 server."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield server.get_host_and_port()[1]
    server.stop()


@pytest.fixture
def bucket(moto: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CutProxy]:
    """A bucket `evidence` behind a proxy."""
    proxy = CutProxy(("127.0.0.1", moto))
    known: dict[str, Any] = {"aws_access_key_id": "x", "aws_secret_access_key": "y", "region_name": "us-east-1"}
    boto3.client("s3", endpoint_url=f"http://127.0.0.1:{moto}", **known).create_bucket(Bucket="evidence")
    for name, value in {
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "y",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{proxy.port}",
        "AWS_MAX_ATTEMPTS": "1",
        "WORKSAMPLE_CACHE": str(tmp_path / "cache"),
    }.items():
        monkeypatch.setenv(name, value)
    yield proxy
    proxy.close()


def test_commit_to_s3_outlives_a_cut(bucket: CutProxy, tmp_path: Path) -> None:
    pauses: list[float] = []

    def wait_for_service(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 6:
            bucket.mend()

    with planted(Store.open(f"s3://evidence/{tmp_path.name}", create=True), WORLD) as store:
        lease = store.take("slot:1", "me", 60)
        assert lease is not None
        patient(store, 600, wait_for_service)
        trial = WORLD.trial(0, "t1")
        store.blobs.put(b"x" * 400_000)
        bucket.cut()
        with store.fence(lease):
            store.commit(trial, WORLD.submission(trial))
        assert len(pauses) >= 6 and bucket.refused >= 6
        assert [t.id for t in store.find(Trial, live=True)] == ["t1"] and damage(store, deep=True) == []


def test_store_without_service_is_a_typed_error(bucket: CutProxy) -> None:
    bucket.cut()
    with pytest.raises(StoreUnavailable, match="does not answer") as error:
        Store.open("s3://evidence/none")
    assert error.value.next
