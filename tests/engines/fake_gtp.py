# SPDX-License-Identifier: Apache-2.0
r"""A fake GTP engine that does as its arguments say.

name=NAME             instead of Fake
knows=COMMAND         list this command too, and accept it
lacks=COMMAND         do not list this command, and refuse it
answer:COMMAND=TEXT   the answer to a command (its first word); \n breaks lines
stderr:COMMAND=TEXT   what a command makes us write to standard error, a little after the answer
moves=A,B,…           genmove the move of this ply, and after the last the first again
refuse=LINE           refuse this line, word for word
hang=COMMAND          never answer this command
log=FILE              append every line heard
chatty                say things between the answers, and end lines with a carriage return
"""

import sys
import time

COMMANDS = [
    *("protocol_version", "name", "version", "list_commands", "quit", "boardsize", "clear_board"),
    *("komi", "play", "genmove", "reg_genmove", "undo"),
]


class FakeEngine:
    """Hears a line, says an answer."""

    def __init__(self, words: list[str]) -> None:
        self.settings = {"name": "Fake", "log": ""}
        self.commands = list(COMMANDS)
        self.answers: dict[str, str] = {}
        self.errors: dict[str, str] = {}
        self.refused: set[str] = set()
        self.plies = 0
        self.chatty = "chatty" in words
        for word in words:
            key, _, value = word.partition("=")
            value = value.replace("\\n", "\n")
            if key == "knows":
                self.commands.append(value)
            elif key == "lacks":
                self.commands.remove(value)
            elif key.startswith("answer:"):
                self.answers[key.partition(":")[2]] = value
            elif key.startswith("stderr:"):
                self.errors[key.partition(":")[2]] = value
            elif key == "refuse":
                self.refused.add(value)
            else:
                self.settings[key] = value

    def say(self, text: str) -> None:
        end = "\r\n" if self.chatty else "\n"
        sys.stdout.write(f"{text}\n\n".replace("\n", end))
        if self.chatty:
            sys.stdout.write("thinking aloud\n")
        sys.stdout.flush()

    def hear(self, line: str) -> None:
        if self.settings["log"]:
            with open(self.settings["log"], "a", encoding="utf-8") as log:
                log.write(f"{line}\n")
        command = line.split(maxsplit=1)[0]
        moves = self.settings.get("moves", "A1").split(",")
        genmove = moves[self.plies % len(moves)]
        while command == self.settings.get("hang"):
            time.sleep(60)
        if line in self.refused or command not in self.commands:
            self.say("? cannot do that")
        elif command == "name":
            self.say(f"= {self.settings['name']}")
        elif command == "list_commands":
            self.say("= " + "\n".join(self.commands))
        else:
            defaults = {"genmove": genmove, "reg_genmove": genmove, "version": "1.0"}
            self.plies = 0 if command == "clear_board" else self.plies
            self.plies += command in ("play", "genmove")
            self.say(f"= {self.answers.get(command, defaults.get(command, ''))}")
            if command in self.errors:
                time.sleep(0.05)
                print(self.errors[command], file=sys.stderr, flush=True)
        if command == "quit":
            sys.exit(0)


def main() -> None:
    engine = FakeEngine(sys.argv[1:])
    for line in sys.stdin:
        if line.strip():
            engine.hear(line.strip())


if __name__ == "__main__":
    main()
