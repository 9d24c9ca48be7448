# SPDX-License-Identifier: Apache-2.0
"""Everything Hyoka raises on purpose.

Error:
├─ NotationError(ValueError)     the text cannot be read
├─ IllegalMoveError(ValueError)  it reads, but the rules forbid it
└─ EngineError                   died, hung, refused or talked nonsense  .engine .transcript .reason

"""


class Error(Exception):
    """The root of all errors that Hyoka raises on purpose."""


class NotationError(Error, ValueError):
    """The text cannot be read."""


class IllegalMoveError(Error, ValueError):
    """The move reads well, but the rules forbid it here."""


class EngineError(Error):
    """An engine is missing, died, hung, refused or talked nonsense.

    `transcript` holds the last lines of the dialogue (`>` ours, `<` the engine's) and of the
    engine's standard error (`!`). `reason` is one word for tables and programs: `missing`,
    `option`, `limit`, `died`, `timeout`, `flood`, `nonsense` or `refused`; after `refused` alone
    the engine is still in step and can be asked for other things.
    """

    def __init__(
        self, engine: str, message: str, transcript: str = "", reason: str = "nonsense"
    ) -> None:
        super().__init__(f"{engine}: {message}")
        self.engine = engine
        self.message = message
        self.transcript = transcript
        self.reason = reason

    def __reduce__(self) -> tuple[type["EngineError"], tuple[str, str, str, str]]:
        return type(self), (self.engine, self.message, self.transcript, self.reason)
