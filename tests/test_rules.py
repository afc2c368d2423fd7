"""Every rule, and every reading of a rule, on a small position drawn by hand."""

from __future__ import annotations

import numpy as np
import pytest
from drawn import allows, drawn, legal, play, rows

from skift_env.actions import PieceMove, TileMove, encode
from skift_env.position import IllegalActionError, Mark, Position, PositionError

# --- 1. Board and set-up -----------------------------------------------------------------------


def test_start() -> None:
    start = Position.start()
    assert start.board == rows("""
        .. .. ..
        .P pP p.

        .p Kk P.
        .P kK p.

        .p Pp P.
        .. .. ..
    """)
    assert (start.side, start.ply, start.mark, start.outcome) == ("white", 0, None, None)
    pieces = {f"{square}{step}" for square in ("b5", "d5", "c4", "e4", "b3", "d3", "c2", "e2")
              for step in ("n", "ne", "e", "se", "s", "sw", "w", "nw")}  # fmt: skip
    tiles = {f"{tile}{turn}" for tile in ("A3", "C1") for turn in "nesw" + "r"}
    assert legal(start) == pieces | tiles
    assert len(start.legal_actions) == 74


def test_opening_king_move_of_the_rules_page() -> None:
    after = play(Position.start(), "c4s")
    assert after.board == rows("""
        .. .. ..
        .P pP p.

        .p .k P.
        .P KK p.

        .p kp P.
        .. P. ..
    """)
    assert after.control[2, 1] == "black"
    assert after.side == "black"


