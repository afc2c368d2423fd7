"""A game in the terminal, line by line, against an agent."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from skift_env.agents import Agent
from skift_env.position import IllegalActionError, NotationError, Position
from skift_env.records import Game, Termination, write_games
from skift_env.render import text
from skift_env.types import Side

HELP: Final = """\
Type a move, or its beginning:
  c3ne      the piece on square c3 steps north-east and pushes what is in its way
  B1e       tile B1 moves east and pushes what is in its way
  B1e=1     the same, and of the groups that tie for most tiles, number 1 stays (B1e: number 0)
  B1r       tile B1 turns by 180 degrees
If only one move begins so, it is played; if several do, they are listed.

Or a command:
  moves     list your moves
  hint      what the agent would play in your place
  undo      take back your last move and the reply
  board     show the board again
  save FILE add the game so far to a file of game records
  resign    give up
  quit      leave
  help      this text"""

COMMANDS: Final = ("moves", "hint", "undo", "board", "save", "resign", "quit", "help")


class TerminalGame:
    """A game between a person and an agent.

    Args:
        agent: the opponent.
        start: the first position.
        side: the person's side.
        seed: of the agent's generators, one for each ply, so that an undo does not change it.
        ask: shows a prompt and returns a line; raises EOFError when there are no more.
        say: shows a text.
    """

    def __init__(
        self,
        agent: Agent,
        start: Position,
        side: Side,
        seed: np.random.SeedSequence,
        ask: Callable[[str], str] = input,
        say: Callable[[str], object] = print,
    ) -> None:
        self.agent, self.side, self.seed = agent, side, seed
        self.ask, self.say = ask, say
        self.positions = [start]
        self.actions: list[int] = []
        self.ended: Termination | None = None
        """How the game ended, if not by the rules."""

    @property
    def position(self) -> Position:
        """Where the game stands."""
        return self.positions[-1]

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.ended is not None or self.position.outcome is not None

    @property
    def game(self) -> Game:
        """The game so far."""
        names = {"White": "human", "Black": self.agent.name}
        if self.side == "black":
            names = {"White": self.agent.name, "Black": "human"}
        usual: Termination = "unfinished" if self.position.outcome is None else "normal"
        return Game(self.positions[0], tuple(self.actions), self.ended or usual, names)

    def run(self) -> None:
        """Play until the person leaves."""
        self.say(f"You are {self.side} ({'K P' if self.side == 'white' else 'k p'}). Try help.")
        self.show()
        while True:
            if not self.over and self.position.side != self.side:
                self.reply()
                continue
            try:
                line = self.ask(f"{'over' if self.over else self.side}> ").strip()
            except EOFError:
                return
            if line == "quit":
                return
            self.obey(line)

    def show(self) -> None:
        """Show the board, and the result if there is one."""
        last = (self.positions[-2], self.actions[-1]) if self.actions else None
        self.say(f"\n{text(self.position, last_action=last)}\n")
        if self.over:
            winner = self.game.winner
            how = f" ({self.ended})" if self.ended else ""
            told = "The game is drawn" if winner is None else f"{winner} wins"
            self.say(f"{told}{how}. You can undo, save or quit.")

    def play(self, action: int) -> None:
        """Play an action and show the board."""
        self.positions.append(self.position.play(action))
        self.actions.append(action)
        self.show()

    def reply(self) -> None:
        """Let the agent play; if it cannot, it loses."""
        try:
            action = self.agent.act(self.position, self.generator())
        except Exception as error:
            self.say(f"{self.agent.name} failed: {type(error).__name__}: {error}")
            self.ended = "crash"
            self.show()
            return
        try:
            move = self.position.action_text(action)
            self.position.play(action)
        except IllegalActionError as error:
            self.say(f"{self.agent.name} failed: {error}")
            self.ended = "illegal move"
            self.show()
            return
        self.say(f"{self.agent.name} plays {move}")
        self.play(action)

    def generator(self) -> np.random.Generator:
        """The generator for this ply."""
        ply = len(self.actions)
        return np.random.default_rng(np.random.SeedSequence(self.seed.entropy, spawn_key=(ply,)))

    def obey(self, line: str) -> None:
        """Do what a line asks for."""
        command, _, rest = line.partition(" ")
        if command not in COMMANDS:
            self.enter(line)
        elif command == "save":
            self.save(rest.strip())
        elif command == "help":
            self.say(HELP)
        elif command == "board":
            self.show()
        elif command == "undo":
            self.undo()
        elif self.over:
            self.say("The game is over. You can undo, save or quit.")
        elif command == "moves":
            self.list_moves("")
        elif command == "hint":
            self.hint()
        elif command == "resign":
            self.ended = "resignation"
            self.show()

    def moves(self, prefix: str) -> dict[str, int]:
        """The legal actions by name, those that begin with a text."""
        names = (
            (self.position.action_text(action), action) for action in self.position.legal_actions
        )
        return {name: action for name, action in sorted(names) if name.startswith(prefix)}

    def enter(self, line: str) -> None:
        """Play the move that a line means, or say why not."""
        if self.over:
            self.say("The game is over. You can undo, save or quit.")
            return
        if not line:
            self.say("Type a move, or help.")
            return
        try:
            # A whole move is not the beginning of another one: c3n, if illegal, is not c3ne.
            action = self.position.parse_action(line)
        except NotationError as error:
            found = self.moves(line)
            if len(found) == 1:
                self.play(*found.values())
            elif found:
                self.list_moves(line)
            else:
                self.say(f"No move of yours begins with {line!r}: {error}")
            return
        if fault := self.position.why_illegal(action):
            self.say(f"{line} is not legal: {fault}")
        else:
            self.play(action)

    def list_moves(self, prefix: str) -> None:
        """Show the moves that begin with a text, a line for each square or tile."""
        groups: dict[str, list[str]] = {}
        for name in self.moves(prefix):
            groups.setdefault(name.partition("=")[0].rstrip("neswr"), []).append(name)
        self.say("\n".join("  " + " ".join(names) for names in groups.values()))

    def hint(self) -> None:
        """Say what the agent would play."""
        try:
            action = self.agent.act(self.position, self.generator())
            move, words = self.position.action_text(action), self.position.describe(action)
        except Exception as error:
            self.say(f"{self.agent.name} has no hint: {type(error).__name__}: {error}")
            return
        self.say(f"{self.agent.name} would play {move}: {words}")

    def undo(self) -> None:
        """Go back to the person's last choice."""
        if self.ended == "resignation":
            self.ended = None
            self.show()
            return
        choices = [ply for ply, position in enumerate(self.positions) if position.side == self.side]
        earlier = [ply for ply in choices if ply < len(self.actions)]
        if not earlier:
            self.say("There is nothing to take back.")
            return
        self.ended = None
        del self.positions[earlier[-1] + 1 :], self.actions[earlier[-1] :]
        self.show()

    def save(self, name: str) -> None:
        """Add the game to a file."""
        if not name:
            self.say("To which file? For example: save games.txt")
            return
        try:
            write_games(Path(name).expanduser(), [self.game], append=True)
        except OSError as error:
            self.say(f"The game cannot be saved: {error}")
            return
        self.say(f"Saved to {name}")


def complete_with_tab(game: TerminalGame) -> None:
    """Let the tab key complete moves and commands, where the terminal and Python can do it."""
    if not sys.stdin.isatty():
        return
    try:
        readline: Any = importlib.import_module("readline")
    except ImportError:  # on Windows
        return

    def complete(beginning: str, number: int) -> str | None:
        words = [*game.moves(beginning), *(word for word in COMMANDS if word.startswith(beginning))]
        return words[number] if number < len(words) else None

    readline.set_completer_delims(" ")
    readline.set_completer(complete)
    readline.parse_and_bind("tab: complete")
