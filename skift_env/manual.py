"""Play in the `human` window of an environment with mouse and keyboard.

Click a piece, then the square it shall step to, which may lie beside the board. Or click a tile (an
empty square of it, the point in its middle, or anything of it with the right button), then press an
arrow key or click the cell it shall move to; R turns it. Where the tiles then splinter into groups
of equal size, click the group to keep, or press its number. Escape, or the same click again, takes
a choice back. The window's title tells what can be done, and why something cannot.

PettingZoo calls this manual control:

    env = skift_v0.env(render_mode="human")
    env.reset(seed=1)
    human, computer = ManualPolicy(env, "player_0"), make("greedy")
    rng = np.random.default_rng(1)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        if termination or truncation:
            action = None
        elif agent == human.agent:
            action = human(observation, agent)
        else:
            action = computer.act(env.unwrapped.position, rng)
        env.step(action)
    env.close()

In the Gymnasium environment the learner plays: `env.step(ManualPolicy(env)())`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from skift_env.drawing import Arrow
from skift_env.notation import Place, square_name, tile_name
from skift_env.position import Position
from skift_env.render import Renderer, Window, import_pygame
from skift_env.trace import STEPS, Trace
from skift_env.view import View

TURN: Final = "r"
MIDDLE: Final = 0.11
"""How near the middle of a tile a click means the tile, in cells."""
WAIT_MILLISECONDS: Final = 20
SIDE_STEPS: Final = ("n", "e", "s", "w")


class WindowClosedError(Exception):
    """The window in which a player was to choose an action was closed."""


class Picker:
    """An action in the making: clicks and keys go in, in the end an action comes out.

    Attributes:
        action: the action chosen; None so far.
        message: what to do next, or what is wrong with the last thing done.
    """

    def __init__(self, position: Position) -> None:
        self.position = position
        self.action: int | None = None
        self._board = position.board
        self._clear()

    def _clear(self) -> None:
        self._selected: str | None = None
        self._origin: Place = (0, 0)  # where it is
        self._choices: Sequence[int] = ()
        self.message = f"{self.position.side} to move: click a piece or a tile"

    # --- What the player does ---

    def click(self, square: Place | None, *, tile: bool = False) -> None:
        """A click on a quadrant, on the board or beside it; with `tile` on the tile as such."""
        if square is None:
            self._clear()
        elif self._choices:
            self._keep_group_at(square)
        elif self._selected is None:
            self._select(square, tile)
        else:
            self._aim(square, tile)

    def press(self, way: str) -> None:
        """Go a way with what is selected: a direction, or "r" to turn."""
        if self._selected is None or self._choices:
            return
        if way == TURN and self._selected[0].islower():
            self.message = "a tile can be turned, not a piece"
        else:
            self._attempt(way)

    def keep_group(self, number: int) -> None:
        """Choose by its number, from 1, which of several groups stays."""
        if 1 <= number <= len(self._choices):
            self.action = self._choices[number - 1]

    def cancel(self) -> None:
        """Take back what is selected."""
        self._clear()

    # --- What to show ---

    @property
    def arrows(self) -> list[Arrow]:
        """Where what is selected can go."""
        if self._choices:
            text = self.position.action_text(self._choices[0])
            return [(text[:2], text[2], 1.0, None)]
        if self._selected is None:
            return []
        return [(self._selected, way, 0.4, None) for way in self._ways()]

    @property
    def highlights(self) -> dict[str, float]:
        """What is selected, or the groups between which there is a choice."""
        if self._choices:
            groups = enumerate(map(self._group, self._choices))
            return {self._tile_name(t): 1.0 - 0.35 * number for number, g in groups for t in g}
        if self._selected is None:
            return {}
        return {self._selected: 0.7}

    # --- How one leads to the other ---

    def _letter(self, square: Place) -> str:
        """What is on a quadrant: a piece, "." nothing, "_" no tile."""
        row, column = square
        inside = 0 <= row < len(self._board) and 0 <= column < len(self._board[0])
        return self._board[row][column] if inside else "_"

    def _tile_name(self, tile: Place) -> str:
        return tile_name(tile, len(self._board) // 2)

    def _ways(self) -> list[str]:
        assert self._selected is not None
        ways = STEPS if self._selected[0].islower() else (*SIDE_STEPS, TURN)
        return [way for way in ways if self._legal(way)]

    def _legal(self, way: str) -> list[int]:
        """The legal actions that take what is selected one way: several if there is a choice."""
        assert self._selected is not None
        choices = ("", "=1", "=2") if self._selected[0].isupper() and way != TURN else ("",)
        actions = (self.position.parse_action(self._selected + way + c) for c in choices)
        return [action for action in actions if action in self.position.legal_actions]

    def _select(self, square: Place, tile: bool) -> None:
        self._clear()
        letter = self._letter(square)
        own = "KP" if self.position.side == "white" else "kp"
        if letter == "_":
            return
        if letter in own and not tile:
            self._selected, self._origin = square_name(square, len(self._board)), square
            self.message = f"{self._selected}: click the square to step to"
            return
        self._origin = square[0] // 2, square[1] // 2
        self._selected = self._tile_name(self._origin)
        if self._ways():
            self.message = f"{self._selected}: arrow keys move the tile, R turns it"
        else:
            turn = self.position.parse_action(self._selected + TURN)
            why = self.position.why_illegal(turn) or "no way to move it is legal"
            self.message, self._selected = f"{self._selected}: {why}", None

    def _aim(self, square: Place, tile: bool) -> None:
        """A click while something is selected: where to go, or something else to select."""
        assert self._selected is not None
        is_tile = self._selected[0].isupper()
        target = (square[0] // 2, square[1] // 2) if is_tile else square
        offset = target[0] - self._origin[0], target[1] - self._origin[1]
        ways = {STEPS[way]: way for way in (SIDE_STEPS if is_tile else STEPS)}
        if offset == (0, 0):
            self._clear()
        elif offset in ways and is_tile >= tile:
            self._attempt(ways[offset])
        else:
            self._select(square, tile)

    def _attempt(self, way: str) -> None:
        actions = self._legal(way)
        if len(actions) == 1:
            self.action = actions[0]
        elif actions:
            self._choices = actions
            self.message = "click the group of tiles to keep"
        else:
            assert self._selected is not None
            why = self.position.why_illegal(self.position.parse_action(self._selected + way))
            self.message = f"{self._selected}{way}: {why}"

    def _group(self, action: int) -> set[Place]:
        """The tiles that stay, where they are before the move."""
        rows, columns = len(self._board) // 2, len(self._board[0]) // 2
        cells = ((row, column) for row in range(rows) for column in range(columns))
        tiles = {(row, column) for row, column in cells if self._board[2 * row][2 * column] != "_"}
        return tiles - set(self.position.effect(action).lost_tiles)

    def _keep_group_at(self, square: Place) -> None:
        tile = square[0] // 2, square[1] // 2
        for action in self._choices:
            if tile in self._group(action):
                self.action = action
                return
        if self._letter(square) == "_":
            self._clear()
        else:
            self.message = f"{self._tile_name(tile)} is lost with any group: click one to keep"


class ManualPolicy:
    """A policy that asks the user of the environment's window.

    Args:
        env: a Skift environment of PettingZoo or Gymnasium, wrapped or not, with
            `render_mode="human"`.
        agent: the agent that the user plays; None for all of them.

    Raises:
        ValueError: for another render mode, or an agent that the environment does not have.
    """

    def __init__(self, env: Any, agent: str | None = None) -> None:
        unwrapped = env.unwrapped
        if unwrapped.render_mode != "human":
            raise ValueError(f"render_mode must be 'human', not {unwrapped.render_mode!r}")
        agents = getattr(unwrapped, "possible_agents", [])
        if agent is not None and agent not in agents:
            raise ValueError(f"agent must be None or one of {agents}, not {agent!r}")
        self.env, self.agent = env, agent

    def __call__(self, observation: Any = None, agent: str | None = None) -> int:
        """Wait for the user to choose a legal action. The observation is not looked at.

        Raises:
            ValueError: for an agent that the user does not play, or if the game is over.
            WindowClosedError: if the user closes the window.
        """
        if self.agent is not None and agent not in (None, self.agent):
            raise ValueError(f"the user plays {self.agent}, not {agent}")
        position: Position = self.env.unwrapped.position
        if not position.legal_actions:
            raise ValueError(f"there is nothing to choose: the game is over in {position.text!r}")
        renderer: Renderer = self.env.unwrapped.renderer
        return _ask(renderer.window, position, renderer)


def _ask(window: Window, position: Position, renderer: Renderer) -> int:
    pygame = import_pygame()
    title, last = window.title, renderer.last_action
    view = View(Trace.of(position, last).box(position))
    picker = Picker(position)
    action, stale = None, True
    telling = pygame.MOUSEBUTTONDOWN, pygame.KEYDOWN, pygame.WINDOWEXPOSED
    try:
        while action is None:
            if stale:
                window.title = f"{title}: {picker.message}"
                overlays = {"arrows": picker.arrows, "highlights": picker.highlights}
                window.draw(position, last, view=view, **overlays)
            events = window.take_events()
            if window.closed_by_user:
                raise WindowClosedError("the window was closed")
            for event in events:
                if picker.action is None and event.type == pygame.KEYDOWN:
                    _press(picker, event.key)
                elif picker.action is None and event.type == pygame.MOUSEBUTTONDOWN:
                    square, middle = _aimed_at(view, *window.to_scene(*event.pos))
                    picker.click(square, tile=middle or event.button == pygame.BUTTON_RIGHT)
            action = picker.action
            stale = any(event.type in telling for event in events)
            if not events:
                pygame.time.wait(WAIT_MILLISECONDS)
    finally:
        window.title = title
    return action


def _press(picker: Picker, key: int) -> None:
    pygame = import_pygame()
    ways = {
        pygame.K_UP: "n",
        pygame.K_RIGHT: "e",
        pygame.K_DOWN: "s",
        pygame.K_LEFT: "w",
        pygame.K_r: TURN,
    }
    if key in ways:
        picker.press(ways[key])
    elif key == pygame.K_ESCAPE:
        picker.cancel()
    elif pygame.K_1 <= key <= pygame.K_3:
        picker.keep_group(key - pygame.K_0)


def _aimed_at(view: View, x: float, y: float) -> tuple[Place | None, bool]:
    """The quadrant at a point, and whether the point is in the middle of a tile's cell."""
    square = view.square_at(x, y)
    if square is None:
        return None, False
    middle = view.tile_xy((square[0] // 2, square[1] // 2))
    return square, math.dist(middle, (x, y)) < MIDDLE * view.scale
