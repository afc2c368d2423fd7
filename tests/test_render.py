"""Pictures of positions: what they show, where, and what they need to be made."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import reference
import vectors
from gymnasium.error import DependencyNotInstalled

from skift_env import drawing, render, svg
from skift_env.position import Position
from skift_env.shapes import THEMES, Circle, Rect, Shape, Text

ROOT = Path(__file__).resolve().parents[1]

START = "....../.PpPp./.pKkP./.PkKp./.pPpP./...... w - 0"
ONE_TILE = "KP/kp w - 40"
ROW = "KP....p.P...k...../.................. b - 40"
COLUMN = "/".join(["KP", "kp", *[".."] * 16]) + " w - 9"
DIAGONAL_ROWS = ["Kp", "k.", *[".P", ".."] * 4, *["..", "p."] * 4]
DIAGONAL = "/".join(
    "_" * (2 * (i // 2)) + row + "_" * (16 - 2 * (i // 2)) for i, row in enumerate(DIAGONAL_ROWS)
) + " w - 7"  # fmt: skip
SHAPES_OF_BOARDS = [START, ONE_TILE, ROW, COLUMN, DIAGONAL]


def shown(shapes: tuple[Shape, ...], *classes: str, but: str = "lost icon") -> list[Any]:
    """The shapes that carry all these class names, and none of those in `but`."""
    barred = set(but.split()) - set(classes)
    named = [(shape, set(shape.classes.split())) for shape in shapes]
    return [shape for shape, names in named if names >= set(classes) and not names & barred]


def centre(shape: Rect | Circle) -> tuple[float, float]:
    """The middle of a shape, free of rounding errors."""
    x, y = shape.x, shape.y
    if isinstance(shape, Rect):
        x, y = x + shape.width / 2, y + shape.height / 2
    return round(x, 6), round(y, 6)


def plies(count: int, wanted: range = range(405)) -> list[tuple[str, int]]:
    """(position, action) of that many plies, spread over the test vectors."""
    found = [
        (ply["position"], ply["action"])
        for name in vectors.GAME_SETS
        for game in vectors.games(name)
        for ply in game[:-1]
        if ply["action"] in wanted
    ]
    return found[:: max(1, len(found) // count)]


# The scene: what is drawn


@pytest.mark.parametrize("text", [*SHAPES_OF_BOARDS, *(text for text, _ in plies(40))])
def test_a_scene_shows_each_tile_and_piece_once(text: str) -> None:
    position = Position.parse(text)
    shapes = drawing.scene(position).shapes
    board = "".join(position.board)
    for letter in "KPkp":
        kind, side = ("king", "pawn")[letter in "Pp"], ("white", "black")[letter.islower()]
        assert len(shown(shapes, kind, side)) == board.count(letter)
    assert len(shown(shapes, "tile")) == (len(board) - board.count("_")) // 4
    assert not shown(shapes, "lost", but="icon"), "nothing is known to have left"
    icons = Counter(shape.classes for shape in shown(shapes, "icon", "lost"))
    assert icons["king white icon lost"] == 2 - board.count("K")
    assert icons["pawn black icon lost"] == 6 - board.count("p")


def test_kings_are_square_and_pawns_are_round() -> None:
    shapes = drawing.scene(Position.start()).shapes
    kings, pawns = shown(shapes, "king"), shown(shapes, "pawn")
    assert {type(king) for king in kings} == {Rect}
    assert all(king.width == king.height and king.radius < king.width / 4 for king in kings)
    assert {type(pawn) for pawn in pawns} == {Circle}


def cell_size(shapes: tuple[Shape, ...]) -> float:
    return shown(shapes, "tile")[0].width / drawing.TILE


@pytest.mark.parametrize("text", SHAPES_OF_BOARDS)
@pytest.mark.parametrize("orientation", ["white", "black"])
def test_the_board_lies_centred_on_the_table_with_an_empty_cell_around(
    text: str, orientation: drawing.Orientation
) -> None:
    picture = drawing.scene(Position.parse(text), orientation=orientation)
    assert (picture.width, picture.height) == (drawing.WIDTH, drawing.HEIGHT)
    (table,) = shown(picture.shapes, "table")
    tiles, cell = shown(picture.shapes, "tile"), cell_size(picture.shapes)
    for low, high in (
        (
            min(t.x for t in tiles) - table.x,
            table.x + table.width - max(t.x + t.width for t in tiles),
        ),
        (
            min(t.y for t in tiles) - table.y,
            table.y + table.height - max(t.y + t.height for t in tiles),
        ),
    ):
        assert low == pytest.approx(high)
        assert low > cell


@pytest.mark.parametrize("text", [ROW, plies(3)[1][0]])
def test_black_sees_the_table_from_the_other_side(text: str) -> None:
    position = Position.parse(text)
    for kind in ("tile", "king", "pawn", "coordinate"):
        seen = []
        for orientation in ("white", "black"):
            shapes = shown(drawing.scene(position, orientation=orientation).shapes, kind)
            if kind == "coordinate":  # the frame stays, the letters swap their places
                seen.append({shape.text for shape in shapes})
            else:
                seen.append({tuple(np.round(centre(shape), 3)) for shape in shapes})
        turned = (
            seen[1]
            if kind == "coordinate"
            else {tuple(np.round((drawing.WIDTH - x, drawing.WIDTH - y), 3)) for x, y in seen[1]}
        )
        assert turned == seen[0]


def test_coordinates_stand_beside_what_they_name() -> None:
    shapes = drawing.scene(Position.start()).shapes
    labels = {shape.text: shape for shape in shown(shapes, "coordinate") if shape.text.isalpha()}
    columns = sorted({x for x, _ in map(centre, shown(shapes, "quadrant"))})
    assert [labels[name].x for name in "abcdef"] == pytest.approx(columns)
    columns = sorted({x for x, _ in map(centre, shown(shapes, "tile"))})
    assert [labels[name].x for name in "ABC"] == pytest.approx(columns)
    numbers = [shape for shape in shown(shapes, "coordinate") if shape.text.isdecimal()]
    for left, names in ((True, "654321"), (False, "321")):
        column = [shape for shape in numbers if (shape.x < 500) == left]
        assert [shape.text for shape in sorted(column, key=lambda shape: shape.y)] == list(names)


def test_controlled_tiles_carry_the_colour_and_a_pip_of_their_side() -> None:
    shapes = drawing.scene(Position.start()).shapes
    assert Counter(shape.classes for shape in shown(shapes, "tile")) == {
        "tile": 5, "tile white": 2, "tile black": 2,
    }  # fmt: skip
    for side in ("white", "black"):
        pips = {centre(pip) for pip in shown(shapes, "pip", side)}
        assert pips == {centre(tile) for tile in shown(shapes, "tile", side)}


def luminance(colour: str) -> float:
    """Relative luminance by WCAG 2.2, https://www.w3.org/TR/WCAG22/#dfn-relative-luminance."""
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_lightness_alone_tells_the_sides_apart(theme: Any) -> None:
    assert contrast(theme.piece["white"], theme.piece["black"]) > 10
    for background in (*theme.tile.values(), theme.page):
        for side in ("white", "black"):
            piece = max(contrast(c[side], background) for c in (theme.piece, theme.outline))
            assert piece > 3, (side, background)
    assert contrast(theme.tile["white"], theme.tile["black"]) > 1.7
    for colour, background in (
        (theme.text, theme.page), (theme.muted, theme.page), (theme.label, theme.overlay),
    ):  # fmt: skip
        assert contrast(colour, background) > 4.5


