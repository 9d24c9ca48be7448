# SPDX-License-Identifier: Apache-2.0
"""What changes, told to the browser as it does: server-sent events for htmx's `sse` extension.

<div hx-ext="sse" sse-connect="/runs/7/events" sse-close="end">
  <div sse-swap="progress">…</div>
</div>
"""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Final

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

END: Final = "end"
"""The name of an event after which nothing more comes."""
_QUIET_S: Final = 15.0


def watch(
    request: Request, look: Callable[[], Mapping[str, str]], *, every_s: float = 0.5
) -> Response:
    """A stream of events: `look()` gives HTML by event name, and what has changed is sent.

    `look` runs in a thread, again and again until the browser goes or it gives an event `END`.
    """

    async def stream() -> AsyncIterator[str]:
        told: dict[str, str] = {}
        silent_s = 0.0
        while True:
            try:
                seen = await anyio.to_thread.run_sync(look)
            except Exception:  # what is no longer there is no longer watched
                yield event(END, "")
                return
            news = {name: text for name, text in seen.items() if told.get(name) != text}
            for name, text in news.items():
                yield event(name, text)
            if END in seen or await request.is_disconnected():
                return
            told.update(news)
            silent_s = 0.0 if news else silent_s + every_s
            if silent_s >= _QUIET_S:  # so that whoever has gone is noticed
                silent_s = 0.0
                yield ": still here\n\n"
            await anyio.sleep(every_s)

    return StreamingResponse(stream(), media_type="text/event-stream")


def event(name: str, text: str) -> str:
    r"""An event as it goes over the line.

    >>> event("progress", "<p>\n1 of 2")
    'event: progress\ndata: <p>\ndata: 1 of 2\n\n'
    """
    lines = "".join(f"data: {line}\n" for line in text.splitlines() or [""])
    return f"event: {name}\n{lines}\n"
