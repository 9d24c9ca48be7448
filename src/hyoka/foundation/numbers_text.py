# SPDX-License-Identifier: Apache-2.0
"""Numbers as texts that are read back: in clocks and adjudications."""

import numpy as np


def positional(number: float) -> str:
    """The number in as few digits as tell it from others, and never as 1e-05.

    >>> positional(600.0), positional(0.00001)
    ('600', '0.00001')
    """
    return np.format_float_positional(number, trim="-")
