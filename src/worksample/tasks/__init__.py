"""Task packages and suites: read, checked, taken in, made anew."""

from .brief import render_brief
from .faults import Fault, FaultyPackage
from .ingest import Ingested, ingest
from .package import read_package
from .spec import CaseSpec, GradingSpec, InstanceSpec, Package

__all__ = [
    "CaseSpec",
    "Fault",
    "FaultyPackage",
    "GradingSpec",
    "Ingested",
    "InstanceSpec",
    "Package",
    "ingest",
    "read_package",
    "render_brief",
]
