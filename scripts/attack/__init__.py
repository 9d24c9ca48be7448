# SPDX-License-Identifier: Apache-2.0
"""Damaged input, in number: what tests try for a second, for as long as one likes."""
