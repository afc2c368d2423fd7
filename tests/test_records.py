"""Game records: what is written is read back, and what is wrong is named with its place."""

from __future__ import annotations

import pickle
from functools import cache
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vectors import GAME_SETS, games

from skift_env.position import IllegalActionError, Position
from skift_env.records import (
    TERMINATIONS,
    WIDTH,
    Game,
    RecordError,
    format_game,
    format_games,
    parse_game,
    parse_games,
    read_games,
    write_games,
)

START = Position.start()
# The king pushes black's last pawn off the edge with c4e.
WON_IN_ONE = Position.parse("..Kp/..k./.P../.... w - 40")
BLACK_FIRST = Position.parse("....../.PpPp./.pKkP./.PkKp./.pPpP./...... b - 7")


def played(*moves: str, start: Position = START) -> tuple[int, ...]:
    """The action numbers of moves in notation."""
    actions = []
    for move in moves:
        actions.append(start.parse_action(move))
        start = start.play(actions[-1])
    return tuple(actions)


@cache
def vector_games() -> list[tuple[Game, str]]:
    """Games from the test vectors that ended by the rules, and who won."""
    return [
        (Game(Position.parse(plies[0]["position"]), tuple(p["action"] for p in plies[:-1])), winner)
        for name in GAME_SETS
        for plies in games(name)[:15]
        if (winner := plies[-1]["result"])
    ]


# --- Games -------------------------------------------------------------------------------------


def test_positions_moves_and_result_are_those_of_the_vectors() -> None:
    results = {"white": ("1-0", 1.0), "black": ("0-1", 0.0), "draw": ("1/2-1/2", 0.5)}
    for name in GAME_SETS:
        plies = games(name)[0]
        game = Game(START, tuple(ply["action"] for ply in plies[:-1]))
        assert [position.text for position in game.positions()] == [p["position"] for p in plies]
        assert list(game.moves) == [ply["move"] for ply in plies[:-1]]
        assert (game.result, game.score) == results[plies[-1]["result"]]


@pytest.mark.parametrize(
    ("termination", "result"),
    [
        ("ply limit", "1/2-1/2"),
        ("illegal move", "1-0"),  # black was to move
        ("crash", "1-0"),
        ("overrun", "1-0"),
        ("resignation", "1-0"),
        ("unfinished", "*"),
    ],
)
def test_a_game_that_the_rules_did_not_end(termination, result) -> None:
    game = Game(START, played("d3s"), termination)
    assert game.result == result
    assert parse_game(format_game(game)) == game


@pytest.mark.parametrize("termination", [t for t in TERMINATIONS if t != "normal"])
def test_a_finished_game_has_no_other_termination(termination) -> None:
    actions = played("c4e", start=WON_IN_ONE)
    assert Game(WON_IN_ONE, actions).result == "1-0"
    with pytest.raises(ValueError, match="black has no pawn left"):
        Game(WON_IN_ONE, actions, termination)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"actions": (0,)}, "illegal action 0"),
        ({"termination": "normal"}, "goes on"),
        ({"termination": "boredom"}, "'boredom' is none of"),
        ({"tags": {"Result": "1-0"}}, "tag 'Result'"),
        ({"tags": {"a b": ""}}, "tag 'a b'"),
        ({"comments": {2: "late"}}, "'late' at 2"),
        ({"comments": {0: ""}}, "'' at 0"),
    ],
)
def test_a_game_that_cannot_be(changes, message) -> None:
    good = {"actions": played("d3s"), "termination": "unfinished"}
    with pytest.raises(ValueError, match=message):
        Game(START, **(good | changes))


def test_an_illegal_action_names_the_rule() -> None:
    with pytest.raises(IllegalActionError, match="no piece stands there"):
        Game(START, (0,), "unfinished")


# --- Writing and reading -----------------------------------------------------------------------


def test_a_record_reads_like_a_score_sheet() -> None:
    game = Game(
        START,
        played("d3s", "c3ne", "A3r"),
        "resignation",
        {"White": "a", "Black": 'the "b"'},
        {0: "off we go", 2: "why?\nwhy"},
    )
    assert format_game(game) == dedent(r"""
        [White "a"]
        [Black "the \"b\""]
        [Result "1-0"]
        [Termination "resignation"]
        [Plies "3"]

        {off we go} 1. d3s c3ne {why?\nwhy} 2. A3r 1-0
        """).lstrip("\n")


def test_a_record_that_starts_with_black() -> None:
    game = Game(BLACK_FIRST, played("d4n", "c4nw", "c3s", start=BLACK_FIRST), "unfinished")
    *_, moves = format_game(game).splitlines()
    assert moves == "1... d4n 2. c4nw c3s *"
    assert f'[Position "{BLACK_FIRST.text}"]' in format_game(game)
    assert parse_game(format_game(game)) == game


def test_games_of_the_vectors_come_back() -> None:
    originals = [game for game, _ in vector_games()]
    text = format_games(originals)
    assert len(originals) > 20
    assert parse_games(text) == originals
    assert max(map(len, text.splitlines())) <= WIDTH


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@settings(max_examples=50, deadline=None)
@given(
    number=st.integers(0, 20),
    tags=st.dictionaries(st.from_regex("[A-Z][a-z_0-9]{4}", fullmatch=True), texts, max_size=3),
    comments=st.dictionaries(st.integers(0, 20), texts.filter(bool), max_size=4),
)
def test_any_tags_and_comments_come_back(number, tags, comments) -> None:
    whole, _ = vector_games()[number]
    comments = {ply: text for ply, text in comments.items() if ply <= len(whole.actions)}
    game = Game(whole.start, whole.actions, "normal", tags, comments)
    text = format_games([game, game])
    assert parse_games(text) == [game, game]
    assert format_games(parse_games(text)) == text


