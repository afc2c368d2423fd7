"""The command line: what it shows, and how it refuses what it cannot do."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from vectors import edges, games, perft_cases

pytest.importorskip("typer")

from typer.testing import CliRunner

import skift_env
from skift_env import cli, match
from skift_env.cli.app import app
from skift_env.cli.terminal import TerminalGame
from skift_env.match import play_match
from skift_env.position import Position
from skift_env.records import parse_game, read_games
from skift_env.render import text
from skift_env.results import load

MATCH = ["match", "random", "random", "--pairs", "4", "--openings", "start"]
LEAGUE_FILE_SETTINGS = ["--pairs", "3", "--openings", "start", "--bootstrap", "20"]


def skift(*arguments, input=None, status=0):  # noqa: A002 - the runner's word
    """The output of a command, which must end with this status, and not by an exception."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], input=input)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == status, done.output
    return done.output


class Second:
    """The second legal action."""

    name = "second"

    def act(self, position, rng):
        return position.legal_actions[1]


# --- Help and errors ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ([], ["match", "league", "verify", "perft", "show", "play"]),
        (["match"], ["--pairs", "--sprt ELO0 ELO1", "--resume", "alphabeta:depth=3", "example"]),
        (["league"], ["--anchor", "--plot", "--table", "example"]),
        (["verify"], ["FILE", "--play-again"]),
        (["perft"], ["[POSITION] DEPTH", "--divide", "example"]),
        (["show"], ["POSITION", "--moves", "example"]),
        (
            ["play"],
            ["--side", "--seed", "--web", "--opponent AGENT", "--host", "--port", "example"],
        ),
    ],
)
def test_help(command, words) -> None:
    for flag in ("--help", "-h"):
        output = skift(*command, flag)
        assert [word for word in words if word not in output] == []


def test_version() -> None:
    assert skift("--version") == f"skift-env {skift_env.__version__}\n"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["nothing"], "nothing"),
        (["match", "random"], "Missing argument"),
        (["match", "random", "nobody"], "nobody"),
        ([*MATCH, "--pairs", "0"], "pairs must be an integer >= 1, not 0"),
        ([*MATCH, "--pairs", "many"], "--pairs"),
        ([*MATCH, "--seed", "-1"], "seed must be"),
        ([*MATCH, "--workers", "0"], "workers must be"),
        ([*MATCH, "--max-plies", "0"], "max_plies must be"),
        ([*MATCH, "--move-seconds", "0"], "move_seconds must be"),
        ([*MATCH, "--sprt", "5", "0"], "finite elo0 < elo1"),
        ([*MATCH, "--sprt", "0", "5", "--alpha", "2"], "error rates"),
        ([*MATCH, "--resume"], "--output, which is not given"),
        ([*MATCH, "--output", "no/such/folder/file"], "No such file"),
        ([*MATCH, "--games", "no/such/folder/file"], "no/such/folder is no folder"),
        (["league", "random", "--openings", "start"], "two agents or more"),
        (["league", "random", "random", "--openings", "start"], "repeated"),
        (["verify", "no-such-file"], "No such file"),
        (["perft", "three"], "DEPTH must be a whole number >= 0, not 'three'"),
        (["perft", "..", "w", "-", "0", "1"], "board: an odd number of rows"),
        (["perft", "--", "-1"], "not '-1'"),
        (["show", "x"], "fields: not four fields"),
        (["play", "nobody"], "nobody"),
        (["play", "random", "--position", "x"], "fields: not four fields"),
        (["play", "random", "--position", "..K./..k./.P../.... b - 41"], "the game is over"),
        (["play", "random", "--side", "green"], "green"),
        (["play", "random", "--opponent", "greedy"], "two agents are given"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_reason(tmp_path, monkeypatch, command, message):
    monkeypatch.chdir(tmp_path)
    output = skift(*command, status=2)
    assert message in " ".join(output.split())
    assert "Traceback" not in output


def test_without_its_packages_it_says_what_to_install(monkeypatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "skift_env.cli.app", None)

    def missing(name):
        class Finder:
            def find_spec(self, fullname, path=None, target=None):
                if fullname == "skift_env.cli.app":
                    raise ModuleNotFoundError(f"No module named {name!r}", name=name)

        return Finder()

    monkeypatch.delitem(sys.modules, "skift_env.cli.app")
    for name in ("typer", "rich.console"):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "meta_path", [missing(name), *sys.meta_path])
            with pytest.raises(SystemExit) as caught:
                cli.main()
        assert caught.value.code == 2
        assert 'pip install "skift-env[cli]"' in capsys.readouterr().err
    with monkeypatch.context() as patch:  # a fault of ours is no missing package
        patch.setattr(sys, "meta_path", [missing("skift_env.nonsense"), *sys.meta_path])
        with pytest.raises(ModuleNotFoundError, match="nonsense"):
            cli.main()