def test_nine_tiles_on_a_diagonal_span_nine_cells() -> None:
    diagonal = [["__"] * 9 for _ in range(18)]
    for row in range(18):
        diagonal[row][row // 2] = ".."
    diagonal[0][0], diagonal[17][8] = "KP", "kp"
    position = drawn("\n".join(map("".join, diagonal)))
    assert position.parse_action("r1n") == encode(PieceMove(8, 3, 0))
    planes = position.observation("planes")
    assert planes[4].sum() == 36
    assert planes[[0, 1, 2, 3], [0, 0, 17, 17], [0, 1, 16, 17]].all()


def test_the_frame_grows_with_a_tile_that_leaves_the_box() -> None:
    before = drawn("""
        K. ..
        .P kp
    """)
    assert play(before, "A1n").board == rows("""
        K. __
        .P __

        __ ..
        __ kp
    """)


def test_the_frame_shrinks_with_a_tile_that_is_lost() -> None:
    before = drawn("""
        .. __ __
        PP __ __

        __ kp ..
        __ .. K.

        __ __ ..
        __ __ .P
    """)
    assert play(before, "A3w").board == rows("""
        kp ..
        .. K.

        __ ..
        __ .P
    """)


# --- 2. Piece moves ----------------------------------------------------------------------------


def test_a_piece_steps_in_eight_directions_even_off_the_board() -> None:
    position = drawn("""
        K. .p
        .P k.
    """)
    for square in ("a2", "b1"):
        steps = {f"{square}{step}" for step in ("n", "ne", "e", "se", "s", "sw", "w", "nw")}
        assert legal(position, square) == steps


@pytest.mark.parametrize(
    ("direction", "row", "column"),
    [
        ("n", 1, 2), ("ne", 1, 3), ("e", 2, 3), ("se", 3, 3),
        ("s", 3, 2), ("sw", 3, 1), ("w", 2, 1), ("nw", 1, 1),
    ],
)  # fmt: skip
def test_a_step_goes_one_quadrant(direction: str, row: int, column: int) -> None:
    before = drawn("""
        .. .. k.
        .. .. .p

        .. K. ..
        .. .. P.
    """)
    after = play(before, f"c2{direction}")
    assert after.board[row][column] == "K"
    assert sum(line.count(".") for line in after.board) == 20
    assert (after.side, after.ply) == ("black", 21)


def test_an_empty_quadrant_ends_the_push() -> None:
    before = drawn("""
        KP .p .p
        k. .. ..
    """)
    assert play(before, "a2e").board == rows("""
        .K Pp .p
        k. .. ..
    """)


def test_a_line_of_both_colours_is_pushed_and_its_last_falls_off() -> None:
    before = drawn("""
        Kp Pk
        pk .P
    """)
    after = play(before, "a2e")
    assert after.board == rows("""
        .K pP
        pk .P
    """)
    assert after.mark == Mark("p", "e", squares=((0, 1), (0, 2), (0, 3)))
    assert after.outcome is None


def test_a_piece_falls_into_a_gap_between_tiles() -> None:
    before = drawn("""
        .. .. __ .p
        K. Pp __ k.
        .. .. .. ..
        .. .. .. ..
    """)
    assert play(before, "c3e").board == rows("""
        .. .. __ .p
        K. .P __ k.
        .. .. .. ..
        .. .. .. ..
    """)


def test_a_step_goes_corner_to_corner() -> None:
    before = drawn("""
        K. __
        .P __

        __ k.
        __ p.
    """)
    after = play(before, "b3se")
    assert after.board == rows("""
        K. __
        .. __

        __ P.
        __ pk
    """)
    assert after.mark == Mark("p", "se", squares=((2, 2), (3, 3)))


def test_a_diagonal_step_needs_no_tile_beside_it() -> None:
    before = drawn("""
        __ p. K.
        __ P. k.

        .. __ __
        .. __ __
    """)
    assert play(before, "c3sw").board == rows("""
        __ p. K.
        __ .. k.

        .P __ __
        .. __ __
    """)


def test_suicide_by_piece() -> None:
    before = drawn("""
        K. __
        KP __

        __ k.
        __ p.
    """)
    after = play(before, "a4w")
    assert after.board == rows("""
        .. __
        KP __

        __ k.
        __ p.
    """)
    assert after.mark is None


# --- 2. Tile control ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tile", "controller"),
    [
        ("../..", None),
        ("P./..", "white"),
        (".p/..", "black"),
        ("Pp/..", None),
        ("Pp/p.", "black"),
        ("K./..", "white"),
        ("Kp/pp", "white"),  # kings count first
        ("kP/PP", "black"),
        ("Kk/..", None),
        ("Kk/P.", "white"),  # equal kings: all pieces
        ("KP/kp", None),
        ("KK/kP", "white"),
        ("KK/kk", None),
        ("Kp/kk", "black"),
    ],
)
def test_control(tile: str, controller: str | None) -> None:
    position = Position.parse(f"{tile} w - 0")
    assert position.control == ({(0, 0): controller} if controller else {})


def test_only_a_controlled_tile_moves_or_turns() -> None:
    position = drawn("""
        K. Pp k.
        .. .. pP
    """)
    assert legal(position, "A") >= {"A1n", "A1e", "A1s", "A1r"}
    assert legal(position, "B") == set()
    assert legal(position, "C") == set()


# --- 2. Tile moves and rotations ---------------------------------------------------------------


def test_a_tile_pushes_the_line_of_tiles_ahead_with_the_pieces_on_them() -> None:
    before = drawn("""
        K. .p __ ..
        .P k. __ P.

        .. .. .. ..
        .. .. .. ..
    """)
    after = play(before, "A2e")
    assert after.board == rows("""
        __ K. .p ..
        __ .P k. P.

        .. .. .. ..
        .. .. .. ..
    """)
    assert after.mark == Mark("t", "e", tiles=((0, 1), (0, 2)))


def test_a_rotation_is_a_half_turn() -> None:
    before = drawn("""
        KP k.
        p. .P
    """)
    after = play(before, "A1r")
    assert after.board == rows("""
        .p k.
        PK .P
    """)
    assert after.mark is None


LANDLOCKED = """
    __ .. __
    __ .. __

    .. KP ..
    .. .. ..

    __ kp __
    __ .. __
"""


