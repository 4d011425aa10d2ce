"""Tool that shows a picture to the model. The picture is scaled and re-encoded inside the box, so that no untrusted
file is decoded outside the box.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from worksample.agents.workspace import Workspace, clip_middle

from .tool_definition import tool_of

if TYPE_CHECKING:
    from inspect_ai.tool import ToolDef

SIDE = 1568
"""Maximum length in pixels of the longer side of a picture that the model sees."""
LARGEST = 8 << 20
"""Maximum size in bytes of a picture after it is re-encoded."""
PNG = b"\x89PNG\r\n\x1a\n"
TIME = 60
ALONE = ("-I",)
"""Option for Python's isolated mode. Python then ignores the working folder, environment variables and packages of the
agent, such as a fake `base64.py`.
"""
PROGRAM = """
import base64, io, sys
from PIL import Image
Image.MAX_IMAGE_PIXELS = 200_000_000
with Image.open(sys.argv[1]) as picture:
    picture.seek(0)
    picture = picture.convert("RGBA" if "A" in picture.getbands() or "transparency" in picture.info else "RGB")
    width, height = picture.size
    picture.thumbnail((int(sys.argv[2]), int(sys.argv[2])))
    out = io.BytesIO()
    picture.save(out, "PNG")
print(width, height)
print(base64.b64encode(out.getvalue()).decode())
"""


def view_image(workspace: Workspace) -> ToolDef:
    """Return the tool `view_image(path)`, which shows a picture with at most 1568 pixels on each side."""

    async def execute(path: str) -> object:
        from inspect_ai.model import ContentImage, ContentText
        from inspect_ai.tool import ToolError
        from inspect_ai.util import OutputLimitExceededError, sandbox

        if "\0" in path:
            raise ToolError("the path holds a NUL character")
        argv = ["python3", *ALONE, "-c", PROGRAM, path, str(SIDE)]
        try:
            done = await sandbox().exec(argv, timeout=TIME, timeout_retry=False)
        except TimeoutError:
            raise ToolError(f"{path} took too long to open") from None
        except OutputLimitExceededError:
            raise ToolError(f"{path} is too large to be shown") from None
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["it is not a picture"])[-1]
            raise ToolError(f"{path} cannot be shown: {clip_middle(last, 500)}")
        size, _, data = done.stdout.strip().partition("\n")
        try:
            content = base64.b64decode(data, validate=True)
        except ValueError:
            raise ToolError(f"{path} cannot be shown: its conversion to PNG failed") from None
        if not content.startswith(PNG) or len(content) > LARGEST:
            raise ToolError(f"{path} cannot be shown: it could not be converted to a PNG of at most {LARGEST} bytes")
        return [
            ContentText(text=f"{path}: {clip_middle(size, 40)} pixels"),
            ContentImage(image=f"data:image/png;base64,{data.strip()}"),
        ]

    return tool_of(
        "view_image",
        "Look at a picture (PNG, JPEG, GIF, WebP, BMP, TIFF). Other formats: render them to PNG first.",
        {"path": ("string", "Absolute path of the file.", True)},
        execute,
    )
