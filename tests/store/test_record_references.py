"""Records name everything that they refer to, so that merging leaves nothing behind."""

from __future__ import annotations

import re

from experiments.material import an_instance
from worksample.records import (
    ImageSource,
    ServiceSpec,
    SourceFiles,
    StepSpec,
    WorkplaceSource,
    digest_of,
)
from worksample.store.record_references import blobs_of


def of(name: str) -> str:
    return digest_of([name])


def test_instance_names_everything_that_its_work_needs() -> None:
    served = ServiceSpec(
        name="s",
        box="s",
        argv=("x",),
        ports=(1,),
        files=SourceFiles(name="s", files=of("service")),
        image=ImageSource(name="i", files=of("service's image")),
    )
    workplace = WorkplaceSource(
        company=SourceFiles(name="c", files=of("company")),
        setup=SourceFiles(name="u", files=of("setup")),
        live=SourceFiles(name="l", files=of("live")),
    )
    instance = an_instance(
        "task",
        "case",
        image=ImageSource(name="image", files=of("image")),
        served=(served,),
        workplace=workplace,
        steps=(StepSpec(name="one", files=SourceFiles(name="f", files=of("step"))), StepSpec(name="two")),
    )
    found = {digest for digest, whole in blobs_of(instance) if whole}
    assert set(re.findall(r"[0-9a-f]{64}", instance.work.model_dump_json())) <= found
