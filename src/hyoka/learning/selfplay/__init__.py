# SPDX-License-Identifier: Apache-2.0
"""Self-play learning: play, train, and test each network in a match."""
