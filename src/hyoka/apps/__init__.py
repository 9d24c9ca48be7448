# SPDX-License-Identifier: Apache-2.0
"""Front ends: the command line and the studio."""
