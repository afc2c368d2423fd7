"""Playing by hand in the window: clicks and keys that become actions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import gymnasium
import pytest
import vectors

from skift_env import render, skift_v0, svg
from skift_env.actions import PieceMove, TileMove, decode, direction_name
from skift_env.manual import ManualPolicy, Picker, WindowClosedError
from skift_env.notation import Place, parse_place
from skift_env.position import Position
from skift_env.trace import STEPS, Trace
from skift_env.view import View

START = "....../.PpPp./.pKkP./.PkKp./.pPpP./...... w - 0"
THREE_GROUPS = "__..____/__..____/__KP____/__..____/..__..kp/..__..KP/k.______/P.______ w - 10"


def place(position: Position, name: str) -> Place:
    """The place of a square, or of the first quadrant of a tile."""
    rows = len(position.board) // (2 if name[0].isupper() else 1)
    found = parse_place(name, rows)
    assert found
    return (2 * found[0], 2 * found[1]) if name[0].isupper() else found


def stepped(square: Place, direction: str, by: int = 1) -> Place:
    row, column = STEPS[direction]
    return square[0] + by * row, square[1] + by * column


def enter(position: Position, action: int) -> Picker:
    """Enter an action as a player does, by clicks alone where there are such."""
    picker, decoded = Picker(position), decode(action)
    name = position.action_text(action).partition("=")[0]
    if isinstance(decoded, PieceMove):
        direction = direction_name(decoded)
        square = place(position, name.removesuffix(direction))
        picker.click(square)
        picker.click(stepped(square, direction))
        return picker
    tile = place(position, name[:2])
    picker.click(tile, tile=True)
    if not isinstance(decoded, TileMove):
        picker.press("r")
        return picker
    direction = direction_name(decoded)
    if position.ply % 2:
        picker.press(direction)
    else:
        picker.click(stepped(tile, direction, by=2))
    if picker.action is None:  # click a tile of the group that stays
        lost = position.effect(action).lost_tiles
        board = position.board
        stays = next(
            (row, column)
            for row in range(0, len(board), 2)
            for column in range(0, len(board[0]), 2)
            if board[row][column] != "_" and (row // 2, column // 2) not in lost
        )
        picker.click(stays)
    return picker


def test_every_legal_action_can_be_entered() -> None:
    plies = [ply for name in vectors.GAME_SETS for ply in vectors.games(name)[0][:-1]]
    positions = [Position.parse(text) for text in (*(p["position"] for p in plies), THREE_GROUPS)]
    choices = 0
    for position in positions:
        for action in position.legal_actions:
            assert enter(position, action).action == action
            choices += "=" in position.action_text(action)
    assert choices > 2


def test_what_is_shown_is_what_can_be_done() -> None:
    position = Position.parse(START)
    picker = Picker(position)
    assert (picker.arrows, picker.highlights) == ([], {})
    picker.click(place(position, "d3"))
    assert list(picker.highlights) == ["d3"]
    assert {arrow[:2] for arrow in picker.arrows} == {("d3", way) for way in STEPS}
    picker.cancel()
    assert (picker.arrows, picker.highlights) == ([], {})
    picker.click(place(position, "a6"))  # an empty square of tile A3
    assert list(picker.highlights) == ["A3"]
    assert {arrow[1] for arrow in picker.arrows} == {"n", "e", "s", "w", "r"}
    assert svg.board(position, arrows=picker.arrows, highlights=picker.highlights)


def test_a_choice_of_groups_is_shown_and_made_by_number_or_click() -> None:
    position = Position.parse(THREE_GROUPS)
    for number in (1, 2, 3):
        picker = Picker(position)
        picker.click(place(position, "B3"), tile=True)
        picker.press("n")
        assert picker.action is None
        assert "group" in picker.message
        assert [arrow[:2] for arrow in picker.arrows] == [("B3", "n")]
        assert len(set(picker.highlights.values())) == 3, "each group has a shade of its own"
        assert set(picker.highlights) == {"A1", "A2", "B3", "B4", "C2", "D2"}
        picker.press("e")
        picker.keep_group(0)
        picker.keep_group(4)
        assert picker.action is None, "no such group"
        picker.keep_group(number)
        suffix = f"={number - 1}" if number > 1 else ""
        assert picker.action == position.parse_action(f"B3n{suffix}")
    picker = Picker(position)
    picker.click(place(position, "B3"), tile=True)
    picker.press("n")
    picker.click((0, 0))  # beside the board
    assert (picker.action, picker.highlights) == (None, {})


def test_a_tile_that_is_lost_anyway_cannot_be_kept() -> None:
    # C2 leaves its neighbours, and loses itself; those on either side then are two and two.
    position = Position.parse("____kk__../____PK__p./...P__..__/.p.p__..__ b - 19")
    picker = Picker(position)
    picker.click(place(position, "C2"), tile=True)
    picker.press("n")
    assert set(picker.highlights) == {"A1", "B1", "D1", "E2"}
    picker.click(place(position, "C2"))
    assert picker.action is None
    assert "C2 is lost" in picker.message
    picker.click(place(position, "B1"))
    assert picker.action is not None
    assert position.action_text(picker.action) == "C2n=1"


@pytest.mark.parametrize(
    ("clicks", "message"),
    [
        (["C3"], "white does not control the tile"),
        (["B2"], "white does not control the tile"),
        (["c5"], "white does not control the tile"),
        (["a6", "r"], None),
    ],
)
def test_what_cannot_be_done_is_explained(clicks: list[str], message: str | None) -> None:
    position = Position.parse(START)
    picker = Picker(position)
    for click in clicks:
        if click == "r":
            picker.press("r")
        else:
            picker.click(place(position, click), tile=click[0].isupper())
    if message is None:
        assert picker.action == position.parse_action("A3r")
    else:
        assert picker.action is None
        assert message in picker.message
        assert picker.arrows == []


def test_an_undo_is_explained() -> None:
    start = Position.parse("KP../.k../.p../.... w - 0")
    position = start.play(start.parse_action("b4s"))
    picker = Picker(position)
    picker.click(place(position, "b2"))
    picker.press("r")
    assert "not a piece" in picker.message
    picker.press("n")
    assert picker.action is None
    assert "no undo" in picker.message
    assert list(picker.highlights) == ["b2"], "still selected"
    picker.press("e")
    assert picker.action == position.parse_action("b2e")


def test_clicks_change_their_mind() -> None:
    position = Position.parse(START)
    picker = Picker(position)
    for again in ("d3", None):
        picker.click(place(position, "d3"))
        picker.click(place(position, again) if again else None)
        assert picker.highlights == {}
    picker.click(place(position, "d3"))
    picker.click(place(position, "b5"))  # too far to step to: another piece
    assert list(picker.highlights) == ["b5"]
    picker.click(place(position, "C1"), tile=True)
    assert list(picker.highlights) == ["C1"]
    picker.click(place(position, "b5"))
    assert list(picker.highlights) == ["b5"]
    picker.click((-9, -9))
    assert picker.highlights == {}
    picker.press("n")
    assert picker.action is None, "nothing is selected"


# In a window


@pytest.fixture
def pygame(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    module = pytest.importorskip("pygame")
    yield module
    module.display.quit()


class Hand:
    """Posts the events that a user causes in a window."""

    def __init__(self, pygame: Any, env: Any) -> None:
        self.pygame, self.env = pygame, env.unwrapped
        self.window = self.env.renderer.window

    def click(self, name: str, *, offset: Place = (0, 0), right: bool = False) -> None:
        """Click a square or the middle of a tile, or what lies so many places beside it."""
        position: Position = self.env.position
        view = View(Trace.of(position, self.env.renderer.last_action).box(position))
        row, column = place(position, name)
        if name[0].isupper():
            x, y = view.tile_xy((row // 2 + offset[0], column // 2 + offset[1]))
        else:
            x, y = view.square_xy((row + offset[0], column + offset[1]))
        scale = self.window.size / 1000
        button = self.pygame.BUTTON_RIGHT if right else self.pygame.BUTTON_LEFT
        self.post("MOUSEBUTTONDOWN", pos=(round(x * scale), round(y * scale)), button=button)

    def press(self, key: str) -> None:
        self.post("KEYDOWN", key=getattr(self.pygame, f"K_{key}"))

    def post(self, kind: str, **fields: Any) -> None:
        event = self.pygame.event.Event(
            getattr(self.pygame, kind), window=self.window._window, **fields
        )
        self.pygame.event.post(event)


@pytest.fixture
def fast_window(pygame: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small window, no waiting for a viewer to follow, and none for a user who does no more."""

    def wait(milliseconds: int) -> None:
        pytest.fail(f"no action after all clicks and keys: {milliseconds} ms")

    monkeypatch.setattr(render, "Window", partial(render.Window, size=320, fps=0))
    monkeypatch.setattr("pygame.time.wait", wait)


