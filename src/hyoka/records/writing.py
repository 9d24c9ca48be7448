# SPDX-License-Identifier: Apache-2.0
"""Writing records: what the model of a game holds can be written and read again."""

import itertools
import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

import numpy as np

from hyoka import _core
from hyoka.errors import NotationError
from hyoka.files import write_text
from hyoka.games import GO, ShogiPosition, game_facts, game_type
from hyoka.records.record import Record, Remark


def _number(value: float) -> str:
    """The shortest text that reads back as the same 32-bit number."""
    return np.format_float_positional(np.float32(value), trim="-")


_CONTROLS: Final = dict.fromkeys((*range(32), 127), " ")


def _plain(record: Record) -> Record:
    """The record with texts of one line each, so that none can become another line of a file."""
    texts: dict[str, Any] = {
        name: value.translate(_CONTROLS)
        for name, value in vars(record).items()
        if isinstance(value, str) and not value.isprintable()
    }
    return replace(record, **texts) if texts else record


def _clock(seconds: float) -> str:
    full = int(seconds)
    fraction = _number(seconds).partition(".")[2]
    text = f"{full // 3600}:{full // 60 % 60:02}:{full % 60:02}"
    return f"{text}.{fraction}" if fraction else text


def _commands(
    remark: Remark,
    *,
    pawns: bool,
    without: frozenset[str] = frozenset(),
    implied: str | None = None,
) -> str:
    """A remark as commands in a comment; `pawns`: scores as lichess writes them.

    `implied` is whom readers take for the author if nobody is named.
    """
    parts = []
    if pawns and remark.score is not None and float(np.float32(remark.score)).is_integer():
        depth = f",{remark.depth}" if remark.depth else ""
        parts.append(f"[%eval {remark.score / 100:.2f}{depth}]")
        without = without | {"score", "depth"}
    elif pawns and remark.mate is not None:
        depth = f",{remark.depth}" if remark.depth else ""
        parts.append(f"[%eval #{remark.mate}{depth}]")
        without = without | {"mate", "depth"}
    if remark.value is not None:
        parts.append(f"[%value {_number(remark.value)}]")
    if remark.score is not None and "score" not in without:
        parts.append(f"[%score {_number(remark.score)}]")
    if remark.mate is not None and "mate" not in without:
        parts.append(f"[%mate {remark.mate}]")
    if remark.depth is not None and "depth" not in without:
        parts.append(f"[%depth {remark.depth}]")
    if remark.clock_s is not None and "clock" not in without:
        parts.append(f"[%clk {_clock(remark.clock_s)}]")
    if remark.spent_s is not None and "spent" not in without:
        parts.append(f"[%emt {_clock(remark.spent_s)}]")
    if remark.book:
        parts.append("[%book 1]")
    if remark.author != implied:
        parts.append(f"[%author {remark.author or 'unknown'}]")
    return " ".join(parts)


def _by_ply(record: Record) -> dict[int, Remark]:
    return {remark.ply: remark for remark in record.remarks}


# SGF


def _sgf_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")


def _sgf_result(record: Record) -> str | None:
    if record.result is None:
        return None if record.ending == "unknown" else "Void"
    if record.result == 0.5:
        return "0"
    winner = "B" if record.result == 1 else "W"
    if record.ending == "normal" and record.margin is not None:
        return f"{winner}+{_number(abs(record.margin))}"
    ending = {"resigned": "R", "time": "T", "forfeit": "F"}.get(record.ending, "")
    return f"{winner}+{ending}"


def _sgf(record: Record) -> str:
    facts = game_facts(record.game)
    properties: list[tuple[str, str]] = [("GM", facts.sgf_game), ("FF", "4"), ("CA", "UTF-8")]
    if facts.family == GO:
        properties.append(("SZ", str(facts.size)))
    texts = (
        ("PB", record.first),
        ("PW", record.second),
        ("BR", record.first_rating),
        ("WR", record.second_rating),
        ("EV", record.event),
        ("RO", record.round),
        ("PC", record.place),
        ("DT", record.date),
        ("RU", record.rules),
        ("OT", record.time_control),
        ("ON", record.opening),
    )
    properties += [(name, _sgf_text(text)) for name, text in texts if text]
    if record.komi is not None:
        properties.append(("KM", np.format_float_positional(record.komi, trim="-")))
    if record.handicap:
        properties.append(("HA", str(record.handicap)))
    if (result := _sgf_result(record)) is not None:
        properties.append(("RE", result))
    out = ["(;", *(f"{name}[{value}]" for name, value in properties), _sgf_set_up(record)]
    remarks = _by_ply(record)
    first_moves = record.start == "" or _first_to_play(record)
    for i, move in enumerate(record.move_texts("sgf")):
        is_first = (i % 2 == 0) == first_moves
        text = "" if move == "pass" else move
        out.append(f"\n;{'B' if is_first else 'W'}[{text}]" if i % 10 == 0 else
                   f";{'B' if is_first else 'W'}[{text}]")  # fmt: skip
        if (remark := remarks.get(i + 1)) is not None:
            out.append(f"C[{_sgf_text(_commands(remark, pawns=False))}]")
    return "".join(out) + ")\n"


