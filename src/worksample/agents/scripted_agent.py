"""Harness `scripted`: a model whose answers come from a script. Tools, limits, usage and logs work as with any other
model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from worksample.errors import AgentError, PlanError

from .agent_script import Script, ScriptStep, fill_placeholders
from .harness_settings import ScriptedSettings
from .tools import toolset
from .tools.files import write_bytes
from .tools.submit import SUBMIT
from .workspace import Workspace

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, Model, ModelOutput
    from inspect_ai.solver import Solver, TaskState
    from inspect_ai.tool import ToolCall

LOOKS = 60
"""Maximum number of times that a step looks at a page for the text that it waits for."""
LOOK_PAUSE = 0.5
"""Seconds between two looks at a desktop."""
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff")


class Player:
    """Player of a script. It returns the script's answers one by one."""

    def __init__(self, steps: Sequence[ScriptStep], words: dict[str, str]) -> None:
        self._answers: Iterator[list[ScriptStep]] = iter(_answers(steps))
        self._words = words
        self._count = 0
        self._page = ""
        self._awaited: ScriptStep | None = None
        self._looks = 0
        self.submitted = False

    async def next(self, name: str, seen: Sequence[ChatMessage] = ()) -> ModelOutput:
        """Return the next answer of the script. `seen` has the messages so far. After the last step, the answer submits
        the work.
        """
        import anyio

        self._page = page_of(seen)
        again = self._awaited if self._awaited and self._not_yet(self._awaited) else None
        if again is not None and again.desktop is not None:
            await anyio.sleep(LOOK_PAUSE)  # unlike `noop` of the browser, these tools answer at once
        steps = [again] if again is not None else self._following()
        for step in steps:
            if step.sleep:
                await anyio.sleep(step.sleep)
            if step.fail in ("service", "refused", "crash"):
                raise_failure(step.fail)
        return self._answer(name, [s for s in steps if s.sleep is None])

    def _not_yet(self, step: ScriptStep) -> bool:
        self._looks += 1
        return self._looks < LOOKS and fill_placeholders(step.until or "", self._words, raw=step.raw) not in self._page

    def _following(self) -> list[ScriptStep]:
        steps = next(self._answers, [ScriptStep(submit=True)])
        self._awaited, self._looks = next((one for one in steps if one.until is not None), None), 0
        return steps

    def _answer(self, name: str, steps: list[ScriptStep]) -> ModelOutput:
        from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput, ModelUsage

        self._count += 1
        text = "\n".join(fill_placeholders(s.say, self._words, raw=s.raw) for s in steps if s.say is not None)
        calls = [self._call(step, i) for i, step in enumerate(steps) if step.say is None]
        used = {
            key: sum(getattr(s.usage, key) for s in steps) for key in ("input", "output", "cache_read", "cache_write")
        }
        message = ChatMessageAssistant(content=text, tool_calls=calls or None, model=name, source="generate")
        return ModelOutput(
            model=name,
            choices=[ChatCompletionChoice(message=message, stop_reason="tool_calls" if calls else "stop")],
            usage=ModelUsage(
                input_tokens=used["input"],
                output_tokens=used["output"],
                total_tokens=sum(used.values()),
                input_tokens_cache_read=used["cache_read"] or None,
                input_tokens_cache_write=used["cache_write"] or None,
            ),
        )

    def _call(self, step: ScriptStep, number: int) -> ToolCall:
        from inspect_ai.tool import ToolCall

        function, arguments = self._action(step)
        garbled = "the arguments are not JSON: {command: ls" if step.fail == "malformed" else None
        return ToolCall(id=f"step-{self._count}-{number}", function=function, arguments=arguments, parse_error=garbled)

    def _action(self, step: ScriptStep) -> tuple[str, dict[str, Any]]:
        def fill(text: str | None) -> str:
            return fill_placeholders(text or "", self._words, raw=step.raw)

        within = {} if step.timeout is None else {"timeout": step.timeout}
        if step.python is not None:
            return "python", {"code": fill(step.python), **within}
        if step.browse is not None or step.desktop is not None:
            given = {
                key: find_element(self._page, str(value)) if key in ("bid", "to", "node") else value
                for key, value in ((key, filled_argument(value, fill)) for key, value in step.args.items())
            }
            return step.desktop or f"browser_{step.browse}", given
        if step.write is not None and step.data is not None:
            return "write_bytes", {"path": fill(step.write), "data": step.data}
        if step.write is not None:
            return "write_file", {"path": fill(step.write), "text": fill(step.text)}
        if step.view is not None:
            path = fill(step.view)
            return ("view_image" if path.lower().endswith(PICTURES) else "read_file"), {"path": path}
        if step.submit is not None:
            return SUBMIT, {"summary": "" if step.submit is True else fill(str(step.submit))}
        return "bash", {"command": fill(step.run), **within}


