# SPDX-License-Identifier: Apache-2.0
"""Files and folders that Hyoka writes, and the checks of what may be replaced."""

from hyoka.storage.outputs import (
    check_output,
    check_output_folder,
    kind_of_file,
    mark_png,
    mark_svg,
    mark_table,
)

__all__ = [
    "check_output",
    "check_output_folder",
    "kind_of_file",
    "mark_png",
    "mark_svg",
    "mark_table",
]