def test_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "skift_env", "perft", "x"], capture_output=True, check=False
    )
    assert done.returncode == 2
    assert b"Usage: skift perft" in done.stderr


# --- perft and show ----------------------------------------------------------------------------


def test_perft() -> None:
    assert skift("perft", "0") == "1\n"
    assert skift("perft", "1") == "74\n"
    position, counts = perft_cases()[1]
    assert skift("perft", position, "2") == f"{counts[1]}\n"
    assert skift("perft", *position.split(), "2") == f"{counts[1]}\n"
    *rows, total = skift("perft", position, "2", "--divide").splitlines()
    divided = dict(row.split() for row in rows)
    start = Position.parse(position)
    assert sorted(divided) == sorted(map(start.action_text, start.legal_actions))
    assert sum(map(int, divided.values())) == int(total) == counts[1]


def test_show() -> None:
    assert skift("show") == text(Position.start()) + "\n"
    case = edges()[0]
    assert skift("show", case["position"]) == text(Position.parse(case["position"])) + "\n"
    listed = skift("show", *case["position"].split(), "--moves").split("\n\n")[-1].splitlines()
    told = {row.split()[0]: int(row.split()[1]) for row in listed}
    assert told == {name: number for name, (number, _) in case["actions"].items()}


# --- match, league and verify ------------------------------------------------------------------


def test_match_shows_what_it_saves(tmp_path) -> None:
    file, record = tmp_path / "results.json", tmp_path / "games.txt"
    output = skift(*MATCH, "--seed", "3", "--output", file, "--games", record)
    direct = play_match("random", "random", pairs=4, openings="start", seed=3)
    losses, draws, wins = direct.counts.trinomial
    assert f"8: {wins} won, {draws} drawn, {losses} lost" in output
    assert f"{100 * direct.counts.score:.1f} %" in output
    assert read_games(record) == list(direct.played) == list(load(file).result.played)
    assert "all is as it should be" in skift("verify", file, "--play-again", "2")
    assert "exists; resume it" in " ".join(skift(*MATCH, "--output", file, status=2).split())
    assert skift(*MATCH, "--seed", "3", "--output", file, "--resume") == output
    assert "seed is 3" in " ".join(skift(*MATCH, "-o", file, "--resume", status=2).split())
    assert read_games(record) == list(load(file).result.played)


def test_verify_tells_what_is_wrong(tmp_path) -> None:
    file = tmp_path / "results.json"
    skift(*MATCH, "--output", file)
    file.write_text(file.read_text().replace("1-0", "0-1"))
    output = skift("verify", file, status=1)
    assert "wrong: games[" in output
    assert "result is '0-1', but the game makes it '1-0'" in output
    file.write_text("{}")
    assert "holds no results" in " ".join(skift("verify", file, status=2).split())


def test_match_with_a_sequential_test() -> None:
    output = skift(*MATCH, "--pairs", "40", "--sprt", "-900", "-800")
    assert "decision" in output
    assert "H1, stronger by -800 Elo" in output


def test_openings_from_a_file(tmp_path) -> None:
    positions = [plies[4]["position"] for plies in games("uniform")[:3]]
    file, results = tmp_path / "openings.txt", tmp_path / "results.json"
    file.write_text("\n".join([*positions, "", ""]))
    skift(*MATCH[:-1], file, "--output", results)
    assert json.loads(results.read_text())["settings"]["openings"]["positions"] == positions
    file.write_text("\n".join([*positions, "nonsense"]))
    assert "line 4: fields" in " ".join(skift(*MATCH[:-1], file, status=2).split())


