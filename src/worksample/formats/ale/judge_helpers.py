"""The helpers by which ALE's packages ask a language model (`tasks.utils.evaluation`), answered by the platform.

Questions with the answers yes and no about pictures go to the judge (`Case.ask`), one by one, as the papers' judges
are asked. A helper that wants free text, JSON or a film is noted, and its work stays ungraded.
"""

from __future__ import annotations

import base64
import importlib
import io
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from worksample.errors import GraderError
from worksample.kit import Case

JUDGE_MODULE = "tasks.utils.evaluation"
_STAND_INS = ("openai", "dotenv")
"""Libraries that the checkout's module imports and that no helper needs here."""
_OTHERS = (
    "llm_multimodal_text", "llm_multimodal_text_sync", "llm_multimodal_json", "llm_multimodal_json_sync",
    "llm_vision_json_judge", "llm_vision_json_judge_sync", "llm_vision_judge_single", "gemini_video_json_judge",
    "compare_screenshots_game", "evaluate_milestone_mode", "evaluate_deliverable_mode",
)  # fmt: skip
"""Helpers whose answers are free text, JSON, or about a film or a screen."""


class JudgeHelpers:
    """The helpers of one evaluation. `asked`: those that were called and cannot be answered. `failure`: the first error
    of the judge.
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        self.asked: list[str] = []
        self.failure: GraderError | None = None

    def install(self) -> None:
        """Put the helpers into `tasks.utils.evaluation`, whose other functions stay those of the checkout."""
        module = _checkout_module()
        for name in _OTHERS:
            setattr(module, name, self._refuse(name))
        for helper in (
            self.llm_vision_judge, self.llm_vision_yes_no_judge, self.llm_vision_binary_checklist_judge,
            self.llm_multimodal_binary_questions_sync, self.llm_vision_binary_questions_sync,
        ):  # fmt: skip
            setattr(module, helper.__name__, helper)
        sys.modules[JUDGE_MODULE] = module

    def _refuse(self, name: str) -> Callable[..., Any]:
        def ask(*given: Any, **named: Any) -> Any:
            self.asked.append(name)
            raise RuntimeError(f"no language model answers {name}")

        return ask

    def _says_yes(self, question: str, pictures: Sequence[bytes], texts: Iterable[str] = ()) -> bool:
        try:
            return bool(self.case.ask(question, *texts, *map(_picture, pictures), quotes=False).value)
        except GraderError as error:
            self.failure = self.failure or error
            raise

    async def llm_vision_judge(
        self, prompt: str, image_bytes: bytes, reference_image_bytes: bytes | None = None, *given: Any,
        return_binary_score: bool = False, return_details: bool = False, eval_context: Any = None,
        identifier: str | None = None, **others: Any,
    ) -> Any:  # fmt: skip
        """Answer a question with yes or no about one or two pictures. Free text is refused."""
        if not (return_binary_score or return_details):
            return self._refuse("llm_vision_judge")()
        score = float(self._says_yes(prompt, _pictures(image_bytes, reference_image_bytes)))
        found = _details(prompt, score, reference_image_bytes)
        if eval_context is not None and identifier is not None:
            eval_context.log_evaluation(
                identifier=identifier, score=score, vlm_response=found["vlm_response"], prompt=prompt,
                model=found["model"], error=None,
            )  # fmt: skip
        return found if return_details else score

    async def llm_vision_yes_no_judge(self, *, return_details: bool = True, **named: Any) -> Any:
        """Answer a question with yes or no about one or two pictures."""
        return await self.llm_vision_judge(
            return_details=return_details, return_binary_score=not return_details, **named
        )

    async def llm_vision_binary_checklist_judge(
        self, *, prompt_intro: str, checklist_items: Sequence[tuple[str, str]], image_bytes: bytes,
        reference_image_bytes: bytes | None = None, return_details: bool = True, eval_context: Any = None,
        identifier: str | None = None, **others: Any,
    ) -> Any:  # fmt: skip
        """Answer each item of a checklist with yes or no; the score is the share of yes."""
        pictures = _pictures(image_bytes, reference_image_bytes)
        scores = {
            key: float(self._says_yes(f"{prompt_intro.rstrip()}\n\n{question}", pictures))
            for key, question in checklist_items
        }
        score = sum(scores.values()) / len(scores)
        answers = {key: _word(one) for key, one in scores.items()}
        found = _details(prompt_intro, score, reference_image_bytes)
        found |= {"checklist_answers": answers, "checklist_scores": scores, "summary": None}
        if eval_context is not None and identifier is not None:
            eval_context.log_evaluation(
                identifier=identifier, score=score, vlm_response=None, prompt=prompt_intro, model=found["model"],
                error=None, checklist_answers=answers, checklist_scores=scores, summary=None,
            )  # fmt: skip
        return found if return_details else score

    def llm_multimodal_binary_questions_sync(
        self, *, prompt_context: str, questions: Sequence[str], content: Sequence[Mapping[str, Any]], **others: Any
    ) -> dict[str, Any]:
        """Answer questions with yes or no about texts and pictures."""
        texts = [str(part["text"]) for part in content if part.get("type") == "text"]
        addresses = [part["image_url"]["url"] for part in content if part.get("type") == "image_url"]
        pictures = [base64.b64decode(address.partition(",")[2]) for address in addresses]
        results = []
        for question in questions:
            score = float(self._says_yes(f"{prompt_context.strip()}\n\n{question}", pictures, texts))
            results.append({"question": question, "result": _word(score), "score": score, "raw_response": _word(score)})
        yes = sum(one["result"] == "YES" for one in results)
        return {
            "results": results, "yes_count": yes, "no_count": len(results) - yes, "question_count": len(results),
            "final_score": yes / len(results), "raw_responses": [one["raw_response"] for one in results],
        }  # fmt: skip

    def llm_vision_binary_questions_sync(
        self, *, prompt_context: str, questions: Sequence[str], image_bytes_list: Sequence[bytes], **others: Any
    ) -> dict[str, Any]:
        """Answer questions with yes or no about pictures."""
        content = [
            {"type": "image_url", "image_url": {"url": f"data:;base64,{base64.b64encode(data).decode()}"}}
            for data in image_bytes_list
        ]
        return self.llm_multimodal_binary_questions_sync(
            prompt_context=prompt_context, questions=questions, content=content
        )


def _checkout_module() -> types.ModuleType:
    """Return the checkout's module of helpers, or an empty one if it cannot be imported."""
    kept = {name: sys.modules.get(name) for name in _STAND_INS}
    for name in _STAND_INS:
        sys.modules[name] = _StandIn(name)
    try:
        return importlib.import_module(JUDGE_MODULE)
    except Exception:  # noqa: BLE001 - foreign code raises anything
        return types.ModuleType(JUDGE_MODULE)
    finally:
        for name, module in kept.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


class _StandIn(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *given, **named: None


def _pictures(first: bytes, second: bytes | None) -> list[bytes]:
    return [first, *([second] if second is not None else [])]


def _picture(data: bytes) -> Any:
    from PIL import Image

    return Image.open(io.BytesIO(data))


def _word(score: float) -> str:
    return "YES" if score else "NO"


def _details(prompt: str, score: float, second: bytes | None) -> dict[str, Any]:
    return {
        "vlm_response": _word(score), "score": score, "prompt": prompt, "model": "judge",
        "mode": "single" if second is None else "comparison", "max_tokens": 0, "error": None,
    }  # fmt: skip
