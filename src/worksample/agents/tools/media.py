"""Tools that make pictures, speech and films (RLI B.6). The platform asks the media models; results are written into
the box as files.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from worksample.agents.harness_settings import MediaSettings
from worksample.agents.workspace import Workspace, clip_middle
from worksample.models.media import CURRENT, FILM_LENGTHS, MediaFailed, MediaServices

from .files import write_to_box
from .tool_definition import tool_of

if TYPE_CHECKING:
    from inspect_ai.tool import ToolDef

LOCAL = "local"
MOST_SOURCES, LARGEST_SOURCE = 8, 20 << 20
"""Maximum number of pictures that one call edits, and maximum size of each in bytes."""
SIZES = ("1024x1024", "1536x1024", "1024x1536")
_PATH = ("string", "Absolute path of the file to write.", True)


class MediaTools:
    """Tools for media of one trial. They share the maximum number of calls."""

    def __init__(self, workspace: Workspace, settings: MediaSettings) -> None:
        self._workspace, self._settings = workspace, settings
        self._left = settings.calls

    def definitions(self) -> list[ToolDef]:
        """Return the tools for the kinds of media whose models the settings name."""
        settings = self._settings
        return [
            *([self._image()] if settings.image else []),
            *([self._local_speech() if settings.speech == LOCAL else self._speech()] if settings.speech else []),
            *([self._video()] if settings.video else []),
        ]

    async def _make(self, path: str, ask: Callable[[MediaServices], Awaitable[bytes]]) -> str:
        """Ask a media model and write its result. Raises ToolError."""
        from inspect_ai.tool import ToolError

        services = CURRENT.get()
        if services is None:
            raise ToolError("media models are not available here")
        if self._left < 1:
            raise ToolError(f"all {self._settings.calls} calls of media models are used up")
        self._left -= 1
        try:
            data = await ask(services)
        except MediaFailed as error:
            raise ToolError(clip_middle(str(error), 1000)) from None
        await write_to_box(path, data)
        return f"written: {path}, {len(data)} bytes"

    def _image(self) -> ToolDef:
        async def execute(prompt: str, path: str, size: str = SIZES[0], sources: list[str] | None = None) -> str:
            pictures = [await _picture(one) for one in (sources or [])[:MOST_SOURCES]]
            model = self._settings.image
            return await self._make(path, lambda services: services.picture(model, prompt, size, pictures))

        tool = tool_of(
            "make_image",
            f"Make a picture from a description, or edit pictures ({self._settings.image}).",
            {
                "prompt": ("string", "What the picture shows, or how the sources are changed.", True),
                "path": _PATH,
                "size": ("string", f"Width and height: {', '.join(SIZES)}.", False),
                "sources": ("array", "Absolute paths of pictures (PNG, JPEG, WebP) to edit.", False),
            },
            execute,
        )
        _list_of_texts(tool, "sources")
        return tool

    def _speech(self) -> ToolDef:
        async def execute(text: str, path: str, voice: str = "") -> str:
            model = self._settings.speech
            spoken = voice or ("alloy" if model.startswith("openai/") else "Kore")
            return await self._make(path, lambda services: services.speech(model, text, spoken))

        kind = "MP3" if self._settings.speech.startswith("openai/") else "raw PCM, 24 kHz, 16 bit, mono"
        return tool_of(
            "make_speech",
            f"Speak a text ({self._settings.speech}). The file is {kind}.",
            {
                "text": ("string", "The text to speak.", True),
                "path": _PATH,
                "voice": ("string", "Name of a voice of the service.", False),
            },
            execute,
        )

    def _local_speech(self) -> ToolDef:
        async def execute(text: str, path: str, voice: str = "en") -> str:
            from inspect_ai.tool import ToolError
            from inspect_ai.util import sandbox

            argv = ["espeak-ng", "-v", voice, "-w", path, "--stdin"]
            try:
                done = await sandbox().exec(argv, input=text, timeout=120, timeout_retry=False)
            except TimeoutError:
                raise ToolError("espeak-ng took too long") from None
            if done.returncode:
                said = clip_middle((done.stderr or done.stdout).strip(), 500)
                raise ToolError(f"espeak-ng cannot speak here: {said or 'it is not installed'}")
            return f"written: {path} (WAV, by the program espeak-ng and not by a model)"

        return tool_of(
            "make_speech",
            "Speak a text with the program espeak-ng, whose voices sound artificial; no speech model is available. The "
            "file is WAV.",
            {
                "text": ("string", "The text to speak.", True),
                "path": _PATH,
                "voice": ("string", "A voice of espeak-ng, such as en, en-us or de.", False),
            },
            execute,
        )

    def _video(self) -> ToolDef:
        async def execute(prompt: str, path: str, seconds: int = 8) -> str:
            from inspect_ai.tool import ToolError

            if seconds not in FILM_LENGTHS:
                raise ToolError(f"a film has {', '.join(map(str, FILM_LENGTHS))} seconds")
            model = self._settings.video
            return await self._make(path, lambda services: services.film(model, prompt, seconds))

        return tool_of(
            "make_video",
            f"Make a film from a description ({self._settings.video}). This takes minutes. The file is MP4.",
            {
                "prompt": ("string", "What the film shows.", True),
                "path": _PATH,
                "seconds": ("integer", f"Length: {', '.join(map(str, FILM_LENGTHS))}.", False),
            },
            execute,
        )


async def _picture(path: str) -> bytes:
    """Return the bytes of a picture in the box. Raises ToolError."""
    from inspect_ai.tool import ToolError
    from inspect_ai.util import OutputLimitExceededError, sandbox

    try:
        data = await sandbox().read_file(path, text=False)
    except (OSError, OutputLimitExceededError, ValueError) as error:
        raise ToolError(f"{path} cannot be read: {error}") from None
    known = data.startswith((b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")) or (data[:4] == b"RIFF" and data[8:12] == b"WEBP")
    if not known or len(data) > LARGEST_SOURCE:
        raise ToolError(f"{path} is not a PNG, JPEG or WebP picture of at most {LARGEST_SOURCE >> 20} MiB")
    return data


def _list_of_texts(tool: ToolDef, name: str) -> None:
    from inspect_ai.util import JSONSchema

    tool.parameters.properties[name].items = JSONSchema(type="string")
