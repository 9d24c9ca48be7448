# SPDX-License-Identifier: Apache-2.0
"""Numbers in addresses and forms, read with bounds.

Python refuses to convert very long digit strings (over 4,300 digits), so every number that comes
with a request is read here and nowhere else.
"""

import math
from typing import Final

from starlette.convertors import Convertor, register_url_convertor

import hyoka as hk
from hyoka.foundation.errors import escape_control_chars

_MOST_DIGITS: Final = 15
_MOST_SHOWN: Final = 40


def whole_number(text: object, name: str, least: int, most: int) -> int:
    """Parse a whole number from `least` to `most`; raises ParameterError.

    >>> whole_number("12", "ply", 0, 20)
    12
    """
    digits = str(text).strip()
    if not is_whole_number(digits):
        raise hk.errors.ParameterError(name, f"is a whole number, not '{_shown(digits)}'")
    value = int(digits)
    if not least <= value <= most:
        raise hk.errors.ParameterError(name, f"is a whole number from {least:,} to {most:,} here")
    return value


def is_whole_number(text: str) -> bool:
    """Whether a text is a short run of the digits 0 to 9.

    >>> is_whole_number("12"), is_whole_number("-1"), is_whole_number("9" * 5000)
    (True, False, False)
    """
    return text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS


def decimal_number(text: object, name: str, least: float, most: float) -> float:
    """Parse a number from `least` to `most`; raises ParameterError."""
    try:
        value = float(str(text))
    except ValueError:
        value = math.nan
    if not least <= value <= most:
        raise hk.errors.ParameterError(
            name, f"is a number from {least:g} to {most:g}, not '{_shown(str(text))}'"
        )
    return value


def _shown(text: str) -> str:
    return escape_control_chars(text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "…")


class _Number(Convertor[int]):
    """The path parameter `{NAME:number}`: paths with more digits match no route."""

    regex = f"[0-9]{{1,{_MOST_DIGITS}}}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("number", _Number())
