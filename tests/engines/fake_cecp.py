# SPDX-License-Identifier: Apache-2.0
"""A fake CECP engine that does as its arguments say; else a2a3 and a7a6 are its moves.

version=1       tell no features, number the moves, take our greetings for moves
feature=WORDS   tell these features
say=LINE        print LINE in each search (more than one: in order)
best=MOVE       answer with it
instead=LINE    say LINE in the place of a move
moves=A,B,…     answer with the move of this ply, and after the last with the first again
refuse=WORD     call a line that begins with WORD an error
log=FILE        append every line heard
crash           exit in a search
silent          say nothing in a search
late=LINE       say LINE at the beginning of the second search
slow=SECONDS    greet after so long
"""

import sys
import time


def main() -> None:  # noqa: PLR0912 - a branch a word
    script: dict[str, list[str]] = {}
    for word in sys.argv[1:]:
        key, _, value = word.partition("=")
        script.setdefault(key, []).append(value)
    old = script.get("version") == ["1"]
    plies = searches = 0
    time.sleep(float(script.get("slow", ["0"])[0]))
    for line in map(str.strip, sys.stdin):
        word = line.split(" ")[0]
        if "log" in script:
            with open(script["log"][0], "a", encoding="utf-8") as log:
                log.write(f"{line}\n")
        said: list[str] = []
        if word in script.get("refuse", []):
            said = [f"Error (unknown command): {line}"]
        elif word == "quit":
            return
        elif old and word in ("xboard", "protover", "ping", "st", "sd"):
            said = [f"Illegal move (no match) {word}"]
        elif word == "protover":
            said = [f"feature {each}" for each in script.get("feature", [])]
            said.append('feature myname="Fake 1.0" usermove=1 setboard=1 done=1')
        elif word == "ping":
            said = [line.replace("ping", "pong")]
        elif word in ("new", "setboard"):
            plies = 0
        elif word == "usermove" or (old and line[:1].isdigit()):
            plies += 1
        elif word == "go":
            if "crash" in script:
                sys.exit(3)
            if "silent" in script:
                continue
            moves = script.get("moves", ["a2a3,a7a6"])[0].split(",")
            best = script.get("best", [moves[plies % len(moves)]])[0]
            said = [*script.get("say", []), f"1. ... {best} 300000" if old else f"move {best}"]
            said = script.get("instead", said)
            plies += 1
            searches += 1
            said = [*(script.get("late", []) if searches == 2 else []), *said]
        for each in said:
            print(each, flush=True)


if __name__ == "__main__":
    main()