def test_a_landlocked_tile_may_not_be_chosen() -> None:
    assert legal(drawn(LANDLOCKED), "B2") == set()


def test_three_sides_or_four_corners_do_not_landlock() -> None:
    corners = drawn("""
        .. __ ..
        .. __ ..

        __ KP __
        __ kp __

        .. __ ..
        .. __ K.
    """)
    three_sides = drawn("""
        __ .. __
        __ .. __

        .. KP kp
        .. .. ..
    """)
    assert not corners.observation("planes")[7].any()
    assert legal(corners, "B2") == set()  # equal control
    assert not three_sides.observation("planes")[7].any()
    assert legal(three_sides, "B1") >= {"B1n", "B1e", "B1s", "B1w", "B1r"}


def test_a_landlocked_tile_may_be_pushed() -> None:
    after = play(drawn(LANDLOCKED, "b"), "B1n")
    assert after.board == rows("""
        __ .. __
        __ .. __

        __ KP __
        __ .. __

        .. kp ..
        .. .. ..
    """)
    assert after.mark == Mark("t", "n", tiles=((0, 1), (1, 1), (2, 1)))


# --- 3. Splintering ----------------------------------------------------------------------------


def test_tiles_hold_together_by_corners() -> None:
    before = drawn("""
        K. kp
        .P ..
    """)
    assert legal(before, "A1n") == {"A1n"}
    assert len(play(before, "A1n").board) == 4


def test_the_largest_group_stays_without_the_chosen_tile() -> None:
    before = drawn("""
        KP .. P.
        .p .k P.
    """)
    assert legal(before, "C1e") == {"C1e"}
    after = play(before, "C1e")  # suicide by tile
    assert after.board == rows("""
        KP ..
        .p .k
    """)
    assert after.outcome is None


def test_the_largest_group_stays_with_the_chosen_tile() -> None:
    before = drawn("""
        .p KP k.
        .. .. p.
    """)
    assert legal(before, "B1e") == {"B1e"}
    assert play(before, "B1e").board == rows("""
        KP k.
        .. p.
    """)


def test_a_group_that_holds_together_by_corners_may_be_the_largest() -> None:
    before = drawn("""
        K. __ __ ..
        .p __ __ ..

        __ .P P. __
        __ .. .. __

        __ __ __ k.
        __ __ __ p.
    """)
    # B2 joins A3 by a side; the other three hold together by corners alone.
    assert legal(before, "B2w") == {"B2w"}
    assert play(before, "B2w").board == rows("""
        __ ..
        __ ..

        P. __
        .. __

        __ k.
        __ p.
    """)


def test_two_groups_tie_and_that_of_the_chosen_tile_comes_first() -> None:
    before = drawn("""
        k. .K
        p. P.
    """)
    assert legal(before, "B1e") == {"B1e", "B1e=1"}
    assert play(before, "B1e").board == (".K", "P.")
    assert play(before, "B1e=1").board == ("k.", "p.")


def test_three_groups_tie_the_chosen_tile_first_then_in_reading_order() -> None:
    before = drawn("""
        K. __ k.
        .P __ .p

        __ PP __
        __ p. __
    """)
    assert legal(before, "B1s") == {"B1s", "B1s=1", "B1s=2"}
    assert play(before, "B1s").board == ("PP", "p.")
    assert play(before, "B1s=1").board == ("K.", ".P")
    assert play(before, "B1s=2").board == ("k.", ".p")


def test_tied_groups_without_the_chosen_tile_go_in_reading_order() -> None:
    before = drawn("""
        Kp .. __ k. .P
        .. .. __ .p ..

        __ __ P. __ __
        __ __ .. __ __
    """)
    assert legal(before, "C1s") == {"C1s", "C1s=1"}
    assert play(before, "C1s").board == ("Kp..", "....")
    assert play(before, "C1s=1").board == ("k..P", ".p..")