# The last action


@pytest.mark.parametrize(
    ("text", "action"),
    [*plies(60, range(288)), *plies(60, range(288, 396)), *plies(10, range(396, 405))],
)
def test_what_left_with_the_last_action_is_faded_where_it_would_stand(
    text: str, action: int
) -> None:
    before = reference.ReferenceGame.from_text(text)
    after, goes_to = before.play(action), before.actions[action].goes_to
    last_action = Position.parse(text), action
    shapes = drawing.scene(Position.parse(after.text), last_action=last_action).shapes
    cell = cell_size(shapes)
    x0, y0 = centre(shown(shapes, "tile")[0])
    row0, column0 = min(after.tiles.values())  # tiles are drawn in reading order

    def point(row: float, column: float) -> tuple[float, float]:
        """Where a point of the reference's table is drawn, given in tile cells."""
        return x0 + (column - column0 - 0.5) * cell, y0 + (row - row0 - 0.5) * cell

    tiles = [goes_to.get(t, c) for t, c in before.tiles.items() if t not in after.tiles]
    pieces = [goes_to.get(p, q) for p, q in before.pieces.items() if p not in after.pieces]
    faded_tiles = shown(shapes, "tile", "lost")
    faded_pieces = [*shown(shapes, "king", "lost"), *shown(shapes, "pawn", "lost")]
    for faded, expected in (
        (faded_tiles, [point(r + 0.5, c + 0.5) for r, c in tiles]),
        (faded_pieces, [point(r / 2 + 0.25, c / 2 + 0.25) for r, c in pieces]),
    ):
        assert len(faded) == len(expected)
        for x, y in map(centre, faded):  # pieces stand a little nearer to the tile's middle
            assert min(abs(x - a) + abs(y - b) for a, b in expected) < 0.06 * cell
    (table,) = shown(shapes, "table")
    for shape in (*faded_tiles, *faded_pieces):
        assert shape.opacity < 0.5
        x, y = centre(shape)
        reach = cell / 2 if shape in faded_tiles else cell / 4
        assert table.x < x - reach < x + reach < table.x + table.width
        assert table.y < y - reach < y + reach < table.y + table.height


