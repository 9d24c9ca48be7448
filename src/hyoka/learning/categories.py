# SPDX-License-Identifier: Apache-2.0
"""Kinds of positions by which an objective may differ, as `hyoka.search.categories` finds them."""

from hyoka.search.categories import CLASSES, DEPTHS, SEARCH, Categories, categories_of

__all__ = ["CLASSES", "DEPTHS", "SEARCH", "Categories", "categories_of"]
