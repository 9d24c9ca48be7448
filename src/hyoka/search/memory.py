# SPDX-License-Identifier: Apache-2.0
"""What happens when a table or a tree is larger than the memory that may be had."""

import contextlib
import errno
import os
from collections.abc import Iterator

from hyoka.errors import OutOfMemoryError


@contextlib.contextmanager
def memory_for(what: str) -> Iterator[None]:
    """Raise OutOfMemoryError, with what the memory was for, where there is not enough.

    Where DuckDB is loaded, a failed allocation anywhere in C++ comes to Python as its exception.
    """
    try:
        yield
    except OutOfMemoryError:
        raise
    except Exception as error:
        if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException":
            raise OutOfMemoryError(f"not enough memory for {what}; give it less") from None
        if isinstance(error, RuntimeError) and str(error) == os.strerror(errno.EAGAIN):
            message = f"not enough memory for the threads of {what}; give it fewer"
            raise OutOfMemoryError(message) from None
        raise