def traces(text: str, move: str, *, known: bool = True) -> tuple[list[Any], tuple[Shape, ...]]:
    """The rectangles that mark an action, and the whole picture after it."""
    before = Position.parse(text)
    action = before.parse_action(move)
    last_action = (before, action) if known else None
    shapes = drawing.scene(before.play(action), last_action=last_action).shapes
    return [shape for shape in shown(shapes, "last") if isinstance(shape, Rect)], shapes


@pytest.mark.parametrize("known", [True, False])
def test_a_piece_move_marks_the_squares_that_it_filled_and_the_one_it_left(known: bool) -> None:
    marks, shapes = traces(START, "d3se", known=known)  # pushes e2 to f1
    quadrants = sorted(centre(shape) for shape in shown(shapes, "quadrant"))
    columns = sorted({x for x, _ in quadrants})
    rows = sorted({y for _, y in quadrants}, reverse=True)
    places = {(columns.index(x), rows.index(y)) for x, y in map(centre, marks)}
    assert places == {(3, 2), (4, 1), (5, 0)}
    assert len(shown(shapes, "last")) == 4, "and an arrow"


def test_a_piece_that_was_pushed_off_leaves_no_mark_on_the_table() -> None:
    marks, shapes = traces(ONE_TILE, "a2e")
    assert len(shown(shapes, "pawn", "lost")) == 1
    assert len(marks) == 2, "of the king, where it stands and whence it came"


@pytest.mark.parametrize("known", [True, False])
def test_a_tile_move_rings_the_tiles_that_it_pushed_and_the_cell_it_left(known: bool) -> None:
    marks, shapes = traces(START, "A3s", known=known)  # pushes the whole column
    tiles = {centre(shape) for shape in shown(shapes, "tile")}
    assert len(marks) == 4
    assert len(tiles & {centre(mark) for mark in marks}) == 3


def test_tiles_that_went_together_with_the_chosen_one_have_no_ring() -> None:
    marks, shapes = traces("kp____/..____/__kpKP/__.... b - 9", "A2n")
    assert len(shown(shapes, "tile", "lost")) == 1
    assert len(marks) == 1, "the cell that it left"


def test_a_rotation_rings_its_tile() -> None:
    marks, shapes = traces(START, "A3r")
    corner = min(shown(shapes, "tile"), key=centre)
    assert [centre(mark) for mark in marks] == [centre(corner)]


def test_a_last_action_must_lead_to_the_position() -> None:
    start = Position.start()
    after = start.play(24)
    with pytest.raises(ValueError, match="does not lead"):
        drawing.scene(after, last_action=(start, 25))


# Overlays and options