def test_ctrl_c_keeps_the_games_and_tells_how_to_go_on(tmp_path, monkeypatch) -> None:
    file = tmp_path / "results.json"
    whole = tmp_path / "whole.json"
    monkeypatch.setattr(match, "SECONDS_BETWEEN_REPORTS", 0)
    save_once = match.save

    def interrupt(*arguments):
        save_once(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(match, "SECONDS_BETWEEN_SAVES", 0)
        patch.setattr(match, "save", interrupt)
        output = skift(*MATCH, "--output", file, status=130)
    assert "go on with --resume" in output
    assert "1 of 8 games are played" in output
    skift(*MATCH, "--output", file, "--resume")
    skift(*MATCH, "--output", whole)
    assert file.read_bytes() == whole.read_bytes()


def test_league(tmp_path, monkeypatch) -> None:
    known = match.as_agent
    for module in ("skift_env.arena", "skift_env.match", "skift_env.cli.contests"):
        monkeypatch.setattr(
            f"{module}.as_agent", lambda spec: Second() if spec == "second" else known(spec)
        )
    table, plot = tmp_path / "table.md", tmp_path / "league.svg"
    output = skift(
        *("league", "random", "second", *LEAGUE_FILE_SETTINGS),
        *("--table", table, "--plot", plot, "--output", tmp_path / "league.json"),
    )
    assert "anchor" in output
    assert "first move, Elo" in output
    assert "| random-v1 |" in table.read_text()
    assert plot.read_bytes().startswith(b"<?xml")
    assert "6 games" in skift("verify", tmp_path / "league.json")
    refused = skift(
        *("league", "random", "second", *LEAGUE_FILE_SETTINGS, "--plot", tmp_path / "x.nonsense"),
        status=2,
    )
    assert "nonsense" in refused


# --- play --------------------------------------------------------------------------------------


def play(*lines, agent="random", options=()):
    """What a person sees who types these lines."""
    return skift("play", agent, "--seed", "1", *options, input="".join(f"{x}\n" for x in lines))


def test_play_a_move_and_take_it_back() -> None:
    output = play("c4n", "undo", "quit")
    start, after = Position.start(), Position.start().play(Position.start().parse_action("c4n"))
    assert text(after).splitlines()[3] in output
    assert "random-v1 plays " in output
    assert output.count("(ply 0)") == 2
    assert output.rindex("(ply 0)") > output.rindex("(ply 2)")
    assert "There is nothing to take back" in play("undo", "quit")
    assert text(start) in output


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("c4", "c4e c4n c4ne c4nw c4s c4se c4sw c4w"),
        ("A3", "A3e A3n A3r A3s A3w"),
        ("moves", "C1e C1n C1r C1s C1w"),
        ("a1n", "a1n is not legal: no piece stands there"),
        ("B2e", "B2e is not legal: white does not control the tile"),
        ("C9", "No move of yours begins with 'C9'"),
        ("hello", "No move of yours begins with 'hello'"),
        ("", "Type a move, or help."),
        ("help", "take back your last move"),
        ("save", "To which file?"),
        ("save no/such/folder/file", "cannot be saved"),
        ("hint", "random-v1 would play "),
        ("board", "White to move (ply 0)"),
    ],
)
def test_play_answers(tmp_path, monkeypatch, line, answer) -> None:
    monkeypatch.chdir(tmp_path)
    output = play(line, "quit")
    assert answer in output
    assert "(ply 1)" not in output


def test_play_completes_a_move_that_only_one_begins_like() -> None:
    position, move = next(
        (case["position"], name)
        for case in edges()
        for name in case["actions"]
        if name.endswith("=1") and name[:-1] + "2" not in case["actions"]
    )
    start = Position.parse(position)
    after = start.play(start.parse_action(move))
    output = play(move[:-1], "quit", options=("--position", position, "--side", start.side))
    assert text(after, last_action=(start, start.parse_action(move))) in output


def test_a_whole_move_is_never_completed() -> None:
    # After c4n, c5s would put the pieces back; c5se and c5sw are other moves.
    marked = Position.start().play(Position.start().parse_action("c4n"))
    output = play("c5s", "quit", options=("--position", marked.text, "--side", "black"))
    assert "c5s is not legal: " in output
    assert "(ply 2)" not in output


def test_play_to_the_end_and_save(tmp_path) -> None:
    file = tmp_path / "games.txt"
    won = "..Kp/..k./.P../.... w - 40"
    output = play(
        *("c4e", "c4n", "hint", f"save {file}", "undo", "resign", f"save {file}", "undo", "quit"),
        options=("--position", won),
    )
    assert "white wins. You can undo, save or quit." in output
    assert "The game is over." in output
    assert "black wins (resignation)" in output
    first, second = read_games(file)
    assert (first.result, first.moves, first.tags["White"]) == ("1-0", ("c4e",), "human")
    assert (second.result, second.termination, second.actions) == ("0-1", "resignation", ())
    assert first.start.text == won