def test_the_pushed_line_is_lost_whole() -> None:
    before = drawn("""
        __ p. K.
        __ .. ..

        KP __ __
        .. __ __

        kp __ __
        .. __ __

        P. __ __
        .. __ __
    """, "b")  # fmt: skip
    after = play(before, "B4e")
    assert after.board == ("KP", "..", "kp", "..", "P.", "..")
    assert after.mark is None


# --- 4. No undo: pieces ------------------------------------------------------------------------


def test_a_piece_may_not_be_put_back() -> None:
    before = drawn("""
        K. k.
        P. .p
    """, "b")  # fmt: skip
    after = play(before, "c2w")
    assert after.mark == Mark("p", "w", squares=((0, 1),))
    assert legal(after, "a2") == {f"a2{d}" for d in ("n", "ne", "se", "s", "sw", "w", "nw")}
    assert len(legal(after, "a1")) == 8


def test_a_pushed_piece_may_not_be_put_back() -> None:
    before = drawn("""
        Kp ..
        .P k.
    """, "b")  # fmt: skip
    after = play(before, "c1w")
    assert after.mark == Mark("p", "w", squares=((1, 0), (1, 1)))
    assert not allows(after, "a1e")


def test_a_piece_beyond_may_not_push_one_back() -> None:
    before = drawn("""
        P. KP .k
        .. p. ..
    """, "b")  # fmt: skip
    after = play(before, "f2w")
    assert after.board[0] == "P.KPk."
    assert not allows(after, "d2e")
    assert not allows(after, "c2e")  # two quadrants away, but it pushes all of the line
    assert allows(after, "a2e")  # a gap between


def test_a_diagonal_step_may_not_be_pushed_back() -> None:
    before = drawn("""
        p. .k
        .. ..

        .P ..
        K. ..
    """, "b")  # fmt: skip
    after = play(before, "d4sw")
    assert after.board[1] == "..k."
    assert not allows(after, "b2ne")
    assert not allows(after, "a1ne")


def test_what_fell_off_is_not_remembered() -> None:
    before = drawn("""
        Pk Kp
        .P ..
    """, "b")  # fmt: skip
    assert play(before, "b2w").mark == Mark("p", "w", squares=((0, 0),))


def test_no_rotation_may_undo_a_diagonal_step() -> None:
    before = drawn("""
        Kk .P
        .K p.
    """, "b")  # fmt: skip
    after = play(before, "b2sw")
    assert after.control[0, 0] == "white"
    assert legal(after, "A") == {"A1n", "A1e", "A1s", "A1w", "A1w=1"}


def test_no_rotation_may_put_a_pushed_piece_back() -> None:
    before = drawn("""
        __ K.
        __ PK

        pk __
        P. __
    """, "b")  # fmt: skip
    after = play(before, "b2ne")
    assert after.board == rows("""
        __ KP
        __ kK

        p. __
        P. __
    """)
    assert after.control[0, 1] == "white"
    assert not allows(after, "B2r")  # it would take the pawn from d4 back to c3
    assert allows(after, "B2n")
    assert not allows(after, "d4sw")


def test_a_rotation_may_follow_a_straight_step() -> None:
    before = drawn("""
        Kk .P
        K. p.
    """, "b")  # fmt: skip
    assert allows(play(before, "b2s"), "A1r")


def test_a_rotation_may_follow_a_diagonal_step_from_another_tile() -> None:
    before = drawn("""
        K. .P
        K. kp
    """, "b")  # fmt: skip
    after = play(before, "c1nw")
    assert after.board == ("Kk.P", "K..p")
    assert allows(after, "A1r")


def test_another_piece_of_the_kind_may_enter_the_quadrant_by_a_rotation() -> None:
    before = drawn("""
        .p .k
        pK .P
    """, "b")  # fmt: skip
    assert play(before, "b2w", "A1r").board == rows("""
        Kp .k
        .p .P
    """)


def test_another_piece_of_the_kind_may_be_pushed_into_the_quadrant() -> None:
    before = drawn("""
        .p .k
        .p ..

        .K ..
        P. ..
    """, "b")  # fmt: skip
    assert play(before, "b4w", "b2n").board == rows("""
        pp .k
        .K ..

        .. ..
        P. ..
    """)