def _answers(steps: Sequence[ScriptStep]) -> list[list[ScriptStep]]:
    """Group steps into answers. A step with `also` belongs to the answer of the step before, and a step with `sleep` to
    the answer of the step after it.
    """
    out: list[list[ScriptStep]] = []
    waiting = False
    for step in steps:
        if out and (step.also or waiting):
            out[-1].append(step)
        else:
            out.append([step])
        waiting = step.sleep is not None
    return out


def page_of(seen: Sequence[ChatMessage]) -> str:
    """Return the text of the browser page, or of the desktop's elements or windows, that was shown last."""
    beginnings = ("browser_", "desktop_")
    shown = [one.text for one in seen if one.role == "tool" and (one.function or "").startswith(beginnings)]
    return shown[-1] if shown else ""


def filled_argument(value: str | int | float | tuple[float, ...] | tuple[str, ...], fill: Callable[[str], str]) -> Any:
    """Return an argument of an action as JSON types. `fill` replaces the placeholders in its texts."""
    if isinstance(value, tuple):
        return [fill(one) if isinstance(one, str) else one for one in value]
    return fill(value) if isinstance(value, str) else value


def find_element(page: str, wanted: str) -> str:
    """Return the id of the first element on the page whose line begins with `wanted`, such as `button 'Save'`. If no
    line does, return `wanted` itself.
    """
    for line in page.splitlines():
        bid, closed, rest = line.strip().partition("] ")
        if closed and bid.startswith("[") and rest.startswith(wanted):
            return bid[1:]
    return wanted


def raise_failure(kind: str) -> None:
    """Raise the error of a failure of this kind, as a model's service or an agent's program would raise it."""
    if kind == "crash":
        raise AgentError("the script has reached a step that simulates a crash of the agent's program")
    raise _Scripted(503 if kind == "service" else 400)


class _Scripted(RuntimeError):
    """Failure of the model's service that the script requests. It looks like the error of a provider."""

    def __init__(self, status_code: int) -> None:
        super().__init__(f"HTTP {status_code}, as the script says")
        self.status_code = status_code


PLAYING: ContextVar[Player] = ContextVar("worksample_playing")


def replay(model: Model, workspace: Workspace, settings: ScriptedSettings) -> Solver:
    """Return a solver that replays the script for the instance. Raises PlanError if the agent has no script for the
    instance.
    """
    from inspect_ai.solver import Generate, solver

    steps = Script.model_validate(settings.script).steps(workspace.instance)

    @solver(name="scripted")
    def build() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            from .conversation import Conversation, work
            from .reference_harness import open_with

            tools = [*toolset(workspace, ("bash", "python", "files", "image")), write_bytes()]
            open_with(state, "A script is replayed.", workspace.instance.work.brief)
            PLAYING.set(Player(steps, workspace.words))
            await work(
                Conversation(model, workspace, tools, state, compact_at=None, mends=False),
                nudges=len(steps),
                nudge="Go on.",
            )
            return state

        return solve

    return build()


def script_model(name: str) -> Model:
    """Return the model `script/...`, which answers from the script that is being replayed in the current context."""
    from inspect_ai.model import GenerateConfig, get_model

    _register()
    if not name.startswith("script/"):
        raise PlanError(f"a scripted agent cannot use the model {name!r}", next=f"script/{name}")
    return get_model(name, config=GenerateConfig(max_retries=0), memoize=False)


def _register() -> None:
    import inspect_ai.model as models

    class Replay(models.ModelAPI):
        """Model that answers from the script in the current context and reports the usage that the script states."""

        async def generate(self, input: Any, tools: Any, tool_choice: Any, config: Any) -> ModelOutput:
            return await PLAYING.get().next(str(self.model_name), input)

        async def count_text_tokens(self, text: str) -> int:
            return max(1, len(text) // 4)

    models.modelapi(name="script")(Replay)
