# SPDX-License-Identifier: Apache-2.0
"""Basics for all other packages: errors, text, numbers, progress."""

from hyoka.foundation import errors as errors
