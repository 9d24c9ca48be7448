# SPDX-License-Identifier: Apache-2.0
"""Players that learn from their own games: play, learn, prove the gain, again."""
