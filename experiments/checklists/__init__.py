# SPDX-License-Identifier: Apache-2.0
"""Checklists of the papers' definitions, formulas, tables and figures, with code and results."""

from typing import Final

from experiments.checklists.checklist import Checklist, Claim, Item
from experiments.checklists.nakamura_2007 import NAKAMURA_2007
from experiments.checklists.sato_2010 import SATO_2010
from experiments.checklists.sato_2013 import SATO_2013
from experiments.checklists.takeuchi_2010 import TAKEUCHI_2010
from experiments.checklists.yoshii_1998 import YOSHII_1998

CHECKLISTS: Final = (TAKEUCHI_2010, YOSHII_1998, SATO_2013, NAKAMURA_2007, SATO_2010)

__all__ = ["CHECKLISTS", "Checklist", "Claim", "Item"]
