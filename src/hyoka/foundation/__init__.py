# SPDX-License-Identifier: Apache-2.0
"""Basics for all other packages: errors, text, numbers, progress."""
