# SPDX-License-Identifier: Apache-2.0
"""Bytes damaged as disks, transfers and people damage them, and the loop that tries them."""

import argparse
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

LONGEST_S = 10.0
"""Seconds that one input may take."""

Try = Callable[[random.Random], str]
"""Makes one input from a random generator and reads it; gives what was wrong, or nothing."""


def mutated(draw: random.Random, data: bytes, words: Sequence[bytes]) -> bytes:
    """`data` with one to four stretches of it flipped, lost, doubled, or other bytes put in."""
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        begin = draw.randrange(len(data) + 1)
        end = min(len(data), begin + draw.choice((1, 1, 2, 8, 64, 512)))
        way = draw.choice(("flip", "lose", "put", "word", "word", "double", "zeros", "cut"))
        if way == "flip":
            changed = bytearray(data)
            for at in range(begin, min(end, begin + 4)):
                changed[at] ^= 1 << draw.randrange(8)
            data = bytes(changed)
        elif way == "lose":
            data = data[:begin] + data[end:]
        elif way == "put":
            data = data[:begin] + draw.randbytes(draw.choice((1, 2, 16))) + data[begin:]
        elif way == "word":
            data = data[:begin] + draw.choice(words) + data[begin:]
        elif way == "double":
            data = data[:end] + data[begin:end] + data[end:]
        elif way == "zeros":
            data = data[:begin] + bytes(end - begin) + data[end:]
        elif draw.random() < 0.3:
            data = data[:begin]
    return data


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Ends what takes too long by a TimeoutError."""

    def too_long(_signal: int, _frame: object) -> None:
        raise TimeoutError(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def outcome(attempt: Try, draw: random.Random) -> str:
    """What was wrong with one attempt, an exception for instance; nothing if all is well."""
    try:
        with within(LONGEST_S):
            return attempt(draw)
    except Exception:
        return traceback.format_exc()


def main(attacks: dict[str, Try]) -> None:
    """Try inputs over all attacks in turn; failures are printed, and any makes the status 1."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, help="stop after so long")
    parser.add_argument("--only", choices=attacks)
    given = parser.parse_args()
    chosen = {given.only: attacks[given.only]} if given.only else attacks
    tried = dict.fromkeys(chosen, 0)
    failed = dict.fromkeys(chosen, 0)
    end = time.monotonic() + (given.seconds or float("inf"))
    for number in range(given.inputs):
        if time.monotonic() > end:
            break
        name = list(chosen)[number % len(chosen)]
        tried[name] += 1
        if wrong := outcome(chosen[name], random.Random(f"{given.seed} {name} {number}")):
            failed[name] += 1
            print(f"{name}, seed {given.seed}, input {number}: {wrong}", file=sys.stderr)
    for name in chosen:
        print(f"{name:14} {tried[name]:8,} tried, {failed[name]:,} failed")
    print(f"{sum(tried.values()):,} tried, {sum(failed.values()):,} failed, seed {given.seed}")
    sys.exit(any(failed.values()))
