"""Names of images in a task package: a registry reference with its digest, or a path in the package."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, ValidationInfo

from worksample.files.config_files import exact_fault, show_value

from .package_files import is_folder, path_problem

IMAGE_MARKS = ("oci-layout", "Dockerfile", "Containerfile")
"""Names of files that show that a folder contains an image or the instructions to build an image."""
PINNED = re.compile(r"docker://[A-Za-z0-9][A-Za-z0-9._:/-]{0,255}@sha256:[0-9a-f]{64}")


def _image(name: str, info: ValidationInfo) -> str:
    if "://" in name:
        if not PINNED.fullmatch(name):
            raise exact_fault(
                f"{show_value(name)} does not name one image", "'docker://NAME@sha256:...', or a path in the package"
            )
        return name
    if not info.context:
        return name.rstrip("/")
    root: Path = info.context["root"]
    folder = is_folder(root / name)
    problem = path_problem(root, name, folder=folder)
    if problem is None and folder and not any((root / name / mark).is_file() for mark in IMAGE_MARKS):
        problem = "has no OCI layout and no Dockerfile; pack a root file system as a tar"
    if problem:
        raise exact_fault(f"{show_value(name)} {problem}")
    return name.rstrip("/")


Image = Annotated[str, AfterValidator(_image)]
