"""Converter of SketchUp files: shows the geometry as glTF, or the thumbnail stored in the file."""

from __future__ import annotations

from .conversion_job import READERS_FAULTS, ConversionJob, Unreadable, ViewDraft, module
from .embedded_thumbnail import picture_in, save_picture
from .gltf import gltf

LARGEST = 100 << 20


def convert(job: ConversionJob) -> ViewDraft:
    module("openskp", "openskp")
    from openskp import SkpFile, SkpParseError  # type: ignore[import-untyped]
    from openskp.export import glb  # type: ignore[import-untyped]

    if job.size > LARGEST:
        raise Unreadable(f"the model has {job.size >> 20} MiB, more than is converted")
    target = job.out / "model.glb"
    try:
        model = SkpFile.open(str(job.copy_as("skp")))
        model.parse()
        glb.export(model, str(target))
        made = ViewDraft("model", {"model": job.output_path(target)}, {"format": "SKP", "size": job.size}, by="openskp")
        gltf(ConversionJob(target, "model.glb", job.path, job.out, job.out, job.work, target.stat().st_size), made)
        if made.meta["triangles"]:
            return made
        why = "no faces were found in it"
    except (SkpParseError, *READERS_FAULTS) as e:
        why = str(e)[:200] or type(e).__name__
    target.unlink(missing_ok=True)
    picture = picture_in(job.head(16 << 20))
    kept = save_picture(job, picture) if picture else None
    if kept is None:
        raise Unreadable(f"the SketchUp model cannot be read: {why}")
    made = ViewDraft("card", {"thumbnail": kept}, {"type": "SketchUp", "size": job.size}, inspectable=False)
    made.badge, made.problem = "thumbnail only", f"its geometry cannot be read ({why}): only its own picture is shown"
    return made
