# SPDX-License-Identifier: Apache-2.0
"""Errors, text, numbers, progress: what everything else uses."""
