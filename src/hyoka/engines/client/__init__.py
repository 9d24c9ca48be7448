# SPDX-License-Identifier: Apache-2.0
"""Clients of GTP, UCI, USI and CECP engines."""
