# SPDX-License-Identifier: Apache-2.0
"""Writers of shogi records: CSA and KIF."""

import re
from collections.abc import Iterator
from typing import Final, cast

from hyoka import _core
from hyoka.games import ShogiPosition, game_type
from hyoka.records.record import Draft, Record, Remark, Wording, commands, number, one_line


def _csa_end(record: Record) -> list[str]:
    """Return the mark that reads back as this result and ending."""
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


_CSA_RESULT: Final = ("%", "'result")
_CSA_OTHERS: Final = {"time_control": ("$TIME",), "result": _CSA_RESULT, "ending": _CSA_RESULT}
_BEHIND: Final = ("$END_TIME", "'summary", "'result")
"""Headers after the moves, which some programs require."""
CSA_NAME: Final = re.compile(r"N[+-]|\$[^:\n]*|'[a-z_]+|%")


def as_csa(draft: Draft) -> str:
    """Write the record as CSA."""
    record = draft.record
    derived = (
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
    headers = draft.headers(derived, _CSA_OTHERS, CSA_NAME.fullmatch)
    end = [f"%{one_line(value)}" for name, value in headers if name == "%"] or _csa_end(record)
    lines = ["V2.2"]
    for name, text in headers:
        if name != "%":
            line = f"{name}{'' if name[0] == 'N' else ':'}{one_line(text)}"
            (end if name in _BEHIND else lines).append(line)
    remarks = draft.remarks()
    if (about := remarks.get(0)) is not None:
        lines += _comment_lines(draft, about, commands(about, pawns=False))
    lines += _csa_set_up(record)
    for i, move in enumerate(record.move_texts("csa"), 1):
        lines.append(move)
        if (remark := remarks.get(i)) is None:
            continue
        if remark.spent_s is not None:
            lines.append(f"T{number(remark.spent_s)}")
        numbers = ""
        if draft.wording(remark) != Wording.own:
            if remark.score is not None:
                lines.append(f"'** {number(remark.score)}")
            # A value in `'**` is the mover's, unless a command adds another.
            only_score = remark.score is not None and remark.value is None and remark.mate is None
            mover = "first" if (i % 2 == 1) == record.first_begins else "second"
            numbers = commands(
                remark,
                pawns=False,
                without=frozenset({"spent", "score"}),
                implied=mover if only_score else None,
            )
        lines += _comment_lines(draft, remark, numbers)
    return "\n".join([*lines, *end]) + "\n"


def _comment_lines(draft: Draft, remark: Remark, numbers: str, *, mark: str = "'") -> Iterator[str]:
    for text in draft.comments(remark, numbers):
        yield from (f"{mark}{line}" for line in text.split("\n") if line)


_KIF_PIECES: Final = "歩香桂銀角飛金玉と杏圭全馬龍"
_KIF_HAND: Final = {"P": "歩", "L": "香", "N": "桂", "S": "銀", "B": "角", "R": "飛", "G": "金"}
_KIF_NUMBERS: Final = ("", "", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二",
                       "十三", "十四", "十五", "十六", "十七", "十八")  # fmt: skip


def _kif_board(record: Record) -> Iterator[str]:
    start = cast("ShogiPosition", record.position(0))

    def hand(player: _core.Player) -> str:
        pieces = [
            f"{_KIF_HAND[letter]}{_KIF_NUMBERS[count]}"
            for letter, count in start.hand(player).items()
        ]
        return "　".join(pieces) or "なし"

    yield f"後手の持駒：{hand(_core.Player.second)}"
    yield "  ９ ８ ７ ６ ５ ４ ３ ２ １"
    yield "+---------------------------+"
    for name, row in zip("一二三四五六七八九", start.cells.tolist(), strict=True):
        cells = (
            f"{' ' if piece >= 0 else 'v'}{_KIF_PIECES[abs(piece) - 1] if piece else '・'}"
            for piece in row
        )
        yield f"|{''.join(cells)}|{name}"
    yield "+---------------------------+"
    yield f"先手の持駒：{hand(_core.Player.first)}"
    if start.to_play == _core.Player.second:
        yield "後手番"


_KIF_HANDICAPS: Final = {
    "lance": (1, "香落ち"),
    "right-lance": (1, "右香落ち"),
    "bishop": (1, "角落ち"),
    "rook": (1, "飛車落ち"),
    "rook-lance": (2, "飛香落ち"),
    "two-piece": (2, "二枚落ち"),
    "four-piece": (4, "四枚落ち"),
    "five-piece": (5, "五枚落ち"),
    "six-piece": (6, "六枚落ち"),
    "eight-piece": (8, "八枚落ち"),
    "ten-piece": (10, "十枚落ち"),
}


def _kif_handicap(record: Record) -> str | None:
    """Return the name of the start; None if it has none, or headers say it is no handicap."""
    if not record.start:
        return "平手"
    kind = cast("type[ShogiPosition]", game_type(record.game))
    for name, (pieces, words) in _KIF_HANDICAPS.items():
        if record.handicap == pieces and record.start == kind(handicap=name).text:
            return words
    return None


def _kif_player(side: str, field: str, name: str, rating: str) -> Iterator[tuple[str, str, str]]:
    """Return a player's name, with the rank if any; other ratings have their own line."""
    is_rank = rating.endswith(("段", "級"))
    bare = not rating or not is_rank or name.endswith(rating)
    yield field, side, name if bare else f"{name} {rating}".strip()
    if rating and not is_rank:
        yield f"{field}_rating", f"{side}段級", rating


def _kif_end(record: Record) -> str | None:
    """Return the word that ends the game; None if there is none."""
    mover_first = bool(record.position().to_play == _core.Player.first)
    mover_lost = record.result == (0.0 if mover_first else 1.0)
    if record.result is None:
        return "中断" if record.ending == "unfinished" else None
    if record.result == 0.5:
        return "千日手"
    if mover_lost:
        return {"resigned": "投了", "normal": "詰み", "time": "切れ負け", "illegal": "反則負け",
                "forfeit": "不戦敗"}.get(record.ending, "投了")  # fmt: skip
    return {"normal": "入玉勝ち", "illegal": "反則勝ち", "forfeit": "不戦勝"}.get(record.ending)


_KIF_OTHERS: Final = {
    "first": ("下手",),
    "second": ("上手",),
    "first_rating": ("先手段級", "下手段級", "先手", "下手"),
    "second_rating": ("後手段級", "上手段級", "後手", "上手"),
    "date": ("対局日",),
}


def _is_header(name: str) -> bool:
    """Whether a header is KIF's, and not about the start, which is written separately."""
    of_start = name == "手合割" or name.endswith("手の持駒")
    return name.isprintable() and "：" not in name and not of_start and not CSA_NAME.fullmatch(name)


def _kif_headers(draft: Draft) -> list[str]:
    record = draft.record
    derived = (
        ("date", "開始日時", record.date.replace("-", "/")),
        ("event", "棋戦", record.event),
        ("place", "場所", record.place),
        ("time_control", "持ち時間", record.time_control),
        ("opening", "戦型", record.opening),
        *_kif_player("先手", "first", record.first, record.first_rating),
        *_kif_player("後手", "second", record.second, record.second_rating),
    )
    headers = draft.headers(derived, _KIF_OTHERS, _is_header)
    return [f"{name}：{one_line(text)}" for name, text in headers]


def as_kif(draft: Draft) -> str:
    """Write the record as KIF."""
    record = draft.record
    lines = ["#KIF version=2.0 encoding=UTF-8"]
    handicap = _kif_handicap(record)
    lines += _kif_board(record) if handicap is None else [f"手合割：{handicap}"]
    lines += _kif_headers(draft)
    lines.append("手数----指手---------消費時間--")
    remarks = draft.remarks()
    if (about := remarks.get(0)) is not None:
        lines += _comment_lines(draft, about, commands(about, pawns=False), mark="*")
    totals = [0.0, 0.0]
    # Programs that read KIF take times that are all zero for missing.
    timed = any(remark.spent_s for remark in record.remarks)
    for i, move in enumerate(record.move_texts("kif"), 1):
        remark = remarks.get(i)
        line = f"{i:4} {move}"
        spent = remark.spent_s if remark is not None else None
        in_seconds = timed and spent is not None and float(spent).is_integer()
        if spent is not None and in_seconds:
            totals[i % 2] += spent
            total = int(totals[i % 2])
            line += (
                f"   ({int(spent) // 60:2}:{int(spent) % 60:02}"
                f"/{total // 3600:02}:{total // 60 % 60:02}:{total % 60:02})"
            )
        lines.append(line)
        if remark is not None:
            without = frozenset({"spent"} if in_seconds else ())
            lines += _comment_lines(
                draft, remark, commands(remark, pawns=False, without=without), mark="*"
            )
    if (end := _kif_end(record)) is not None:
        lines.append(f"{len(record) + 1:4} {end}")
    elif record.result is not None:
        winner = "先手" if record.result == 1 else "後手"
        lines.append(f"まで{len(record)}手で{winner}の勝ち")
    return "\n".join(lines) + "\n"