def test_a_piece_mark_lasts_one_turn() -> None:
    before = drawn("""
        K. k.
        P. .p
    """, "b")  # fmt: skip
    once = play(before, "c2w")
    assert not allows(once, "a2e")
    assert allows(play(once, "a1e", "d1w"), "a2e")


def test_a_piece_mark_vanishes_with_its_pieces() -> None:
    before = drawn("""
        kp ..
        .k KP
    """, "b")  # fmt: skip
    after = play(before, "a2w")
    assert after.mark is None
    assert after == drawn("""
        .p ..
        .k KP
    """, "w", "-", 21)  # fmt: skip


# --- 4. No undo: tiles -------------------------------------------------------------------------

PUSHED = """
    kp KP __ PP
    .. .. __ ..

    __ .. .. P.
    __ .. .. ..
"""


def test_a_pushed_tile_may_not_be_put_back() -> None:
    after = play(drawn(PUSHED, "b"), "A2e")
    assert after.board == rows("""
        kp KP PP
        .. .. ..

        .. .. P.
        .. .. ..
    """)
    assert after.mark == Mark("t", "e", tiles=((0, 0), (0, 1)))
    assert legal(after, "B") == {"B2n", "B2e", "B2s", "B2r"}


def test_a_tile_beyond_may_not_push_one_back() -> None:
    after = play(drawn(PUSHED, "b"), "A2e")
    assert legal(after, "C2") == {"C2n", "C2e", "C2s", "C2r"}


def test_other_tiles_may_move_back() -> None:
    after = play(drawn(PUSHED, "b"), "A2e")
    assert allows(after, "C1w")


def test_a_tile_mark_leaves_pieces_free() -> None:
    after = play(drawn(PUSHED, "b"), "A2e")
    assert len(legal(after, "c4")) == len(legal(after, "d4")) == 8


def test_a_row_that_moved_as_a_whole_may_not_move_back() -> None:
    before = drawn("""
        kp .. KP
        .. .. ..
    """, "b")  # fmt: skip
    after = play(before, "A1e")
    assert after.board == before.board
    assert after.mark == Mark("t", "e", tiles=((0, 0), (0, 1), (0, 2)))
    assert legal(after, "C") == {"C1n", "C1e", "C1s", "C1r"}


def test_a_tile_may_not_move_back_even_to_be_lost() -> None:
    before = drawn("""
        kp KP .. k. .P
        .. .. .. p. ..
    """, "b")  # fmt: skip
    free = drawn("\n".join(before.board))
    assert play(free, "B1w").board == rows("""
        .. k. .P
        .. p. ..
    """)
    assert legal(play(before, "A1e"), "B") == {"B1n", "B1e", "B1s", "B1r"}


def test_a_tile_mark_lasts_one_turn() -> None:
    before = drawn("""
        kp .. KP
        .. .. ..
    """, "b")  # fmt: skip
    once = play(before, "A1e")
    assert not allows(once, "C1w")
    assert allows(play(once, "e2s", "a2s"), "C1w")


def test_a_tile_mark_vanishes_with_its_tiles() -> None:
    before = drawn("""
        KP kp p.
        .. .K ..
    """, "b")  # fmt: skip
    after = play(before, "C1e")
    assert after == drawn("""
        KP kp
        .. .K
    """, "w", "-", 21)  # fmt: skip
    assert legal(after, "A1w") == {"A1w", "A1w=1"}


def test_nothing_is_forbidden_after_a_rotation() -> None:
    before = drawn("""
        K. kp
        .P k.
    """, "b")  # fmt: skip
    after = play(before, "B1r")
    assert after == drawn("""
        K. .k
        .P pk
    """, "w", "-", 21)  # fmt: skip
    assert len(legal(after, "a2")) == len(legal(after, "b1")) == 8


