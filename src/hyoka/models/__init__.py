# SPDX-License-Identifier: Apache-2.0
"""Learned models that searches use: evaluations, move models and opening books."""