@pytest.mark.usefixtures("fast_window")
def test_a_user_plays_in_pettingzoos_window(pygame: Any) -> None:
    env = skift_v0.env(render_mode="human")
    env.reset(seed=1)
    hand, policy = Hand(pygame, env), ManualPolicy(env, "player_0")
    entries: list[list[tuple[Any, str]]] = [
        [(hand.click, "d3"), (hand.click, "e2")],
        [(hand.click, "A3"), (hand.press, "UP")],
        [(hand.click, "b5"), (hand.press, "ESCAPE"), (hand.click, "A4"), (hand.press, "r")],
    ]
    replies = ["e3e", "d2s"]
    moves = []
    for agent in env.agent_iter(5):
        observation, *_ = env.last()
        position = env.unwrapped.position
        if agent == policy.agent:
            for enter_it, what in entries.pop(0):
                enter_it(what)
            action = policy(observation, agent)
            moves.append(position.action_text(action))
        else:
            action = position.parse_action(replies.pop(0))
        env.step(action)
    assert moves == ["d3se", "A3n", "A4r"]
    assert hand.window.title == "Skift"
    env.close()


@pytest.mark.usefixtures("fast_window")
def test_the_learner_of_the_gymnasium_environment_plays(pygame: Any) -> None:
    env = gymnasium.make("skift/Skift-v0", side="white", render_mode="human")
    env.reset(seed=1)
    hand, policy = Hand(pygame, env), ManualPolicy(env)
    hand.click("b5", right=True)
    hand.click("A3", offset=(0, -1))
    action = policy()
    assert Position.start().action_text(action) == "A3w"
    env.step(action)
    assert env.unwrapped.position.ply == 2  # type: ignore[attr-defined]
    env.close()


