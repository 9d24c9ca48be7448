# SPDX-License-Identifier: Apache-2.0
"""Writing of files and folders, with protection against overwriting."""

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
