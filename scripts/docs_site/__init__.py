# SPDX-License-Identifier: Apache-2.0
"""The docs as one static site with a search, made of the Markdown that the repository shows."""