def test_arrows_and_highlights() -> None:
    shapes = drawing.scene(
        Position.start(),
        arrows=[("c4", "n", 0.5, "50%"), ("C1", "s", 0.1, None), ("A3", "r", 1, None),
                ("d3", "f1", 0.2, "20%")],
        highlights={"b5": 0.25, "B2": 1.0},
    ).shapes  # fmt: skip
    assert {shape.text for shape in shown(shapes, "label") if isinstance(shape, Text)} == {
        "50%", "20%",
    }  # fmt: skip
    assert len([s for s in shown(shapes, "arrow") if not isinstance(s, Rect)]) == 3 + 4
    square, tile = shown(shapes, "highlight")
    assert square.width < tile.width
    assert square.opacity < tile.opacity
    assert centre(tile) == (500, 500)
    plain = drawing.scene(Position.start(), highlights=["b5"]).shapes
    assert centre(shown(plain, "highlight")[0]) == centre(square)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"theme": "mauve"}, "mauve"),
        ({"orientation": "north"}, "north"),
        ({"highlights": ["g1"]}, "g1"),
        ({"highlights": ["a0"]}, "a0"),
        ({"highlights": ["D1"]}, "D1"),
        ({"highlights": {"a1": 1.5}}, "1.5 of a1"),
        ({"highlights": {"a1": float("nan")}}, "nan of a1"),
        ({"arrows": [("c3", "up", 1.0, None)]}, "up"),
        ({"arrows": [("c3", "r", 1.0, None)]}, "'r'"),
        ({"arrows": [("c3", "c3", 1.0, None)]}, "no length"),
        ({"arrows": [("c3", "c4", -1.0, None)]}, "-1.0 of c3 c4"),
        ({"size": 0}, "size 0"),
    ],
)
def test_faulty_options_are_named(options: dict[str, Any], fault: str) -> None:
    for draw in (svg.board, render.rgb_array):
        with pytest.raises(ValueError, match=fault):
            draw(Position.start(), **options)


def test_a_hole_is_no_tile() -> None:
    with pytest.raises(ValueError, match="A1"):
        drawing.scene(Position.parse(DIAGONAL), highlights=["A1"])


@pytest.mark.parametrize(
    ("text", "headline"),
    [
        (START, "White to move"),
        (ROW, "Black to move"),
        ("KP/.. b - 9", "White wins"),
        ("kp/.. w - 9", "Black wins"),
        ("P./p. w - 9", "Draw"),
    ],
)
def test_the_status_tells_who_is_to_move_or_has_won(text: str, headline: str) -> None:
    position = Position.parse(text)
    picture = drawing.scene(position)
    words = [shape.text for shape in picture.shapes if isinstance(shape, Text)]
    assert picture.title == headline
    assert headline in words
    assert any(f"ply {position.ply}" in word for word in words)
    if position.outcome is not None:
        assert position.outcome.reason in " ".join(words), "on one line or two"
        assert position.outcome.reason in render.text(position)
    assert headline in render.text(position)


# SVG


@pytest.mark.parametrize("theme", THEMES)
def test_svg_is_well_formed_and_tells_the_scene(theme: str) -> None:
    text, action = plies(1, range(288, 396))[0]
    before = Position.parse(text)
    position, last_action = before.play(action), (before, action)
    picture = drawing.scene(position, last_action=last_action, theme=theme)
    root = ElementTree.fromstring(
        svg.board(position, last_action=last_action, theme=theme, size=320)
    )
    space = "{http://www.w3.org/2000/svg}"
    assert root.tag == f"{space}svg"
    assert (root.get("width"), root.get("height")) == ("320", "360")
    assert root.get("viewBox") == "0 0 1000 1125"
    title, *elements = root
    assert title.text == picture.title
    assert [element.get("class") for element in elements] == [s.classes for s in picture.shapes]
    names = {"Rect": "rect", "Circle": "circle", "Polygon": "polygon", "Text": "text"}
    for element, shape in zip(elements, picture.shapes, strict=True):
        assert element.tag == space + names[type(shape).__name__]
        assert element.get("fill") == (shape.fill or "none")
        assert float(element.get("opacity", "1")) == pytest.approx(shape.opacity)


