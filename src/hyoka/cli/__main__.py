# SPDX-License-Identifier: Apache-2.0
"""`python -m hyoka.cli` is `hyoka`."""

from hyoka.cli import main

main()
