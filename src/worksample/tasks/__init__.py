"""Task packages and suites: read, checked, taken in, made anew."""

from .brief import render_brief
from .find_suite import find_suite, pin_suite, shipped_suites
from .ingest import Ingested, ingest
from .lock import package_digest
from .package import read_package
from .scaffold import scaffold
from .spec import CaseSpec, GradingSpec, InstanceSpec, Package
from .suite import IngestedSuite, SuiteFile, ingest_suite, read_suite

__all__ = [
    "CaseSpec",
    "GradingSpec",
    "Ingested",
    "IngestedSuite",
    "InstanceSpec",
    "Package",
    "SuiteFile",
    "find_suite",
    "ingest",
    "ingest_suite",
    "package_digest",
    "pin_suite",
    "read_package",
    "read_suite",
    "render_brief",
    "scaffold",
    "shipped_suites",
]
