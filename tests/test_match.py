"""Games, matches and leagues: what agents do wrong, what a seed determines, what an end leaves."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time

import numpy as np
import pytest
from vectors import games

from skift_env import match, ratings
from skift_env.files import FileLockedError, locked
from skift_env.match import MatchError, SprtBounds, WorkerError, league, play_game, play_match
from skift_env.position import Position
from skift_env.records import format_games
from skift_env.results import load
from skift_env.schedule import Fixture, OpeningBook, Schedule, ScheduleError, opening_book
from skift_env.standings import MatchResult, SequentialTest

START = Position.start()
OPENINGS = tuple(Position.parse(plies[4]["position"]) for plies in games("uniform")[:5])
OVER = Position.parse("..K./..k./.P../.... b - 41")  # no black pawn is left


class Named:
    """An agent with a name of its own."""

    def __init__(self, name: str | None = None) -> None:
        self.name = name or type(self).__name__.lower()


class First(Named):
    """The lowest legal action: no generator needed."""

    def act(self, position, rng):
        return position.legal_actions[0]


class Uniform(Named):
    """Any legal action."""

    def act(self, position, rng):
        return int(rng.choice(position.legal_actions))


class Finisher(Named):
    """Any legal action, but one that wins if there is one."""

    def act(self, position, rng):
        for action in position.legal_actions:
            outcome = position.play(action).outcome
            if outcome and outcome.winner == position.side:
                return action
        return int(rng.choice(position.legal_actions))


class Failing(Named):
    """Does something wrong on its third move or later, or at once."""

    def __init__(self, wrong, plies=0, name=None) -> None:
        super().__init__(name)
        self.wrong, self.plies = wrong, plies

    def act(self, position, rng):
        if position.ply < self.plies:
            return position.legal_actions[0]
        if isinstance(self.wrong, BaseException):
            raise self.wrong
        return self.wrong


class Dying(Named):
    """Takes the whole process with it."""

    def act(self, position, rng):
        os._exit(3)


class Interrupting(Uniform):
    """Presses Ctrl-C instead of making its n-th move."""

    def __init__(self, moves: int, name: str) -> None:
        super().__init__(name)
        self.left = moves

    def act(self, position, rng):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return super().act(position, rng)


# --- One game ----------------------------------------------------------------------------------


def test_a_seed_determines_a_game() -> None:
    one, same, other = (play_game("random", Uniform(), seed=seed) for seed in (5, 5, 6))
    assert one == same
    assert one != other
    assert play_game("random", Uniform(), seed=np.random.SeedSequence(5)) == one
    assert one.termination == "normal"
    assert one.tags == {"White": "random-v1", "Black": "uniform"}


def test_each_side_draws_from_its_own_generator() -> None:
    white_move = {play_game(Uniform(), black, seed=1).actions[0] for black in (Uniform(), First())}
    assert len(white_move) == 1
    drawn = {}

    class Recorder(Named):
        def act(self, position, rng):
            drawn.setdefault(position.side, []).append(rng.random())
            return position.legal_actions[0]

    play_game(Recorder(), Recorder(), max_plies=6)
    assert len({*drawn["white"], *drawn["black"]}) == 6


@pytest.mark.parametrize(
    ("wrong", "termination", "message"),
    [
        (ZeroDivisionError("by what?"), "crash", "ZeroDivisionError: by what?"),
        (SystemExit(1), "crash", "SystemExit: 1"),
        (RuntimeError("\udc80" * 1000), "crash", "RuntimeError: \\udc80"),
        (TimeoutError("too slow"), "overrun", "TimeoutError: too slow"),
        (0, "illegal move", "illegal action 0"),
        (405, "illegal move", "illegal action 405: action numbers are the integers 0 … 404"),
        (None, "illegal move", "illegal action None"),
        ("d3s", "illegal move", "illegal action 'd3s'"),
        (1.5, "illegal move", "illegal action 1.5"),
    ],
)
def test_what_an_agent_does_wrong_loses_the_game(wrong, termination, message) -> None:
    as_black = play_game(First(), Failing(wrong, plies=3))
    assert (as_black.termination, as_black.result) == (termination, "1-0")
    assert len(as_black.actions) == 3
    assert list(as_black.comments) == [3]
    assert as_black.comments[3].startswith(message)
    as_white = play_game(Failing(wrong), First())
    assert (as_white.termination, as_white.result, as_white.actions) == (termination, "0-1", ())


def test_a_move_that_takes_too_long_loses_the_game() -> None:
    game = play_game("random", "random", move_seconds=1e-12)
    assert (game.termination, game.result, game.actions) == ("overrun", "0-1", ())
    assert "s for a move" in game.comments[0]


def test_a_game_is_cut_at_the_limit_and_not_before() -> None:
    whole = play_game("random", "random", seed=3)
    plies = len(whole.actions)
    assert play_game("random", "random", seed=3, max_plies=plies) == whole
    cut = play_game("random", "random", seed=3, max_plies=plies - 1)
    assert (cut.termination, cut.result, cut.score) == ("ply limit", "1/2-1/2", 0.5)
    assert cut.actions == whole.actions[:-1]
    later = play_game("random", "random", start=OPENINGS[0], max_plies=6)
    assert (len(later.actions), later.start) == (2, OPENINGS[0])


# --- Schedules ---------------------------------------------------------------------------------


def test_everyone_meets_everyone_with_both_colours() -> None:
    schedule = Schedule(("a", "b", "c"), OpeningBook("x", OPENINGS), pairs=4)
    fixtures = list(schedule.fixtures())
    assert len(fixtures) == len(set(fixtures)) == len(schedule) == 24
    played = sorted((fixture.white, fixture.black) for fixture in fixtures)
    assert played == sorted(list(itertools.permutations("abc", 2)) * 4)
    assert [fixture.pair for fixture in fixtures] == sorted(fixture.pair for fixture in fixtures)


def test_openings_come_in_whole_blocks_shuffled_by_the_seed() -> None:
    book = OpeningBook("x", OPENINGS)
    orders = set()
    for seed in range(20):
        schedule = Schedule(("a", "b"), book, seed=seed)
        blocks = [[schedule.opening(5 * block + k) for k in range(5)] for block in range(2)]
        assert [sorted(block) for block in blocks] == [[0, 1, 2, 3, 4]] * 2
        orders |= {tuple(block) for block in blocks}
    assert len(orders) > 20


def test_published_schedules_stay_as_they_are() -> None:
    schedule = Schedule(("random-v1", "greedy-v1"), OpeningBook("x", OPENINGS), seed=7)
    assert [schedule.opening(pair) for pair in range(10)] == [0, 2, 3, 4, 1, 2, 0, 3, 4, 1]
    fixture = Fixture("random-v1", "greedy-v1", 3, 1)
    words = schedule.seed_sequence(fixture).generate_state(2).tolist()
    assert words == [4288486938, 3107177196]
    assert opening_book("start").sha256[:16] == "a1c6eb38ecc59ca9"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"agents": ("a",)}, "two agents or more"),
        ({"agents": ("a", "b", "a")}, "a is repeated"),
        ({"pairs": 0}, "pairs must be an integer >= 1, not 0"),
        ({"pairs": 1.5}, "pairs"),
        ({"seed": -1}, "seed must be an integer >= 0, not -1"),
        ({"max_plies": 0}, "max_plies"),
        ({"max_plies": 4}, "number 0: at ply 4, max_plies = 4 leaves no ply"),
        ({"move_seconds": 0}, "move_seconds"),
        ({"move_seconds": float("nan")}, "move_seconds"),
    ],
)
def test_schedules_that_cannot_be(arguments, message) -> None:
    usual = {"agents": ("a", "b"), "book": OpeningBook("x", OPENINGS)}
    with pytest.raises(ScheduleError, match=message):
        Schedule(**(usual | arguments))


def test_openings_that_cannot_be() -> None:
    with pytest.raises(ScheduleError, match="no positions"):
        opening_book([])
    with pytest.raises(ScheduleError, match="number 1: the game is over"):
        opening_book([START, OVER])


# --- Matches -----------------------------------------------------------------------------------


def test_a_match_counts_from_its_first_agents_side() -> None:
    result = play_match(Finisher(), "random", pairs=12, openings=OPENINGS, seed=1)
    scores = [
        game.score if fixture.white == "finisher" else 1 - game.score
        for fixture, game in result.games.items()
    ]
    assert len(scores) == 24
    points = [sum(scores[at : at + 2]) for at in range(0, 24, 2)]
    assert result.counts.pentanomial == tuple(points.count(p / 2) for p in range(5))
    assert result.elo.score == pytest.approx(np.mean(scores))
    assert result.elo.elo > 0
    for (fixture, game), (_, swapped) in itertools.pairwise(result.games.items()):
        if fixture.game == 0:
            assert game.start == swapped.start == OPENINGS[result.schedule.opening(fixture.pair)]
            assert game.tags["White"] == swapped.tags["Black"] == "finisher"
    mirror = play_match("random", Finisher(), pairs=12, openings=OPENINGS, seed=1)
    assert mirror.elo.elo < 0


def test_a_match_tells_of_draws_cuts_faults_and_repetitions() -> None:
    result = play_match(First(), Failing(ValueError("no"), 6), pairs=3, openings="start")
    assert result.counts.pentanomial == (0, 0, 0, 0, 3)
    assert result.faults == {"failing": {"illegal move": 0, "crash": 6, "overrun": 0}}
    assert result.distinct_games == 2
    assert result.first_mover_score == 0.5
    assert result.mean_plies == 6.5
    cut = play_match("random", "random", pairs=2, openings="start", max_plies=5)
    assert (cut.ply_limit_hits, cut.draws, cut.counts.trinomial) == (4, 0, (0, 4, 0))
    assert cut.finished


def test_an_agent_may_play_itself() -> None:
    result = play_match("random", "random", pairs=4, openings="start")
    assert result.counts.games == 8
    assert result.distinct_games == 8


def pairs_to_decide(won: bool, bounds: SprtBounds) -> int:
    """How many pairs, all won or all lost, an SPRT asks for."""
    pairs = 0
    decision = None
    while decision is None:
        pairs += 1
        counts = (0, 0, 0, 0, pairs) if won else (pairs, 0, 0, 0, 0)
        decision = ratings.sprt(counts, bounds.elo0, bounds.elo1).decision
    return pairs


@pytest.mark.parametrize(("won", "decision"), [(True, "H1"), (False, "H0")])
def test_a_sequential_test_ends_the_match_at_its_first_decision(won, decision) -> None:
    bounds = SprtBounds(0, 200)
    needed = pairs_to_decide(won, bounds)
    assert 1 < needed < 50
    agents = [First(), Failing(ValueError())]
    a, b = agents if won else agents[::-1]
    result = play_match(a, b, pairs=50, openings="start", sprt=bounds)
    assert result.sprt.decision == decision
    assert result.counts.pairs == needed
    assert result.finished
    cut = play_match(a, b, pairs=needed - 1, openings="start", sprt=bounds)
    assert (cut.sprt.decision, cut.finished) == (None, True)


def test_pairs_count_in_scheduled_order() -> None:
    bounds = SprtBounds(0, 200)
    whole = play_match(First(), Failing(ValueError()), pairs=9, openings="start")
    test = SequentialTest(whole.schedule, bounds)
    late = {f: game for f, game in whole.games.items() if f != Fixture("first", "failing", 1, 0)}
    assert not test.advance(late)
    assert test.pairs == 1
    test.advance(whole.games)
    assert test.pairs == min(9, pairs_to_decide(True, bounds))


@pytest.mark.parametrize("numbers", [(0, 0), (5, 0), (0, 10, 0.6, 0.6), (0, float("inf"))])
def test_bounds_that_cannot_be(numbers) -> None:
    with pytest.raises(ValueError, match="SPRT needs"):
        SprtBounds(*numbers)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"workers": 0}, "workers must be an integer >= 1"),
        ({"b": "nobody"}, "nobody"),
        ({"a": First("x"), "b": First("x")}, "two different agents have the name x"),
        ({"a": First("random-v1")}, "two different agents have the name random-v1"),
    ],
)
def test_matches_that_cannot_be(arguments, message) -> None:
    usual = {"a": "random", "b": "random", "pairs": 1, "openings": "start"}
    with pytest.raises(ValueError, match=message):
        play_match(**(usual | arguments))


def test_progress_ends_with_the_result() -> None:
    seen: list[MatchResult] = []
    result = play_match("random", "random", pairs=3, openings="start", progress=seen.append)
    assert format_games(seen[-1].played) == format_games(result.played)
    assert [len(part.games) for part in seen] == sorted(len(part.games) for part in seen)


# --- Workers -----------------------------------------------------------------------------------


def test_workers_do_not_change_the_result(tmp_path) -> None:
    for workers in (1, 2):
        play_match(
            "random",
            Failing(ValueError("no"), 12),
            pairs=30,
            openings=OPENINGS,
            sprt=SprtBounds(-50, 150),
            workers=workers,
            file=tmp_path / str(workers),
        )
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
    assert load(tmp_path / "2").result.sprt.decision


def test_a_worker_that_dies_ends_the_match_but_keeps_it(tmp_path) -> None:
    file = tmp_path / "results.json"
    with pytest.raises(WorkerError, match="random-v1 – dying, pair 0"):
        play_match("random", Dying(), pairs=2, openings="start", workers=2, file=file)
    assert load(file).result.games == {}


# --- Interruptions -----------------------------------------------------------------------------

SETTINGS = {"pairs": 6, "openings": OPENINGS, "seed": 3}


@pytest.fixture
def whole(tmp_path):
    """The file of a match without interruption."""
    file = tmp_path / "whole.json"
    play_match("random", Uniform(), **SETTINGS, file=file)
    return file


@pytest.mark.parametrize("moves", [0, 1, 60, 150])
def test_a_match_goes_on_after_ctrl_c(whole, tmp_path, moves) -> None:
    file = tmp_path / "part.json"
    with pytest.raises(KeyboardInterrupt):
        play_match("random", Interrupting(moves, "uniform"), **SETTINGS, file=file)
    assert not load(file).result.finished
    play_match("random", Uniform(), **SETTINGS, file=file, resume=True)
    assert file.read_bytes() == whole.read_bytes()


def test_a_match_goes_on_after_a_kill_at_any_moment(whole, tmp_path, monkeypatch) -> None:
    for name in ("SECONDS_BETWEEN_REPORTS", "SECONDS_BETWEEN_SAVES", "SAVING_SHARE"):
        monkeypatch.setattr(match, name, 0)
    file = tmp_path / "part.json"
    left_behind: dict[int, bytes] = {}

    def copy(_: MatchResult) -> None:
        if file.exists():
            left_behind[len(load(file).result.games)] = file.read_bytes()

    play_match("random", Uniform(), **SETTINGS, file=file, progress=copy)
    assert sorted(left_behind) == list(range(1, 13))
    for played in (1, 2, 7, 11):
        file.write_bytes(left_behind[played])
        play_match("random", Uniform(), **SETTINGS, file=file, resume=True)
        assert file.read_bytes() == whole.read_bytes()


def test_a_finished_match_is_not_played_again(whole) -> None:
    before = whole.read_bytes()
    agent = Failing(KeyboardInterrupt(), name="uniform")
    result = play_match("random", agent, **SETTINGS, file=whole, resume=True)
    assert len(result.games) == 12
    assert whole.read_bytes() == before


def test_a_match_can_grow(whole, tmp_path) -> None:
    longer = SETTINGS | {"pairs": 8}
    play_match("random", Uniform(), **longer, file=whole, resume=True)
    play_match("random", Uniform(), **longer, file=tmp_path / "longer.json")
    assert whole.read_bytes() == (tmp_path / "longer.json").read_bytes()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": 4}, "seed is 3 in the file, not 4"),
        ({"max_plies": 200}, "max_plies is 300 in the file, not 200"),
        ({"move_seconds": 9.0}, "move_seconds is None in the file, not 9.0"),
        ({"openings": OPENINGS[:4]}, "openings is"),
        ({"sprt": SprtBounds(0, 5)}, "sprt is None in the file"),
        ({"pairs": 5}, "6 pairs, more than 5"),
        ({"a": First()}, "the file's agents are random-v1, uniform"),
        ({"a": Uniform(), "b": "random"}, "the file's agents are"),
    ],
)
def test_another_match_is_not_mixed_in(whole, changes, message) -> None:
    before = whole.read_bytes()
    usual = {"a": "random", "b": Uniform()} | SETTINGS
    with pytest.raises(MatchError, match=message):
        play_match(**(usual | changes), file=whole, resume=True)
    assert whole.read_bytes() == before


def test_nothing_is_overwritten(whole) -> None:
    before = whole.read_bytes()
    with pytest.raises(FileExistsError, match="exists; resume it"):
        play_match("random", Uniform(), **SETTINGS, file=whole)
    with pytest.raises(MatchError, match="one is a match, the other a league"):
        league(["random", Uniform()], **SETTINGS, file=whole, resume=True)
    assert whole.read_bytes() == before


def test_one_match_at_a_time_writes_a_file(whole) -> None:
    before = whole.read_bytes()
    with locked(whole):
        with pytest.raises(FileLockedError, match=r"another process is writing .*whole\.json"):
            play_match("random", Uniform(), **SETTINGS, file=whole, resume=True)
        assert whole.read_bytes() == before
    play_match("random", Uniform(), **SETTINGS, file=whole, resume=True)
    assert [path.name for path in whole.parent.iterdir()] == ["whole.json"]


def test_a_lock_is_held_against_a_second_match_in_the_middle_of_the_first(tmp_path) -> None:
    file = tmp_path / "results.json"
    refused = []

    class Rival(Uniform):
        def act(self, position, rng):
            if not refused:
                with pytest.raises(FileLockedError):
                    play_match("random", "random", **SETTINGS, file=file)
                refused.append(True)
            return super().act(position, rng)

    result = play_match("random", Rival("uniform"), **SETTINGS, file=file)
    assert refused
    assert load(file).result.counts == result.counts


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal there")
def test_workers_end_with_a_killed_match_and_leave_its_file(tmp_path) -> None:
    file = tmp_path / "results.json"
    command = [sys.executable, "-m", "skift_env", "match", "random", "random", "--pairs", "99999"]
    command += ["--openings", "start", "--workers", "2", "--output", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        while not file.exists() and process.poll() is None:
            time.sleep(0.1)
        process.kill()
        process.communicate(timeout=120)  # returns when the last worker has let go of the pipe
    assert 0 < len(load(file).result.games) < 99999
    with locked(file):
        pass


# --- Leagues -----------------------------------------------------------------------------------

AGENTS = ("random", Finisher(), First())


def test_a_league_is_its_matches() -> None:
    whole = league(AGENTS, **SETTINGS)
    assert len(whole.games) == 3 * 12
    for a, b in itertools.combinations(whole.schedule.agents, 2):
        by_name = {"random-v1": "random", "finisher": Finisher(), "first": First()}
        alone = play_match(by_name[a], by_name[b], **SETTINGS)
        assert alone.summary() == whole.match(a, b).summary()
        assert alone.games == whole.match(a, b).games
        turned = whole.match(b, a)
        assert turned.counts.pentanomial == alone.counts.pentanomial[::-1]
    with pytest.raises(ValueError, match="'x' is not in the league"):
        whole.match("x", "first")


@pytest.mark.compiled_only
def test_ratings_are_anchored_at_random() -> None:
    result = league(AGENTS, **(SETTINGS | {"pairs": 30}))
    rated = {rating.agent: rating for rating in result.fit.ratings}
    assert rated["random-v1"].elo == 0
    assert rated["random-v1"].interval == (0, 0)
    assert rated["finisher"].interval[0] > 0
    assert [rating.games for rating in rated.values()] == [120] * 3
    elsewhere = league(AGENTS, **(SETTINGS | {"pairs": 30}), anchor="first")
    assert elsewhere.fit.elo[elsewhere.fit.agents.index("first")] == 0
    apart = [fit.difference("finisher", "first")[0] for fit in (result.fit, elsewhere.fit)]
    assert apart[0] == pytest.approx(apart[1])
    assert league([First(), Finisher()], **SETTINGS).anchor == "first"


def test_the_order_of_agents_does_not_matter(tmp_path) -> None:
    for number, agents in enumerate((AGENTS, AGENTS[::-1])):
        league(agents, **SETTINGS, file=tmp_path / str(number))
    assert (tmp_path / "0").read_bytes() == (tmp_path / "1").read_bytes()


def test_an_agent_can_join_a_league(tmp_path) -> None:
    league(AGENTS[:2], **SETTINGS, file=tmp_path / "grown")
    league(AGENTS, **SETTINGS, file=tmp_path / "grown", resume=True)
    league(AGENTS, **SETTINGS, file=tmp_path / "whole")
    assert (tmp_path / "grown").read_bytes() == (tmp_path / "whole").read_bytes()
    with pytest.raises(MatchError, match="the file's agents are"):
        league(AGENTS[:2], **SETTINGS, file=tmp_path / "grown", resume=True)


def test_a_league_goes_on_after_ctrl_c(tmp_path) -> None:
    part, whole = tmp_path / "part", tmp_path / "whole"
    with pytest.raises(KeyboardInterrupt):
        league(["random", First(), Interrupting(20, "uniform")], **SETTINGS, file=part)
    agents = ["random", First(), Uniform()]
    assert len(league(agents, **SETTINGS, file=part, resume=True).games) == 36
    league(agents, **SETTINGS, file=whole)
    assert part.read_bytes() == whole.read_bytes()


def test_without_games_that_link_everyone_there_are_no_ratings() -> None:
    seen = []
    with pytest.raises(KeyboardInterrupt):
        league(
            ["random", First(), Interrupting(0, "uniform")],
            **SETTINGS,
            progress=lambda result: seen.append((result.fit, result.summary()["ratings"])),
        )
    assert seen == [(None, None)] * len(seen)


@pytest.mark.parametrize(
    ("agents", "arguments", "message"),
    [
        (["random"], {}, "two agents or more"),
        (["random", "random-v1"], {}, "of 2 some are repeated"),
        (["random", First()], {"anchor": "nobody"}, "nobody"),
        ([Uniform(), First()], {"anchor": "random"}, "anchor random-v1 does not take part"),
        (["random", First()], {"bootstrap": 0}, "bootstrap"),
    ],
)
def test_leagues_that_cannot_be(agents, arguments, message) -> None:
    with pytest.raises(ValueError, match=message):
        league(agents, **SETTINGS, **arguments)


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal there")
def test_the_lock_of_a_killed_process_is_free(tmp_path) -> None:
    file = tmp_path / "results.json"
    code = (
        "import os, signal, sys; from pathlib import Path; from skift_env.files import locked\n"
        "with locked(Path(sys.argv[1])): os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(file)], check=False)
    assert done.returncode == -9
    assert file.with_name("results.json.lock").exists()
    with locked(file):
        pass
    assert list(tmp_path.iterdir()) == []
