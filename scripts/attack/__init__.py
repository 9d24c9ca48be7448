# SPDX-License-Identifier: Apache-2.0
"""Seeded attacks on what takes in other people's words; each script is run by itself."""