def _first_to_play(record: Record) -> bool:
    return bool(record.position(0).to_play == _core.Player.first)


def _sgf_set_up(record: Record) -> str:
    if not record.start:
        return ""
    start = record.position(0)
    letters = "abcdefghijklmnopqrstuvwxyz"
    stones: dict[int, list[str]] = {1: [], -1: []}
    for row, column in np.argwhere(start.cells != 0).tolist():
        stones[int(np.sign(start.cells[row, column]))].append(f"[{letters[column]}{letters[row]}]")
    out = ""
    if int(np.abs(start.cells).max()) == 1:  # all pieces are alike
        out = "".join(f"{name}{''.join(stones[side])}" for name, side in (("AB", 1), ("AW", -1))
                      if stones[side])  # fmt: skip
    if game_facts(record.game).family != GO:  # stones don't say everything
        out += f"SU[{_sgf_text(record.start)}]"
    return out + f"PL[{'B' if start.to_play == _core.Player.first else 'W'}]"


# PGN


_PGN_TERMINATION: Final = {
    "time": "time forfeit",
    "illegal": "rules infraction",
    "adjudicated": "adjudication",
    "forfeit": "abandoned",
    "unfinished": "unterminated",
}


def _pgn_date(date: str) -> str:
    parts = date.split("-")
    if not all(part.isdigit() for part in parts):
        return date or "????.??.??"
    return ".".join([*parts, "??", "??"][:3])


def _pgn(record: Record) -> str:
    result = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1", None: "*"}[record.result]
    tags = [
        ("Event", record.event or "?"),
        ("Site", record.place or "?"),
        ("Date", _pgn_date(record.date)),
        ("Round", record.round or "?"),
        ("White", record.first or "?"),
        ("Black", record.second or "?"),
        ("Result", result),
    ]
    more = (
        ("WhiteElo", record.first_rating),
        ("BlackElo", record.second_rating),
        ("TimeControl", record.time_control),
        ("Opening", record.opening),
        ("Variant", "Chess960" if record.rules == "chess960" else ""),
        ("Termination", _PGN_TERMINATION.get(record.ending, "")),
    )
    tags += [(name, text) for name, text in more if text]
    if record.start:
        tags += [("SetUp", "1"), ("FEN", record.start)]
    escaped = ((name, text.replace("\\", "\\\\").replace('"', '\\"')) for name, text in tags)
    head = "".join(f'[{name} "{text}"]\n' for name, text in escaped)
    remarks = _by_ply(record)
    offset = 0
    if record.start:
        fields = record.position(0).text.split()
        offset = 2 * (int(fields[5]) - 1) + (fields[1] == "b")
    words = []
    numbered = True
    for i, san in enumerate(record.move_texts("san")):
        number, black = divmod(i + offset, 2)
        if not black:
            words.append(f"{number + 1}.")
        elif numbered:
            words.append(f"{number + 1}...")
        words.append(san)
        numbered = (i + 1) in remarks
        if numbered:
            words.append(f"{{{_commands(remarks[i + 1], pawns=True)}}}")
    words.append(result)
    body = textwrap.fill(" ".join(words), width=100, break_long_words=False, break_on_hyphens=False)
    return f"{head}\n{body}\n\n"


# CSA and KIF


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


def _csa(record: Record) -> str:
    lines = ["V2.2"]
    headers = (
        ("N+", record.first),
        ("N-", record.second),
        ("$EVENT:", record.event),
        ("$SITE:", record.place),
        ("$START_TIME:", record.date.replace("-", "/")),
        ("$TIME_LIMIT:", record.time_control),
        ("$OPENING:", record.opening),
        ("'round:", record.round),
        ("'black_rate:", record.first_rating),
        ("'white_rate:", record.second_rating),
    )
    lines += [f"{name}{text}" for name, text in headers if text]
    if record.handicap:
        lines.append(f"'handicap:{record.handicap}")
    lines += _csa_set_up(record)
    remarks = _by_ply(record)
    first_begins = record.start == "" or _first_to_play(record)
    for i, move in enumerate(record.move_texts("csa"), 1):
        lines.append(move)
        if (remark := remarks.get(i)) is None:
            continue
        if remark.spent_s is not None:
            lines.append(f"T{_number(remark.spent_s)}")
        if remark.score is not None:
            lines.append(f"'** {_number(remark.score)}")
        # What stands in `'**` is the mover's, unless a command adds another's value.
        only_score = remark.score is not None and remark.value is None and remark.mate is None
        mover = "first" if (i % 2 == 1) == first_begins else "second"
        rest = _commands(
            remark,
            pawns=False,
            without=frozenset({"spent", "score"}),
            implied=mover if only_score else None,
        )
        if rest:
            lines.append(f"'{rest}")
    lines += _csa_end(record)
    return "\n".join(lines) + "\n"


