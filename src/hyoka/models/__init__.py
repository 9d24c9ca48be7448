# SPDX-License-Identifier: Apache-2.0
"""Move models that come with Hyoka: learned from records, each with the command that made it."""