def test_what_may_be_left_out_and_how_it_may_be_laid_out() -> None:
    bare = Game(START, played("d3s", "c3ne"), "unfinished")
    for text in (
        "d3s c3ne *",
        "1.d3s 1... c3ne *",
        "1. d3s\n\n\tc3ne\n*\n\n",
        '[Result "*"]1. d3s c3ne *',
        "1. d3s {} c3ne *",
    ):
        assert parse_games(text) == [bare], text
    assert parse_games('d3s c3ne * d3s c3ne *[White "a"]*')[:2] == [bare, bare]
    assert parse_games(" \n") == []
    assert parse_game("{a} {b} *").comments == {0: "a b"}
    won = Game(WON_IN_ONE, played("c4e", start=WON_IN_ONE))
    assert parse_game(f'[Position "{WON_IN_ONE.text}"] c4e 1-0') == won


def test_files(tmp_path) -> None:
    file = tmp_path / "games.txt"
    originals = [game for game, _ in vector_games()[:3]]
    originals.append(Game(START, (), "unfinished", {"White": "Łukasz"}, {0: "a\r\nb\x0bc"}))
    write_games(file, originals[:2])
    write_games(file, originals[2:], append=True)
    assert read_games(file) == originals
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    assert read_games(file) == originals
    file.write_bytes(b"{\n a\xff } *")
    with pytest.raises(RecordError, match=r"^line 2, column 3: not UTF-8"):
        read_games(file)


# --- Faults ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "column", "fault"),
    [
        ("1. d3s\nc3ne", 2, 5, "expected a move, a comment in braces, or the game's result"),
        ('[White "a"]', 1, 12, "expected a move"),
        ('[White "a]\n*', 1, 1, "expected a tag"),
        ("[White a]\n*", 1, 1, "expected a tag"),
        ('[White "a\nb"]\n*', 1, 1, "expected a tag"),
        ('[White "a"]\n[White "b"] *', 2, 1, "a second tag White"),
        ('[White "\\a"] *', 1, 9, r"unknown escape \\a"),
        ("d3s {\\x} *", 1, 6, r"unknown escape \\x"),
        ("d3s\n {never closed *", 2, 2, "without its closing brace"),
        ('[Position "x"] *', 1, 12, "tag Position: fields"),
        ("1. d3s zz 1-0", 1, 8, "'zz' is not an action"),
        ("1. d3s\n\n   a6r *", 3, 4, "'a6r' is not an action"),
        ("1. c9n *", 1, 4, "there is no square c9"),
        ("1. a1n *", 1, 4, "illegal action .*no piece stands there"),
        ("1. d3s d3n *", 1, 8, "illegal action"),
        ("1. d3s 2. c3ne *", 1, 8, r"number 2\., but black's move here is 1\.\.\."),
        ("2. d3s *", 1, 1, r"number 2\., but white's move here is 1\."),
        ("d3s (c3ne) *", 1, 5, "'.c3ne.' is not an action"),
        ("d3s } *", 1, 5, "expected a move"),
        ("d3s 1-0", 1, 5, r"result 1-0, but the game makes it \* \(termination unfinished"),
        ('d3s [White "a"] *', 1, 5, "expected a move"),
        ('[Termination "normal"]\nd3s *', 1, 15, "'normal', but the game goes on"),
        ('[Termination "nap"]\nd3s *', 1, 15, "'nap' is none of"),
        ('[Termination "crash"]\nd3s 0-1', 2, 5, "result 0-1, but the game makes it 1-0"),
        ('[Result "1-0"]\nd3s *', 1, 10, r"tag Result: '1-0' should be '\*'"),
        ('[Plies "2"]\nd3s *', 1, 9, "tag Plies: '2' should be '1'"),
        (f'[Position "{WON_IN_ONE.text}"]\nc4e 0-1', 2, 5, "the game makes it 1-0"),
        (f'[Position "{WON_IN_ONE.text}"]\nc4e c3n 1-0', 2, 5, "the game is over"),
        (f'[Termination "crash"][Position "{WON_IN_ONE.text}"]\nc4e 1-0', 1, 15, "game is over"),
    ],
)
def test_malformed_records_name_line_and_column(text, line, column, fault) -> None:
    good = "d3s *\n\n"
    for before in ("", good):
        with pytest.raises(RecordError, match=fault) as caught:
            parse_games(before + text)
        error = caught.value
        assert (error.line, error.column) == (line + before.count("\n"), column)
        assert str(error).startswith(f"line {error.line}, column {error.column}: ")


def test_one_game_is_one_game() -> None:
    with pytest.raises(RecordError, match=r"^line 2, column 1: expected one game"):
        parse_game("*\n*")
    with pytest.raises(RecordError, match=r"^line 1, column 1: expected a move"):
        parse_game("")


def test_errors_pickle() -> None:
    error = RecordError(3, 7, "what is wrong")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