def test_play_as_black_and_by_the_seed() -> None:
    output = play("quit", options=("--side", "black"))
    assert "You are black (k p)" in output
    assert output.index("random-v1 plays ") < output.index("black> ")
    assert play("quit", options=("--side", "black")) == output
    assert "There is nothing to take back" in play("undo", options=("--side", "black"))
    sides = {
        skift("play", "random", "--side", "random", "--seed", n, input="")[:13] for n in "12345"
    }
    assert sides == {"You are white", "You are black"}


def test_play_against_the_opponent_by_either_way_to_name_it() -> None:
    assert "greedy-v1 plays " in skift("play", input="d3s\n")
    assert "random-v1 plays " in skift("play", "random", input="d3s\n")
    assert "random-v1 plays " in skift("play", "--opponent", "random", input="d3s\n")


def test_play_in_the_browser_hands_on_what_is_asked(monkeypatch) -> None:
    pytest.importorskip("uvicorn")
    asked = []

    def serve(opponent, *, announce, **options):
        announce("http://here/")
        asked.append((opponent, options))

    monkeypatch.setattr("skift_env.cli.app.serve", serve)
    nothing = {"side": None, "start": None, "seed": None}
    usual = {"host": "127.0.0.1", "port": 8000, "open_browser": True}
    assert "http://here/" in skift("play", "--web")
    assert asked.pop() == (None, nothing | usual)
    start = Position.parse("..Kp/..k./.P../.... w - 40")
    skift(
        *("play", "--web", "--opponent", "mcts", "--side", "black", "--position", start.text),
        *("--seed", "3", "--host", "::1", "--port", "0", "--no-browser"),
    )
    game = {"side": "black", "start": start, "seed": 3}
    assert asked.pop() == ("mcts", game | {"host": "::1", "port": 0, "open_browser": False})
    sides = set()
    for seed in range(5):
        skift("play", "random", "--web", "--side", "random", "--seed", seed)
        sides.add(asked.pop()[1]["side"])
    assert sides == {"white", "black"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--opponent", "nobody"], "no agent 'nobody'"),
        (["--seed", 2**32], "seed 4294967296 is not in 0 … 4294967295"),
        (["--position", "x"], "fields: not four fields"),
        (["--position", "..K./..k./.P../.... b - 41"], "the game is over"),
        (["--port", "65536"], "65535"),
        (["--host", "not a host"], "cannot listen on not a host, port 8000"),
    ],
)
def test_play_in_the_browser_is_refused_with_a_reason(options, message) -> None:
    pytest.importorskip("uvicorn")
    output = skift("play", "--web", "--no-browser", *options, status=2)
    assert message in " ".join(output.split())


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_play_in_the_browser_says_what_to_install(monkeypatch, package) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)
    output = " ".join(skift("play", "--web", status=2).split())
    assert f"{package} is not installed" in output
    assert 'pip install "skift-env[web]"' in output


def terminal_game(agent, *lines):
    told, left = [], list(lines)

    def ask(prompt):
        if not left:
            raise EOFError
        return left.pop(0)

    seed = np.random.SeedSequence(0)
    game = TerminalGame(agent, Position.start(), "white", seed, ask, told.append)
    game.run()
    return game.game, "\n".join(told)


def test_an_agent_that_fails_loses_and_one_can_go_on() -> None:
    class Broken:
        name = "broken"
        wrong = ValueError("oh")

        def act(self, position, rng):
            if self.wrong:
                raise self.wrong
            return 0

    game, told = terminal_game(Broken(), "hint", "d3s", "undo", "d3n")
    assert "broken has no hint: ValueError: oh" in told
    assert "broken failed: ValueError: oh" in told
    assert (game.termination, game.result, game.moves) == ("crash", "1-0", ("d3n",))
    Broken.wrong = None
    game, told = terminal_game(Broken(), "d3s")
    assert "broken failed: illegal action 0" in told
    assert (game.termination, game.result) == ("illegal move", "1-0")


def test_an_undo_does_not_change_what_the_agent_does() -> None:
    class Uniform:
        name = "uniform"

        def act(self, position, rng):
            return int(rng.choice(position.legal_actions))

    once, _ = terminal_game(Uniform(), "d3s")
    again, _ = terminal_game(Uniform(), "d3s", "undo", "c4n", "undo", "d3s")
    assert once == again
    assert parse_game("1. d3s *").actions == once.actions[:1]