def test_no_mark_tells_of_a_landlocked_tile_that_moved() -> None:
    after = """
        __ .. __
        __ .. __

        __ kp __
        __ .. __

        .. __ ..
        .. __ ..

        __ KP __
        __ .. __
    """
    with pytest.raises(PositionError, match=r"^mark: .*landlocked"):
        drawn(after, "w", "t:n:B4,B3")
    three_sides = "\n".join(line[:4] for line in rows(after))
    assert drawn(three_sides, "w", "t:n:B4,B3").mark == Mark("t", "n", tiles=((0, 1), (1, 1)))


# --- 5. End of the game ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("board", "move", "winner", "reason"),
    [
        ("..Kk/Pp..", "c2e", "white", "black has no king left"),
        ("..Kp/Pk..", "c2e", "white", "black has no pawn left"),
        ("..pK/Pk..", "d2e", "black", "white has no king left"),  # it runs itself out
        ("..kP/pK..", "d2n", "black", "white has no pawn left"),
        ("KPkp/....", "A1w=1", "black", "white has no piece left"),
        ("KKk.PP/....p.", "C1e", "white", "white has more pieces"),  # both have run out
        ("K.kkPP/....p.", "C1e", "black", "black has more pieces"),
        ("K.k.PP/....p.", "C1e", "draw", "equal pieces"),
        ("K.ppKP/..p.k.", "C1e", "black", "black has more pieces"),
    ],
)
def test_end(board: str, move: str, winner: str, reason: str) -> None:
    before = Position.parse(f"{board} w - 7")
    assert before.outcome is None
    after = play(before, move)
    assert after.outcome is not None
    assert (after.outcome.winner or "draw") == winner
    assert after.outcome.reason.endswith(reason)
    assert after.legal_actions == ()
    assert not after.action_mask.any()


def test_who_ran_out_of_what() -> None:
    outcome = play(Position.parse("K.ppKP/..p.k. w - 7"), "C1e").outcome
    assert outcome is not None
    assert outcome.reason == (
        "white has no pawn left, black has no king left, black has more pieces"
    )


# --- What is said of an action -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("board", "side", "moves", "forbidden", "rule"),
    [
        ("K.Pp/..k.", "w", [], "b2n", "no piece"),
        ("K.Pp/..k.", "w", [], "c1n", "not white's"),
        ("K.k./P..p", "b", ["c2w"], "a2e", "no undo: .* piece back"),
        ("K.Pp/..k.", "w", [], "B1n", "white does not control"),
        ("K.Pp/..k.", "w", [], "B1r", "white does not control"),
        ("__..__/__..__/..KP../....../__kp__/__p.__", "w", [], "B2n", "landlocked"),
        ("__..__/__..__/..KP../....../__kp__/__p.__", "w", [], "B2r", "landlocked"),
        ("KPkp/....", "w", [], "A1w=2", "2 groups to choose from"),
        ("KPkp/....", "w", [], "A1n=1", "1 group to choose from"),
        ("kp..KP/......", "b", ["A1e"], "C1w", "no undo: .* displaced"),
        ("Kk.P/.Kp.", "b", ["b2sw"], "A1r", "no undo: .* displaced"),
        ("..Kk/Pp..", "w", ["c2e"], "a1n", "the game is over: black has no king left"),
    ],
)
def test_why_illegal(board: str, side: str, moves: list[str], forbidden: str, rule: str) -> None:
    position = play(Position.parse(f"{board} {side} - 9"), *moves)
    text, number = position.text, position.parse_action(forbidden)
    assert position.why_illegal(number) is not None
    with pytest.raises(IllegalActionError, match=rule) as caught:
        position.play(number)
    assert f"{number} ({forbidden})" in str(caught.value)
    assert repr(text) in str(caught.value)
    assert position.text == text


