# SPDX-License-Identifier: Apache-2.0
"""Records as CSA."""

import re
from collections.abc import Iterator
from typing import Final, cast

from hyoka import _core
from hyoka.games import ShogiPosition
from hyoka.records.draft import Draft, Wording, commands, number, one_line
from hyoka.records.record import Record, Remark


def _csa_end(record: Record) -> list[str]:
    """The mark that reads back as this result and ending."""
    mover_first = bool(record.position().to_play == _core.Player.first)
    mover_lost = record.result == (0.0 if mover_first else 1.0)
    mover_won = record.result == (1.0 if mover_first else 0.0)
    ending = record.ending
    if record.result is None:
        return ["%CHUDAN"] if ending == "unfinished" else []
    if record.result == 0.5:
        return ["%SENNICHITE"] if ending == "normal" else ["%CHUDAN", "'result:draw"]
    if mover_lost and ending in ("resigned", "normal", "time"):
        return [{"resigned": "%TORYO", "normal": "%TSUMI", "time": "%TIME_UP"}[ending]]
    if ending == "illegal":
        return ["%ILLEGAL_MOVE" if mover_lost else "%+ILLEGAL_ACTION" if record.result == 0.0
                else "%-ILLEGAL_ACTION"]  # fmt: skip
    if mover_won and ending == "normal":
        return ["%KACHI"]
    winner = "black" if record.result == 1 else "white"
    return ["%CHUDAN", f"'result:{winner}_win"]


_CSA_NAMES: Final = (
    *("FU", "KY", "KE", "GI", "KA", "HI", "KI", "OU"),
    *("TO", "NY", "NK", "NG", "UM", "RY"),
)
_HAND: Final = {"P": "FU", "L": "KY", "N": "KE", "S": "GI", "B": "KA", "R": "HI", "G": "KI"}


def _csa_set_up(record: Record) -> Iterator[str]:
    start = cast("ShogiPosition", record.position(0))
    if not record.start:
        yield "PI"
    else:
        for rank, row in enumerate(start.cells.tolist(), 1):
            cells = (
                f"{'+' if piece > 0 else '-'}{_CSA_NAMES[abs(piece) - 1]}" if piece else " * "
                for piece in row
            )
            yield f"P{rank}{''.join(cells)}"
        for sign, player in (("+", _core.Player.first), ("-", _core.Player.second)):
            hand = start.hand(player)
            pieces = "".join(f"00{_HAND[letter]}" * count for letter, count in hand.items())
            if pieces:
                yield f"P{sign}{pieces}"
    yield "+" if start.to_play == _core.Player.first else "-"


_SAID_BY: Final = {
    "first": ("N+",),
    "second": ("N-",),
    "event": ("$EVENT",),
    "place": ("$SITE",),
    "date": ("$START_TIME",),
    "time_control": ("$TIME_LIMIT", "$TIME"),
    "opening": ("$OPENING",),
    "round": ("'round",),
    "first_rating": ("'black_rate",),
    "second_rating": ("'white_rate",),
    "handicap": ("'handicap",),
    "result": ("%", "'result"),
    "ending": ("%", "'result"),
}
_BEHIND: Final = ("$END_TIME", "'summary", "'result")
"""Headers that stand behind the moves, which some programs count on."""
NAME: Final = re.compile(r"N[+-]|\$[^:\n]*|'[a-z_]+|%")


def as_csa(draft: Draft) -> str:
    """The record as CSA."""
    record = draft.record
    made = (
        ("first", "N+", record.first),
        ("second", "N-", record.second),
        ("event", "$EVENT", record.event),
        ("place", "$SITE", record.place),
        ("date", "$START_TIME", record.date.replace("-", "/")),
        ("time_control", "$TIME_LIMIT", record.time_control),
        ("opening", "$OPENING", record.opening),
        ("round", "'round", record.round),
        ("first_rating", "'black_rate", record.first_rating),
        ("second_rating", "'white_rate", record.second_rating),
        ("handicap", "'handicap", str(record.handicap) if record.handicap else ""),
    )
    headers = draft.headers(made, _SAID_BY, NAME.fullmatch)
    end = [f"%{one_line(value)}" for name, value in headers if name == "%"] or _csa_end(record)
    lines = ["V2.2"]
    for name, text in headers:
        if name != "%":
            line = f"{name}{'' if name[0] == 'N' else ':'}{one_line(text)}"
            (end if name in _BEHIND else lines).append(line)
    remarks = draft.remarks()
    if (about := remarks.get(0)) is not None:
        lines += _comment_lines(draft, about, "")
    lines += _csa_set_up(record)
    first_begins = record.start == "" or _first_to_play(record)
    for i, move in enumerate(record.move_texts("csa"), 1):
        lines.append(move)
        if (remark := remarks.get(i)) is None:
            continue
        if remark.spent_s is not None:
            lines.append(f"T{number(remark.spent_s)}")
        said = ""
        if draft.wording(remark) != Wording.own:
            if remark.score is not None:
                lines.append(f"'** {number(remark.score)}")
            # What stands in `'**` is the mover's, unless a command adds another's value.
            only_score = remark.score is not None and remark.value is None and remark.mate is None
            mover = "first" if (i % 2 == 1) == first_begins else "second"
            said = commands(
                remark,
                pawns=False,
                without=frozenset({"spent", "score"}),
                implied=mover if only_score else None,
            )
        lines += _comment_lines(draft, remark, said)
    return "\n".join([*lines, *end]) + "\n"


def _comment_lines(draft: Draft, remark: Remark, said: str) -> Iterator[str]:
    for text in draft.comments(remark, said):
        yield from (f"'{line}" for line in text.split("\n") if line)


def _first_to_play(record: Record) -> bool:
    return bool(record.position(0).to_play == _core.Player.first)