_KIF_PIECES: Final = (
    "歩",
    "香",
    "桂",
    "銀",
    "角",
    "飛",
    "金",
    "玉",
    "と",
    "杏",
    "圭",
    "全",
    "馬",
    "龍",
)
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
    """The name of the start; None if it has none, or is no handicap by the record's own words."""
    if not record.start:
        return "平手"
    kind = cast("type[ShogiPosition]", game_type(record.game))
    for name, (pieces, words) in _KIF_HANDICAPS.items():
        if record.handicap == pieces and record.start == kind(handicap=name).text:
            return words
    return None


def _kif_player(side: str, name: str, rating: str) -> Iterator[str]:
    """A player's name, with the rank behind it if it is one; any other rating has its own line."""
    is_rank = rating.endswith(("段", "級"))
    bare = not rating or not is_rank or name.endswith(rating)
    yield f"{side}：{name if bare else f'{name} {rating}'.strip()}"
    if rating and not is_rank:
        yield f"{side}段級：{rating}"


def _kif_end(record: Record) -> str | None:
    """The word that ends the game; None if there is none for it."""
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


def _kif(record: Record) -> str:
    lines = ["#KIF version=2.0 encoding=UTF-8"]
    headers = (
        ("開始日時", record.date.replace("-", "/")),
        ("棋戦", record.event),
        ("場所", record.place),
        ("持ち時間", record.time_control),
        ("戦型", record.opening),
    )
    lines += [f"{name}：{text}" for name, text in headers if text]
    handicap = _kif_handicap(record)
    lines += _kif_board(record) if handicap is None else [f"手合割：{handicap}"]
    lines += _kif_player("先手", record.first, record.first_rating)
    lines += _kif_player("後手", record.second, record.second_rating)
    lines.append("手数----指手---------消費時間--")
    remarks = _by_ply(record)
    totals = [0.0, 0.0]
    # Times that are all zero are taken for none by programs that read KIF.
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
            rest = _commands(
                remark, pawns=False, without=frozenset({"spent"} if in_seconds else ())
            )
            if rest:
                lines.append(f"*{rest}")
    if (end := _kif_end(record)) is not None:
        lines.append(f"{len(record) + 1:4} {end}")
    elif record.result is not None:
        winner = "先手" if record.result == 1 else "後手"
        lines.append(f"まで{len(record)}手で{winner}の勝ち")
    return "\n".join(lines) + "\n"


# Lines of moves


def _line(record: Record) -> str:
    facts = game_facts(record.game)
    if facts.line_style == "transcript":
        return "".join(move for move in record.move_texts() if move != "pass") + "\n"
    if facts.line_style == "codes":
        return " ".join(record.move_texts("code")) + "\n"
    start = f"{facts.start_word} {record.start}" if record.start else "startpos"
    return " ".join([start, "moves", *record.move_texts()]) + "\n"


WRITERS: Final[dict[str, Callable[[Record], str]]] = {
    "sgf": _sgf,
    "pgn": _pgn,
    "csa": _csa,
    "kif": _kif,
    "lines": _line,
}
_SUFFIXES: Final = {
    ".sgf": "sgf",
    ".blksgf": "sgf",
    ".pgn": "pgn",
    ".csa": "csa",
    ".kif": "kif",
    ".kifu": "kif",
    ".usi": "lines",
    ".sfen": "lines",
    ".txt": "lines",
}
_SEPARATORS: Final = {"csa": "/\n"}


def record_text(record: Record, format: str) -> str:
    """The record in a format of `WRITERS`; what the format has no words for is left out.

    >>> import hyoka as hk
    >>> [game] = hk.parse_records("1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0")
    >>> print(hk.record_text(game, "lines"), end="")
    startpos moves e2e4 e7e5 d1h5 e8e7 h5e5
    """
    if format not in WRITERS:
        raise NotationError(f"no writer for '{format}'; there are {', '.join(WRITERS)}")
    if not isinstance(record, Record):
        raise NotationError(
            f"a {type(record).__name__} is no Record; games written in Python have no notation: "
            "PythonLine's text holds the moves of one, and PythonLine.read reads it"
        )
    if format not in game_facts(record.game).notations:
        words = "lines of moves are" if format == "lines" else f"{format.upper()} is"
        raise NotationError(f"{words} not written for {record.game}")
    return WRITERS[format](_plain(record))


def format_of_path(path: Path) -> str:
    """The format that a file's name asks for."""
    if path.suffix.lower() not in _SUFFIXES:
        known = ", ".join(_SUFFIXES)
        raise NotationError(f"{path.name}: what format? Known endings are {known}")
    return _SUFFIXES[path.suffix.lower()]


def write_records(records: Iterable[Record], path: str | Path, *, format: str | None = None) -> int:
    """Write records to one file, whole or not at all, and give how many.

    The format is told by the name (`.sgf`, `.pgn`, `.csa`, `.kif`, `.usi`) unless given.
    """
    path = Path(path)
    wanted = format or format_of_path(path)
    texts = [record_text(record, wanted) for record in records]
    between = _SEPARATORS.get(wanted, "")
    joined = itertools.chain.from_iterable(
        (between, text) if i else (text,) for i, text in enumerate(texts)
    )
    write_text(path, "".join(joined))
    return len(texts)