@pytest.mark.parametrize("number", [-1, 405, 2**70, None, "c3n", 3.0, True, np.array([3])])
def test_no_action_number(number: object) -> None:
    position = Position.start()
    with pytest.raises(IllegalActionError, match="the integers 0 … 404") as caught:
        position.play(number)  # type: ignore[arg-type]
    assert repr(number) in str(caught.value)
    assert repr(position.text) in str(caught.value)


@pytest.mark.parametrize("number", [64, 288 + 24, 398, 404])
def test_no_such_tile(number: int) -> None:
    position = drawn("""
        KP kp
        .. ..
    """)
    with pytest.raises(IllegalActionError, match=f"{number}.* only 2 tiles"):
        position.play(number)
    with pytest.raises(IllegalActionError, match=f"{number}.* only 2 tiles"):
        position.action_text(number)


def test_a_legal_action_is_not_explained() -> None:
    start = Position.start()
    assert {start.why_illegal(number) for number in start.legal_actions} == {None}


def test_effect_of_a_piece_move() -> None:
    before = drawn("""
        Kp Pk
        pk .P
    """)
    effect = before.effect(before.parse_action("a2e"))
    assert (effect.kind, effect.direction, effect.tile) == ("piece", "e", None)
    assert effect.displaced == tuple(((0, column), (0, column + 1)) for column in range(4))
    assert effect.lost_pieces == (("k", (0, 3)),)
    assert (effect.lost_tiles, effect.offset) == ((), (0, 0))


def test_effect_of_a_tile_move() -> None:
    before = drawn(LANDLOCKED, "b")
    effect = before.effect(before.parse_action("B1n"))
    assert (effect.kind, effect.direction, effect.tile) == ("tile", "n", (2, 1))
    assert effect.displaced == (((2, 1), (1, 1)), ((1, 1), (0, 1)), ((0, 1), (-1, 1)))
    assert (effect.lost_pieces, effect.lost_tiles, effect.offset) == ((), (), (1, 0))


@pytest.mark.parametrize(
    ("move", "lost_pieces", "lost_tiles", "offset"),
    [
        ("B1e", (("k", (0, 0)), ("p", (1, 0))), ((0, 0),), (0, -2)),
        ("B1e=1", (("K", (0, 3)), ("P", (1, 2))), ((0, 1),), (0, 0)),
    ],
)
def test_effect_of_a_splintering(
    move: str, lost_pieces: tuple, lost_tiles: tuple, offset: tuple
) -> None:
    before = drawn("""
        k. .K
        p. P.
    """)
    effect = before.effect(before.parse_action(move))
    assert effect.displaced == (((0, 1), (0, 2)),)
    assert effect.lost_pieces == lost_pieces
    assert effect.lost_tiles == lost_tiles
    assert effect.offset == offset


def test_effect_of_a_rotation() -> None:
    start = Position.start()
    effect = start.effect(start.parse_action("C1r"))
    assert (effect.kind, effect.direction, effect.tile) == ("rotation", None, (2, 2))
    assert (effect.lost_pieces, effect.lost_tiles, effect.offset) == ((), (), (0, 0))


def test_an_illegal_action_has_no_effect() -> None:
    start = Position.start()
    with pytest.raises(IllegalActionError):
        start.effect(start.parse_action("B2r"))


@pytest.mark.parametrize(
    ("move", "words"),
    [
        ("a1ne", "white pawn on a1 steps ne"),
        ("b2e", "white king on b2 steps e"),
        ("c2e", "black king on c2 steps e"),
        ("d2e", "no piece on d2 steps e"),
        ("A1n", "white moves tile A1 n"),
        ("A1w=1", "white moves tile A1 w and keeps group 1"),
        ("A1r", "white turns tile A1"),
    ],
)
def test_describe(move: str, words: str) -> None:
    position = drawn("""
        .K k.
        P. p.
    """)
    assert position.describe(position.parse_action(move)) == words


def test_the_choice_is_part_of_the_number() -> None:
    position = drawn("""
        .K k.
        P. p.
    """)
    assert position.parse_action("A1w=1") == encode(TileMove(0, 3, 1))
