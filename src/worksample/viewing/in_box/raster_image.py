"""Converter of pictures that browsers cannot show. It writes one PNG per page."""

from __future__ import annotations

from typing import Any

from .browser_image import PIXELS
from .conversion_job import READERS_FAULTS, ConversionJob, Unreadable, ViewDraft, fault

PAGES = 50
EDGE = 4096
"""Maximum pixels along the longer side of a page."""
RAW = {"dng", "cr2", "nef", "arw", "orf", "rw2", "pef", "srw"}


def convert(job: ConversionJob) -> ViewDraft:
    from PIL import Image, ImageSequence, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = None
    made = ViewDraft("pages", by="pillow")
    pages: list[dict[str, Any]] = []
    total = 0
    try:
        with Image.open(job.file) as image:
            made.meta = {"format": image.format, "mode": image.mode, "total": getattr(image, "n_frames", 1)}
            for page in ImageSequence.Iterator(image):
                total += page.width * page.height
                if total > 2 * PIXELS or page.width * page.height > PIXELS or len(pages) == PAGES:
                    break
                pages.append({"width": page.width, "height": page.height})
                save(job, made, page, len(pages) - 1)
    except UnidentifiedImageError as e:
        raise Unreadable("the picture cannot be read: damaged, or in an unknown format") from e
    except READERS_FAULTS as e:
        if len(made.files) == 0:
            raise fault(e, "the picture") from e
        made.problem = f"damaged after page {len(made.files)}: {str(e)[:200]}"
    if not made.files:
        raise Unreadable("the picture has more pixels than can be shown")
    made.meta["pages"] = pages[: len(made.files)]
    if not made.problem and made.meta["total"] > len(pages):
        made.problem = f"only the first {len(pages)} of {made.meta['total']} pages are shown"
    if job.extension in RAW:
        made.badge, made.inspectable = "thumbnail only", False
    return made


def save(job: ConversionJob, made: ViewDraft, image: Any, number: int) -> None:
    """Write one page as PNG in RGB, scaled to at most `EDGE`."""
    if image.mode.startswith(("I", "F")):
        image = image.convert("F")
        low, high = image.getextrema()
        scale = 255 / ((high - low) or 1)
        image = image.point(lambda v: v * scale - low * scale).convert("L")
    elif image.mode not in ("RGB", "RGBA", "L", "LA"):
        image = image.convert("RGBA" if "transparency" in image.info or image.mode in ("PA", "RGBa") else "RGB")
    if max(image.size) > EDGE:
        image = image.copy()
        image.thumbnail((EDGE, EDGE))
    path = job.out / f"page-{number}.png"
    image.save(path, "PNG", compress_level=4)
    made.files[f"page/{number}"] = job.output_path(path)
