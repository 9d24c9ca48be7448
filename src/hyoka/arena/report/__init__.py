# SPDX-License-Identifier: Apache-2.0
"""The report of a match: one page, from who won to what the players thought."""

from hyoka.arena.report.match_page import match_page, write_match_report

__all__ = ["match_page", "write_match_report"]
