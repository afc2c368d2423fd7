"""Boards as SVG: golden pictures, overlays of policies and values, themes, and views.

`python tests/test_svg.py` draws the golden pictures anew; look at them before you keep them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import vectors
from numpy.typing import NDArray

from skift_env import drawing, overlays, render, svg
from skift_env.position import Position
from skift_env.shapes import THEMES, Rect, Text, Theme, css_theme, css_variables
from skift_env.view import LEAST_SPAN, WIDTH, Box, View

GOLDEN = Path(__file__).parent / "data" / "svg"

START = "....../.PpPp./.pKkP./.PkKp./.pPpP./...... w - 0"
SPLITTING = "__..____/__..____/__KP____/__..____/..__..kp/..__..KP/k.______/P.______ w - 10"


def position(text: str = START) -> dict[str, Any]:
    return {"position": Position.parse(text)}


def after(text: str, move: str) -> dict[str, Any]:
    before = Position.parse(text)
    action = before.parse_action(move)
    return {"position": before.play(action), "last_action": (before, action)}


def policy(text: str, **shares: float) -> NDArray[np.float64]:
    """A policy by moves, with = written as _."""
    weights = np.zeros(405)
    for move, share in shares.items():
        weights[Position.parse(text).parse_action(move.replace("_", "="))] = share
    return weights


def golden_pictures() -> dict[str, dict[str, Any]]:
    start = Position.start()
    return {
        "start": position(),
        "start-dark-black": position() | {"theme": "dark", "orientation": "black"},
        "piece-push": after(START, "d3se"),
        "piece-pushed-off": after("KP/kp w - 40", "a2e"),
        "piece-suicide": after("KP/kp w - 40", "a2w") | {"orientation": "black"},
        "tile-push": after(START, "A3s") | {"theme": "dark"},
        "tile-lost": after("kp____/..____/__kpKP/__.... b - 9", "A2n"),
        "tile-choice": after(SPLITTING, "B3n=2"),
        "rotation": after(START, "A3r"),
        "row": position("KP....p.P...k...../.................. b - 40"),
        "column": position("/".join(["KP", "kp", *[".."] * 16]) + " w - 9"),
        "won": position("KP/.. b - 9") | {"players": ("alphabeta-v1:depth=3,nodes=9000", "greedy")},
        "drawn": position("P./p. w - 9") | {"note": "as agreed"},
        "policy": position()
        | {
            "arrows": overlays.policy_arrows(start, policy(START, d3se=5, c4n=2, A3r=2, C1s=1)),
            "value": 0.25,
        },
        "heat-and-values": position()
        | {
            "highlights": overlays.policy_heat(start, policy(START, d3se=5, c4n=2, A3r=2)),
            "arrows": overlays.value_arrows(start, np.linspace(-1, 1, 405), top=3),
            "theme": "dark",
            "value": -0.9,
        },
        "board-alone": position() | {"status": False, "view": View(Box(-2, -2, 4, 7))},
    }


PICTURES = golden_pictures()
SPACE = re.compile(r"[\s,]+")


def structure(element: ElementTree.Element) -> list[Any]:
    """Tag, text and attributes of each element, numbers as such."""

    def value(text: str) -> list[float] | str:
        try:
            return [float(part) for part in SPACE.split(text)]
        except ValueError:
            return text

    attributes = {name: value(text) for name, text in sorted(element.items())}
    return [element.tag, (element.text or "").strip(), attributes, *map(structure, element)]


def assert_alike(one: Any, other: Any, where: str = "svg") -> None:
    assert type(one) is type(other), where
    if isinstance(one, list):
        assert len(one) == len(other), where
        for number, pair in enumerate(zip(one, other, strict=True)):
            assert_alike(*pair, f"{where}[{number}]")
    elif isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for name in one:
            assert_alike(one[name], other[name], f"{where}.{name}")
    elif isinstance(one, float):
        assert one == pytest.approx(other, abs=0.05), where
    else:
        assert one == other, where


@pytest.mark.parametrize("name", PICTURES)
def test_golden_pictures(name: str) -> None:
    drawn = ElementTree.fromstring(svg.board(**PICTURES[name]))
    kept = ElementTree.fromstring((GOLDEN / f"{name}.svg").read_text("utf-8"))
    assert_alike(structure(drawn), structure(kept))


def test_each_golden_picture_is_of_something() -> None:
    assert {file.stem for file in GOLDEN.iterdir()} == set(PICTURES)


def test_pixels_of_the_golden_pictures_are_not_blank_and_all_different() -> None:
    seen = set()
    for options in PICTURES.values():
        pixels = render.rgb_array(**options, size=240)
        assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 30
        seen.add(pixels.tobytes())
    assert len(seen) == len(PICTURES)


def test_notebooks_get_the_picture_of_a_position() -> None:
    start = Position.start()
    assert start._repr_svg_() == svg.board(start)


# Overlays


def test_arrows_of_a_policy_go_by_probability() -> None:
    shares = policy(START, d3se=0.4, c4n=0.3, A3r=0.1, C1s=0.2)
    start = Position.start()
    assert overlays.policy_arrows(start, shares, top=3) == [
        ("C1", "s", pytest.approx(0.5), "20%"),
        ("c4", "n", pytest.approx(0.75), "30%"),
        ("d3", "se", 1.0, "40%"),
    ]
    assert overlays.policy_arrows(start, 7 * shares, top=3) == overlays.policy_arrows(
        start, shares, top=3
    ), "visit counts will do"
    assert len(overlays.policy_arrows(start, shares, top=None)) == 4
    assert overlays.policy_arrows(start, np.zeros(405)) == []
    illegal = start.parse_action("C3r")
    assert illegal not in start.legal_actions
    shares[illegal] = 9.0
    assert overlays.policy_arrows(start, shares, top=1) == [("d3", "se", 1.0, "40%")]


def test_choices_of_a_group_share_an_arrow_that_names_the_likeliest() -> None:
    before = Position.parse(SPLITTING)
    for likeliest, label in (("B3n", "75%"), ("B3n_1", "75% =1"), ("B3n_2", "75% =2")):
        shares = policy(SPLITTING, B3n=2.0, B3n_1=2.0, B3n_2=2.0, c6e=3.0)
        shares += policy(SPLITTING, **{likeliest: 3.0})
        *_, last = overlays.policy_arrows(before, shares)
        assert last == ("B3", "n", 1.0, label)


def test_heat_sums_up_what_a_piece_or_tile_may_do() -> None:
    shares = policy(START, d3se=0.3, d3n=0.2, A3r=0.25, A3n=0.15, c4n=0.1)
    heat = overlays.policy_heat(Position.start(), shares)
    assert heat == pytest.approx({"d3": 1.0, "A3": 0.8, "c4": 0.2})
    assert overlays.policy_heat(Position.start(), np.zeros(405)) == {}


def test_arrows_of_values_put_the_best_on_top() -> None:
    start = Position.start()
    values = np.full(405, np.nan)
    for move, value in {"d3se": -1.0, "c4n": 0.5, "A3r": 0.25}.items():
        values[start.parse_action(move)] = value
    assert overlays.value_arrows(start, values) == [
        ("d3", "se", 0.0, "-1.00"),
        ("A3", "r", 0.625, "+0.25"),
        ("c4", "n", 0.75, "+0.50"),
    ]
    assert [arrow[:2] for arrow in overlays.value_arrows(start, values, top=1)] == [("c4", "n")]
    assert overlays.value_arrows(start, np.full(405, np.nan)) == []


@pytest.mark.parametrize("make", [overlays.policy_arrows, overlays.policy_heat])
@pytest.mark.parametrize("fault", [-0.5, np.inf, np.nan])
def test_faulty_policies_are_refused(make: Callable[..., Any], fault: float) -> None:
    start = Position.start()
    shares = policy(START, d3se=0.4)
    shares[start.parse_action("c4n")] = fault
    with pytest.raises(ValueError, match="c4n"):
        make(start, shares)
    with pytest.raises(ValueError, match=r"\(404,\)"):
        make(start, np.ones(404))


def test_faulty_values_are_refused() -> None:
    start = Position.start()
    with pytest.raises(ValueError, match=r"1\.5 of"):
        overlays.value_arrows(start, np.full(405, 1.5))
    for value in (1.01, float("nan")):
        with pytest.raises(ValueError, match=r"not in -1 … 1"):
            svg.board(start, value=value)


def test_overlays_can_be_drawn_in_any_position() -> None:
    rng = np.random.default_rng(1)
    for name in vectors.GAME_SETS:
        for game in list(vectors.games(name))[:3]:
            for ply in game[:-1:4]:
                here = Position.parse(ply["position"])
                shares, values = rng.random(405), rng.uniform(-1, 1, 405)
                arrows = [
                    *overlays.policy_arrows(here, shares, top=None),
                    *overlays.value_arrows(here, values, top=None),
                ]
                legal = {here.action_text(action).partition("=")[0] for action in ply["legal"]}
                assert {origin + target for origin, target, _, _ in arrows} == legal
                heat = overlays.policy_heat(here, shares)
                assert svg.board(here, arrows=arrows, highlights=heat)


def labels(arrows: list[drawing.Arrow]) -> list[Rect]:
    shapes = drawing.scene(Position.start(), arrows=arrows).shapes
    return [s for s in shapes if s.classes == "label" and isinstance(s, Rect)]


@pytest.mark.parametrize("direction", ["n", "e", "s", "w", "ne", "se", "sw", "nw"])
def test_a_label_leaves_its_arrow_in_sight(direction: str) -> None:
    (plate,) = labels([("d3", direction, 1.0, "50%")])
    (far,) = labels([("d3", direction, 1.0, "5")])
    shapes = drawing.scene(Position.start()).shapes
    assert plate.width > far.width
    view = View(Box(-1, -1, 4, 4))
    origin = view.square_xy((3, 3))
    step = drawing.STEPS[direction]
    tip = view.square_xy((3 + step[0], 3 + step[1]))
    assert shapes, "the same view as in the picture"
    middle = plate.x + plate.width / 2, plate.y + plate.height / 2
    for axis, size in ((0, plate.width), (1, plate.height)):
        way = np.sign(round(tip[axis] - origin[axis], 6))
        assert np.sign(round(middle[axis] - tip[axis], 6)) == way
        assert abs(middle[axis] - tip[axis]) <= size
    if len(direction) == 1:
        gap = max(
            abs(middle[0] - tip[0]) - plate.width / 2, abs(middle[1] - tip[1]) - plate.height / 2
        )
        assert gap == pytest.approx(0, abs=1e-6), "it begins where the arrow ends"


def test_the_bar_of_a_value_is_shared_by_white_and_black() -> None:
    for value in (-1.0, -0.25, 0.0, 1.0):
        shapes = drawing.scene(Position.start(), value=value).shapes
        white, black = (
            next(s for s in shapes if isinstance(s, Rect) and s.classes == f"value {side}")
            for side in ("white", "black")
        )
        assert white.width == pytest.approx((1 + value) / 2 * WIDTH)
        assert black.x == pytest.approx(white.x + white.width)
        assert black.x + black.width == pytest.approx(WIDTH)
        words = [shape.text for shape in shapes if isinstance(shape, Text)]
        assert any(f"value {value:+.2f}" in word for word in words)


def test_players_are_named_and_long_names_cut() -> None:
    names = "mcts-v1:simulations=100000,c=1.4", "random-v1"
    for text, headline in (
        (START, "mcts-v1:simulations=10000… to move"),
        (START.replace(" w ", " b "), "random-v1 to move"),
        ("kp/.. w - 9", "random-v1 wins"),
        ("P./p. w - 9", "Draw"),
    ):
        assert drawing.scene(Position.parse(text), players=names).title == headline


# Themes


def theme_pairs(theme: Theme) -> list[tuple[str, str, float]]:
    """Colours that must not be taken for each other, and how far apart they must be.

    Controlled tiles carry a pip too, hence the smaller distance.
    """
    grounds = [*theme.tile.values(), theme.table]
    pairs = [(*pair, 10.0) for pair in combinations(theme.tile.values(), 2)]
    pairs += [(tile, theme.table, 15.0) for tile in theme.tile.values()]
    pairs += [(mark, ground, 30.0) for mark in (theme.last, theme.overlay) for ground in grounds]
    pairs += [(theme.last, theme.overlay, 60.0), (*theme.piece.values(), 60.0)]
    return pairs


# What each kind of dichromat sees, on linear RGB; the rows of each sum up to 1, so that greys stay:
# Machado, Oliveira and Fernandes, A Physiologically-based Model for Simulation of Color Vision
# Deficiency (2009), severity 1.0; https://doi.org/10.1109/TVCG.2009.113.
VISION = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}


def lab(colour: str, vision: str) -> NDArray[np.float64]:
    """CIE L*a*b* (D65) of an sRGB colour as it is seen."""
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    seen = np.clip(VISION[vision] @ linear, 0, 1)
    to_xyz = np.array(
        [
            [0.4124564, 0.3575761, 0.1804375],
            [0.2126729, 0.7151522, 0.0721750],
            [0.0193339, 0.1191920, 0.9503041],
        ]
    )
    xyz = to_xyz @ seen / [0.95047, 1.0, 1.08883]
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_simulated_vision_knows_red_green_confusion() -> None:
    for vision, far in (("normal", True), ("protanopia", False), ("deuteranopia", False)):
        difference = np.linalg.norm(lab("#b04040", vision) - lab("#6b6b2f", vision))
        assert (difference > 40) == far, (vision, difference)
    for vision in VISION:
        assert lab("#ffffff", vision) == pytest.approx([100, 0, 0], abs=0.02)


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("theme", THEMES)
def test_colours_stay_apart_for_colour_blind_eyes(theme: str, vision: str) -> None:
    for one, other, least in theme_pairs(THEMES[theme]):
        difference = float(np.linalg.norm(lab(one, vision) - lab(other, vision)))
        assert difference > least, (one, other)


@pytest.mark.parametrize("theme", THEMES)
def test_a_picture_in_css_variables_is_the_themes_own(theme: str) -> None:
    start = Position.start()
    options: dict[str, Any] = {
        "last_action": (start, 24), "arrows": [("d3", "e", 0.5, "7%")], "value": 0.1
    }  # fmt: skip
    varied = svg.board(start.play(24), theme=css_theme(), **options)
    assert not re.search("#[0-9a-f]{6}", varied)
    declared = dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6});", css_variables(THEMES[theme])))
    plain = re.sub(r"var\((--[\w-]+)\)", lambda name: declared[name[1]], varied)
    assert plain == svg.board(start.play(24), theme=theme, **options)


# Views


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("box", [Box(-1, -1, 4, 4), Box(-1.2, -1, 2, 7), Box(0, 3, 1, 14)])
def test_views_find_again_what_they_place(box: Box, turned: bool) -> None:
    view = View(box, turned)
    middle = view.square_xy((0, 0)), view.square_xy((1, 1))
    assert view.tile_xy((0, 0)) == pytest.approx(np.mean(middle, axis=0))
    inside = 0
    for square in product(range(-4, 12), range(-4, 30)):
        x, y = view.square_xy(square)
        on_table = 46 <= x < WIDTH - 46 and 46 <= y < WIDTH - 46
        assert view.square_at(x, y) == (square if on_table else None)
        inside += on_table
    assert inside >= 4 * (max(LEAST_SPAN, box.span) - 1) ** 2 * 0.5
    assert view.square_at(500, 20) is None


def test_boxes() -> None:
    box = Box(0, 0, 2, 5)
    assert box.span == 5
    assert box.shifted(1, -2) == (1, -2, 3, 3)
    assert box.union(Box(-1, 2, 1, 3), Box(0, 0, 0, 7)) == (-1, 0, 2, 7)


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for title, wanted in PICTURES.items():
        (GOLDEN / f"{title}.svg").write_text(svg.board(**wanted), "utf-8")
