# SPDX-License-Identifier: Apache-2.0
"""Seeded attacks on what takes in other people's bytes and words; each script runs alone."""
