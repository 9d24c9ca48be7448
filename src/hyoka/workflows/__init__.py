# SPDX-License-Identifier: Apache-2.0
"""Workflows that combine the library: improve, demo, bench."""
