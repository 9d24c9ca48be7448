# SPDX-License-Identifier: Apache-2.0
"""Work that uses all of the library: improve, demo, bench."""
