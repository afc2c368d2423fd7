"""What README.md says in tables, pictures and samples is what the package does.

Its Python examples run in test_layout.py, its two commands in .ci/run.
"""

from __future__ import annotations

import re
import runpy
import sys
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import vectors

import skift_env
from skift_env import agents, demo, skift_v0
from skift_env.actions import decode
from skift_env.arena import play_game
from skift_env.position import Position
from skift_env.records import parse_game

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def after(comment: str) -> str:
    """The paragraph that follows a comment, without the fence if it is a code block."""
    (found,) = re.findall(
        rf"<!-- {comment} -->\n(?:```\w*\n(.*?)```\n|(.*?)\n\n)", README, re.DOTALL
    )
    return found[0] or found[1]


def table(comment: str) -> list[list[str]]:
    """The cells of the table that follows a comment, without its head."""
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in after(comment).splitlines()]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def span(text: str) -> range:
    """The numbers that a cell such as `7` or `8 … 15` means."""
    first, _, last = text.partition(" … ")
    return range(int(first), int(last or first) + 1) if first else range(0)


def environment_table() -> dict[str, str]:
    """The table of an environment's page, in PettingZoo's form."""
    planes, tokens = skift_v0.env(), skift_v0.env(observation="tokens")
    agents = planes.possible_agents
    action = planes.action_space(agents[0])
    space = planes.observation_space(agents[0])
    shapes = {name: each.shape for name, each in space.spaces.items()}
    shape_of_tokens = tokens.observation_space(agents[0])["observation"].shape
    bounds = {
        (int(each.low.min()), int(each.high.max()), each.dtype)
        for made in (planes, tokens)
        for each in made.observation_space(agents[0]).values()
    }
    ((low, high, dtype),) = bounds
    return {
        "Creation": "`skift_v0.env()`; with PettingZoo 1.27 or newer, after `import skift_env`, "
        'also `pettingzoo.make("aec", "skift/skift-v0")`',
        "Actions": type(action).__name__,
        "Parallel API": "Yes" if planes.metadata["is_parallelizable"] else "No",
        "Manual Control": "Yes, `skift_env.manual`" if find_spec("skift_env.manual") else "No",
        "Agents": f"`agents = {agents}`".replace("'", '"'),
        "Number of agents": str(len(agents)),
        "Action Shape": f"`{action.shape}`",
        "Action Values": f"`{action}`: {action.start} … {action.start + action.n - 1}",
        "Observation Shape": f"`observation` {shapes['observation']}, or {shape_of_tokens} as "
        f"tokens; `action_mask` {shapes['action_mask']}",
        "Observation Values": f"{low} or {high}, {dtype}",
        "Render Modes": ", ".join(f"`{mode}`" for mode in planes.metadata["render_modes"]),
    }


def test_table_of_the_environment() -> None:
    assert {row[0]: row[1] for row in table("environment")} == {
        f"**{name}**": value for name, value in environment_table().items()
    }


def test_table_of_actions() -> None:
    rows = table("actions")
    assert [n for row in rows for n in span(row[1])] == list(range(skift_env.NUM_ACTIONS))
    for name, numbers, formula, texts in rows:
        for number in span(numbers):
            action = decode(number)
            assert name == f"`{type(action).__name__}({', '.join(action._fields)})`"
            assert eval(formula.replace("·", "*"), {}, action._asdict()) == number
        for text in re.findall("`(.+?)`", texts):
            assert Position.start().parse_action(text) in span(numbers)


def test_legend_of_observations() -> None:
    rows = table("observation")
    assert [i for row in rows for i in span(row[0])] == list(range(21))
    assert sorted(i for row in rows for i in span(row[1])) == list(range(52))
    ever = np.zeros((len(rows), 2), np.int64)
    texts = [edge["position"] for edge in vectors.edges()[::5]]
    for position in (Position.start(), *map(Position.parse, texts)):
        for side, letters in (("white", "KPkp"), ("black", "kpKP")):
            planes = position.observation("planes", side)
            tokens = position.observation("tokens", side)
            counts = np.array(
                [
                    (planes[span(plane)].sum(), tokens[:, span(token)].sum())
                    for plane, token, _ in rows
                ]
            )
            ever += counts
            assert [*map(tuple, counts)] == legend_counts(position, side, letters)
    assert (ever > 0).tolist() == [[bool(plane), True] for plane, _, _ in rows]