def test_svg_escapes_labels() -> None:
    label = "<b>&\"'"
    root = ElementTree.fromstring(svg.board(Position.start(), arrows=[("c4", "n", 1.0, label)]))
    assert label in [element.text for element in root]


# Pixels


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("text", SHAPES_OF_BOARDS)
def test_pixels_have_the_colours_of_the_scene(text: str, theme: str) -> None:
    position = Position.parse(text)
    pixels = render.rgb_array(position, size=480, theme=theme)
    assert (pixels.shape, pixels.dtype) == ((540, 480, 3), np.uint8)
    assert pixels.flags.c_contiguous
    assert pixels.flags.writeable
    shapes = drawing.scene(position, theme=theme).shapes
    for shape in (*shown(shapes, "king"), *shown(shapes, "pawn"), *shown(shapes, "table")):
        x, y = centre(shape)
        if "table" in shape.classes:
            x = y = shape.x + 10
        pixel = pixels[round(y * 0.48), round(x * 0.48)].astype(int)
        assert np.abs(pixel - rgb(shape.fill)).max() < 40


def rgb(colour: str | None) -> list[int]:
    return [int(str(colour)[i : i + 2], 16) for i in (1, 3, 5)]


def test_pixels_blend_what_is_translucent() -> None:
    options: dict[str, Any] = {"highlights": {"a1": 0.5}, "theme": "light"}
    pixels = render.rgb_array(Position.start(), size=1000, **options)
    (mark,) = shown(drawing.scene(Position.start(), **options).shapes, "highlight")
    x, y = centre(mark)
    theme, opacity = THEMES["light"], mark.opacity
    below, above = np.array(rgb(theme.tile["black"])), np.array(rgb(theme.overlay))
    expected = (1 - opacity) * below + opacity * above
    assert np.abs(pixels[round(y), round(x)] - expected).max() <= 2


def test_pixels_have_the_words_where_the_scene_has_them() -> None:
    pixels = render.rgb_array(Position.start(), size=1000).astype(int)
    words = [s for s in drawing.scene(Position.start()).shapes if isinstance(s, Text)]
    assert len(words) == 12 + 6 + 2
    for word in words:
        share = {"start": 0.5, "middle": 0.0, "end": -0.5}[word.anchor]
        reach = 0.3 * word.size * len(word.text)  # half the length of the line, about
        middle = word.x + 2 * share * reach
        box = pixels[
            round(word.y - 0.75 * word.size) : round(word.y),
            round(middle - reach) : round(middle + reach),
        ]
        near = np.abs(box - rgb(word.fill)).max(axis=2) < 60
        assert near.mean() > 0.1, word.text


def test_pixels_tell_positions_apart_and_nothing_else() -> None:
    pictures = {}
    for text in (START, ONE_TILE, START.replace("w - 0", "b - 0"), START.replace("- 0", "- 1")):
        pictures[text] = render.rgb_array(Position.parse(text)).tobytes()
        assert pictures[text] == render.rgb_array(Position.parse(text)).tobytes()
    assert len(set(pictures.values())) == len(pictures)
    assert {len(picture) for picture in pictures.values()} == {640 * 720 * 3}


def run(code: str, **environment: str) -> str:
    without = {"SDL_VIDEODRIVER", "DISPLAY", "WAYLAND_DISPLAY"}
    variables = {k: v for k, v in os.environ.items() if k not in without} | environment
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=ROOT, env=variables, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_pygame_is_imported_late_and_only_in_part() -> None:
    code = """
import sys
from skift_env import drawing, render, svg
from skift_env.position import Position
render.text(Position.start()), svg.board(Position.start())
print("pygame" in sys.modules)
render.rgb_array(Position.start())
import pygame
print(pygame.get_init(), pygame.display.get_init(), pygame.mixer.get_init())
"""
    assert run(code).split() == ["False", "False", "False", "None"]


def test_a_missing_pygame_is_named_with_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    for show in (render.rgb_array, render.Window().show):
        with pytest.raises(DependencyNotInstalled, match=r'pip install "skift-env\[render\]"'):
            show(Position.start())


# The window