@pytest.mark.usefixtures("fast_window")
def test_a_step_off_the_board_and_a_group_to_keep(pygame: Any) -> None:
    env = skift_v0.env(render_mode="human")
    env.reset(options={"position": THREE_GROUPS})
    position, hand, policy = env.unwrapped.position, Hand(pygame, env), ManualPolicy(env)
    hand.click("c6")
    hand.click("c6", offset=(0, -1))
    assert position.action_text(policy()) == "c6w"
    hand.click("B3")
    hand.press("UP")
    hand.click("D2")
    assert policy() == position.parse_action("B3n=2")
    hand.click("B3")
    hand.click("B4")
    hand.press("3")
    assert policy() == position.parse_action("B3n=2")
    env.close()


@pytest.mark.usefixtures("fast_window")
def test_the_title_tells_what_to_do(pygame: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    env = skift_v0.env(render_mode="human")
    env.reset()
    hand, told = Hand(pygame, env), []
    draw = hand.window.draw

    def spy(*args: Any, **options: Any) -> None:
        draw(*args, **options)
        told.append(hand.window._window.title)
        if len(told) == 1:
            hand.click("C3")
        elif len(told) == 2:
            hand.press("1")
            hand.click("A1", offset=(-9, 0))
            hand.press("DOWN")
            hand.post("WINDOWEXPOSED")
            hand.click("A3")
            hand.press("r")

    monkeypatch.setattr(hand.window, "draw", spy)
    ManualPolicy(env)()
    assert told == [
        "Skift: white to move: click a piece or a tile",
        "Skift: C3: white does not control the tile",
    ]
    env.close()


@pytest.mark.usefixtures("fast_window")
def test_closing_the_window_ends_the_wait(pygame: Any) -> None:
    env = skift_v0.env(render_mode="human")
    env.reset()
    Hand(pygame, env).post("WINDOWCLOSE")
    with pytest.raises(WindowClosedError):
        ManualPolicy(env)()
    env.close()


@pytest.mark.usefixtures("fast_window")
def test_faulty_uses_are_refused(pygame: Any) -> None:
    with pytest.raises(ValueError, match="render_mode must be 'human', not 'ansi'"):
        ManualPolicy(skift_v0.env(render_mode="ansi"))
    env = skift_v0.env(render_mode="human")
    env.reset(options={"position": "KPk./.p.. w - 9"})
    with pytest.raises(ValueError, match="player_2"):
        ManualPolicy(env, "player_2")
    with pytest.raises(ValueError, match="plays player_0, not player_1"):
        ManualPolicy(env, "player_0")(None, "player_1")
    env.step(env.unwrapped.position.parse_action("b2se"))
    env.close()