def legend_counts(position: Position, side: str, letters: str) -> list[tuple[int, int]]:
    """How many cells of the planes and entries of the tokens are one, by row of the legend."""
    board = "".join(position.board)
    tiles = len(board.replace("_", "")) // 4
    own = list(position.control.values()).count(side)  # type: ignore[arg-type]
    other = len(position.control) - own
    cells = {(r, c) for r, row in enumerate(position.board) for c, x in enumerate(row) if x != "_"}
    cells = {(r // 2, c // 2) for r, c in cells}
    locked = sum({(r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)} <= cells for r, c in cells)
    squares = position.mark.squares if position.mark else ()
    moved = position.mark.tiles if position.mark else ()
    on_tiles = {(r // 2, c // 2) for r, c in squares} | set(moved)
    to_move = position.side == side
    return [
        *((board.count(letter), board.count(letter)) for letter in letters),
        (4 * tiles, tiles),
        (0, tiles),
        (0, tiles),
        (4 * own, own),
        (4 * other, other),
        (4 * locked, locked),
        (len(squares), len(squares)),
        (4 * len(moved), len(moved)),
        (0, len(on_tiles)),
        (324 * to_move, tiles * to_move),
    ]


def test_sample_of_the_first_command(capsys: pytest.CaptureFixture[str]) -> None:
    demo.main([])
    assert capsys.readouterr().out == after("demo")
    demo.main(["--seed", "1"])
    assert capsys.readouterr().out != after("demo")


def test_the_first_command_shows_a_window(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    shown = []
    monkeypatch.setattr("skift_env.render.Window.show", lambda *position: shown.append(position))
    demo.main(["--render", "human"])
    moves, result = after("demo").split("\n\n")[0], after("demo").splitlines()[-1]
    assert capsys.readouterr().out == f"{moves}\n\n{result}\n"
    assert len(shown) == len(re.findall(r"[a-zA-Z]\d+[a-z]+", moves)) + 1


def test_pictures_are_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = ROOT / ".ci" / "readme_pictures.py"
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path)])
    runpy.run_path(str(script))
    names = re.findall(r'<img src="\.ci/([\w.]+)"', README)
    assert sorted(names) == sorted(path.name for path in tmp_path.iterdir())
    for name in names:
        if name.endswith(".gif"):
            assert_films_alike(ROOT / ".ci" / name, tmp_path / name)
            continue
        kept, new = (
            [
                (shape.tag, shape.get("class"), shape.text)
                for shape in ElementTree.parse(path).iter()
            ]
            for path in (ROOT / ".ci" / name, tmp_path / name)
        )
        assert kept == new, "run python .ci/readme_pictures.py, and look at the pictures"


@pytest.mark.compiled_only
def test_the_game_shown_is_what_its_agents_play() -> None:
    script = (ROOT / ".ci" / "readme_pictures.py").read_text("utf-8")
    (record,) = re.findall(r'GAME = """(.*?)"""', script, re.DOTALL)
    game = play_game("alphabeta:depth=3", "greedy", seed=5)
    assert game == parse_game(record)
    assert f"white, beats the greedy agent in {len(game.moves)} plies" in README


def test_commands_to_play_and_replay() -> None:
    typer = pytest.importorskip("typer")
    from skift_env.cli.app import app

    commands = typer.main.get_command(app).commands
    lines = [line.partition("#")[0].split() for line in after("play").splitlines()]
    named = [(name, options) for skift, name, *options in lines if skift == "skift"]
    assert [name for name, _ in named] == ["play", "play", "replay"]
    for name, options in named:
        commands[name].make_context(name, options)  # an option that is not there is an error
        for spec in {"alphabeta:depth=2", "mcts:simulations=1000"} & set(options):
            assert spec.partition(":")[0] in agents.make(spec).name


def assert_films_alike(kept: Path, new: Path) -> None:
    """Frame by frame, but for the fonts of another version of pygame."""
    image = pytest.importorskip("PIL.Image")
    assert kept.stat().st_size < 1_500_000
    with image.open(kept) as one, image.open(new) as other:
        assert (one.n_frames, one.size) == (other.n_frames, other.size)
        for number in range(one.n_frames):
            one.seek(number)
            other.seek(number)
            pixels = (np.asarray(film.convert("RGB"), dtype=int) for film in (one, other))
            assert np.abs(np.subtract(*pixels)).mean() < 2, f"frame {number}: see above"


def test_text_forms_of_the_limits() -> None:
    wide = "/".join(["." * 18] * 2) + " w - 0"
    high = "/".join([".."] * 18) + " w - 0"
    assert Position.parse(wide).parse_action("r1e") >= 0
    assert Position.parse(high).parse_action("A9n") >= 0


def test_citation_has_the_version() -> None:
    assert f"version = {{{skift_env.__version__}}}" in README


def test_table_of_agents_names_them_all() -> None:
    specs = [spec for row in table("agents") for spec in re.findall("`(.+?)`", row[0])]
    assert {spec.split(":")[0] for spec in specs} == {
        name.rpartition("-v")[0] for name in agents.names()
    }
    for spec in specs:
        if not spec.startswith("ppo"):
            position = Position.start()
            action = agents.make(spec.replace("N", "1").replace("X", "0.5")).act(
                position, np.random.default_rng(0)
            )
            assert action in position.legal_actions
