# SPDX-License-Identifier: Apache-2.0
"""The rules against other programs and slow twins, position by position."""
