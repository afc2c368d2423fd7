"""Draw the pictures of README.md, into this folder or the one named by an argument."""

import sys
from pathlib import Path

from skift_env import Position, replay, svg
from skift_env.records import parse_game

BEFORE = (
    ".p......__/k..PPp..__/____KkP.__/____KPp.__/__P.____../__p.____P./____.p____/____..____"
    " w t:s:C1 12"
)
# What arena.play_game makes of these agents with seed 5.
GAME = """
[White "alphabeta-v1:depth=3"]
[Black "greedy-v1"]

1. c2n e5w 2. e4nw b4nw 3. c5n a5e 4. e2nw b5ne 5. c3n C2r 6. b3se A1s 7. c4ne
d4w 8. d5sw b2s 9. e6e d6sw 10. c8sw c5e 11. B2e a6se 12. C2s e2se 13. B3w 1-0
"""

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
before = Position.parse(BEFORE)
move = before.parse_action("B4e")
for name, picture in (
    ("start", svg.board(Position.start())),
    ("splinter", svg.board(before.play(move), last_action=(before, move))),
):
    (folder / f"{name}.svg").write_text(picture, "utf-8", newline="\n")
replay.write_gif(folder / "game.gif", parse_game(GAME), size=400)
