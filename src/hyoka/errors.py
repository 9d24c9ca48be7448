# SPDX-License-Identifier: Apache-2.0
"""Everything Hyoka raises on purpose.

Error:
├─ NotationError(ValueError)     the text cannot be read
└─ IllegalMoveError(ValueError)  it reads, but the rules forbid it

"""


class Error(Exception):
    """The root of all errors that Hyoka raises on purpose."""


class NotationError(Error, ValueError):
    """The text cannot be read."""


class IllegalMoveError(Error, ValueError):
    """The move reads well, but the rules forbid it here."""