@pytest.fixture
def pygame(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    module = pytest.importorskip("pygame")
    yield module
    module.display.quit()


def test_window_shows_what_rgb_array_gives(pygame: Any) -> None:
    window = render.Window(size=240, fps=0, theme="dark")
    assert not window.is_open
    before = Position.start()
    for position, last in ((before, None), (before.play(24), (before, 24))):
        window.show(position, last)
        surface = window._window.get_surface()
        pixels = pygame.surfarray.array3d(surface).transpose(1, 0, 2)
        expected = render.rgb_array(position, size=240, last_action=last, theme="dark")
        assert np.array_equal(pixels, expected)
    assert window.is_open
    assert not pygame.mixer.get_init()
    window.close()
    window.close()
    assert not window.is_open


def test_windows_close_one_by_one_by_their_user_or_by_the_program(pygame: Any) -> None:
    one, two = (render.Window(size=80, fps=0) for _ in range(2))
    one.show(Position.start())
    two.show(Position.start())
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_a))
    pygame.event.post(pygame.event.Event(pygame.WINDOWCLOSE, window=two._window))
    one.handle_events()
    assert one.is_open, "the other window was meant"
    two.handle_events()
    assert two.closed_by_user
    two.show(Position.start())
    assert not two.is_open, "the user does not want it"
    assert pygame.event.get(pygame.KEYDOWN), "events of other kinds are left to others"
    two.close()
    two.show(Position.start())
    assert two.is_open, "a new run may open it again"
    two.close()
    assert one.is_open
    one.show(Position.start())
    one.close()


def test_a_window_outlives_pygame_quit_by_someone_else(pygame: Any) -> None:
    window = render.Window(size=80, fps=0)
    window.show(Position.start())
    pygame.quit()
    window.handle_events()
    window.show(Position.start())
    pygame.quit()
    pygame.display.init()
    window.show(Position.start())
    assert window.is_open
    pygame.quit()
    window.close()


# Text


def board_of(text: str) -> tuple[str, ...]:
    """Read the board back from what `render.text` draws."""
    rows = [line[4:] for line in text.splitlines() if line[:3].strip().isdecimal()]
    width = max(row.rfind("|") for row in rows) // 7
    return tuple(
        "".join(row.ljust(7 * width)[7 * (j // 2) + 3 * (j % 2) + 2] for j in range(2 * width))
        for row in rows
    )


@pytest.mark.parametrize("text", [*SHAPES_OF_BOARDS, *(text for text, _ in plies(40))])
def test_text_can_be_read_back(text: str) -> None:
    position = Position.parse(text)
    drawn = render.text(position)
    assert tuple(row.replace(" ", "_") for row in board_of(drawn)) == position.board
    marked = sum(line.count("(") for line in drawn.splitlines() if "|" in line)
    mark = position.mark
    assert marked == (0 if mark is None else len(mark.squares) + 4 * len(mark.tiles))
    assert max(map(len, drawn.splitlines())) < 80
    for side, letters in (("white", "KP"), ("black", "kp")):
        (line,) = (line for line in drawn.splitlines() if line.startswith(side))
        lost = line.partition("lost ")[2]
        for letter, number in zip(letters, (2, 6), strict=True):
            assert lost.split().count(letter) == number - "".join(position.board).count(letter)


def test_text_of_the_start() -> None:
    assert render.text(Position.start()).splitlines() == [
        "       A      B      C",
        "    +------+------+------+",
        "  6 | .  . | .  . | .  . |  3",
        "  5 | .  P | p  P | p  . |",
        "    +------+------+------+",
        "  4 | .  p | K  k | P  . |  2",
        "  3 | .  P | k  K | p  . |",
        "    +------+------+------+",
        "  2 | .  p | P  p | P  . |  1",
        "  1 | .  . | .  . | .  . |",
        "    +------+------+------+",
        "      a  b   c  d   e  f",
        "",
        "White to move (ply 0)",
        "white (K P): controls A3, C1; lost nothing",
        "black (k p): controls C3, A1; lost nothing",
    ]


def test_text_tells_the_last_action_in_words() -> None:
    start = Position.start()
    drawn = render.text(start.play(24), last_action=(start, 24))
    assert f"last action: {start.describe(24)}" in drawn.splitlines()
