"""Gestures on a screen: clicks, drags, keys and texts, as a person would make them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from .keys import SHIFT, keysym_of_character, needs_shift, with_shift
from .rfb_client import RfbClient

LEFT, MIDDLE, RIGHT = 1, 2, 4
BUTTONS = {"left": LEFT, "middle": MIDDLE, "right": RIGHT}
SHIFTS = {SHIFT, SHIFT + 1}
WHEEL = {"up": 8, "down": 16, "left": 32, "right": 64}
BETWEEN_CLICKS = 0.03
"""Seconds between the clicks of a double click."""
BETWEEN_MOVES = 0.012
DRAG_MOVES = 8
"""Number of positions between the ends of a drag. Programs begin a drag only after several movements."""
TYPED_AT_ONCE = 40
"""Number of characters that are typed without a pause, so that a program's queue of events stays short."""


class Hands:
    """The pointer and the keyboard of a screen. Positions are pixels of the screen."""

    def __init__(self, client: RfbClient) -> None:
        self._client = client

    @property
    def position(self) -> tuple[int, int]:
        """Position of the pointer."""
        return self._client.pointer_at

    async def move(self, to: tuple[int, int]) -> None:
        """Move the pointer."""
        await self._client.point(*to)

    async def click(
        self, at: tuple[int, int] | None, button: int = LEFT, count: int = 1, held: Sequence[int] = ()
    ) -> None:
        """Click `count` times at a position, or at the pointer, while the keys `held` are down."""
        x, y = at or self.position
        async with self.holding(held):
            await self._client.point(x, y)
            for number in range(count):
                if number:
                    await asyncio.sleep(BETWEEN_CLICKS)
                await self._client.point(x, y, self._client.held_buttons | button)
                await self._client.point(x, y, self._client.held_buttons & ~button)

    async def press(self, button: int, at: tuple[int, int] | None = None) -> None:
        """Press a button of the mouse and hold it."""
        await self._client.point(*(at or self.position), self._client.held_buttons | button)

    async def release(self, button: int, at: tuple[int, int] | None = None) -> None:
        """Release a button of the mouse."""
        await self._client.point(*(at or self.position), self._client.held_buttons & ~button)

    async def drag(self, start: tuple[int, int], end: tuple[int, int], button: int = LEFT) -> None:
        """Press a button at one position, move to another, and release the button."""
        await self.move(start)
        await self.press(button, start)
        for step in range(1, DRAG_MOVES + 1):
            await asyncio.sleep(BETWEEN_MOVES)
            part = step / DRAG_MOVES
            await self.move(
                (round(start[0] + part * (end[0] - start[0])), round(start[1] + part * (end[1] - start[1])))
            )
        await asyncio.sleep(BETWEEN_MOVES)
        await self.release(button, end)

    async def scroll(self, direction: str, clicks: int, at: tuple[int, int] | None = None) -> None:
        """Turn the wheel by a number of clicks."""
        await self.click(at, WHEEL[direction], 0)
        for number in range(clicks):
            await self.click(None, WHEEL[direction])
            if number % 5 == 4:
                await asyncio.sleep(BETWEEN_MOVES)

    async def chord(self, keysyms: Sequence[int], repeat: int = 1, seconds: float = 0.0) -> None:
        """Press keys one after another, hold them for a time, and release them in reverse order."""
        for _ in range(repeat):
            async with self.holding(keysyms):
                if seconds:
                    await asyncio.sleep(seconds)

    async def key_events(self, keysyms: Sequence[int], down: bool) -> None:
        """Press keys without releasing them, or release them."""
        events = []
        for keysym in keysyms:
            held = self._client.held_keys
            meant = with_shift(keysym) if held & SHIFTS and not (not down and keysym in held) else keysym
            held.add(meant) if down else held.discard(meant)
            events.append((meant, down))
        await self._client.keys(events)

    @asynccontextmanager
    async def holding(self, keysyms: Sequence[int]) -> AsyncIterator[None]:
        """Hold keys for the duration of the `async with`."""
        if keysyms:
            await self.key_events(keysyms, True)
        try:
            yield
        finally:
            if keysyms:
                await self.key_events(list(reversed(keysyms)), False)

    async def type(self, text: str) -> None:
        """Type a text character by character."""
        text = text.replace("\r\n", "\n")
        for start in range(0, len(text), TYPED_AT_ONCE):
            if start:
                await asyncio.sleep(BETWEEN_MOVES)
            piece = text[start : start + TYPED_AT_ONCE]
            await self._client.keys([event for one in piece for event in _strokes(keysym_of_character(one))])


def _strokes(keysym: int) -> list[tuple[int, bool]]:
    """Return the events that type a character. Shift is pressed for it, as by a person: the X server could otherwise
    choose Caps Lock.
    """
    own = [(keysym, True), (keysym, False)]
    return [(SHIFT, True), *own, (SHIFT, False)] if needs_shift(keysym) else own
