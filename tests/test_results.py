"""Results files: verified as they are, and found out when anything in them is changed."""

from __future__ import annotations

import copy
import gzip
import hashlib
import json
import math
import re

import pytest
from vectors import games

from skift_env import manifest, reports
from skift_env.files import write_atomically
from skift_env.match import SprtBounds, league, play_match
from skift_env.position import Position
from skift_env.results import ResultsError, load, save
from skift_env.verification import verify

OPENINGS = tuple(Position.parse(plies[4]["position"]) for plies in games("uniform")[:5])


class First:
    """The lowest legal action."""

    name = "first"

    def act(self, position, rng):
        return position.legal_actions[0]


class Failing:
    """Always crashes."""

    name = "failing"

    def act(self, position, rng):
        raise ValueError("a lone surrogate \udc80 and\na line break")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Results of a match, a sequential match, a match of failures, and a league."""
    folder = tmp_path_factory.mktemp("results")
    play_match("random", First(), pairs=6, openings=OPENINGS, seed=2, file=folder / "match")
    play_match(
        "random",
        Failing(),
        pairs=99,
        openings="start",
        sprt=SprtBounds(0, 100),
        file=folder / "sprt",
    )
    play_match(
        "random", First(), pairs=2, openings="start", max_plies=9, seed=5, file=folder / "cut"
    )
    agents = ["random", First(), Failing()]
    league(agents, pairs=4, openings=OPENINGS, bootstrap=50, file=folder / "league")
    return folder


@pytest.fixture
def changed(folder, tmp_path):
    """The report on a file after a change of its document."""

    def verify_changed(name, change):
        document = json.loads((folder / name).read_text())
        change(document)
        file = tmp_path / name
        file.write_text(json.dumps(document))
        return verify(file)

    return verify_changed


KINDS = ("match", "sprt", "cut", "league")


# --- As they are -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KINDS)
def test_unchanged_files_are_right(folder, name) -> None:
    report = verify(folder / name)
    assert report.problems == ()
    assert report.ok
    document = json.loads((folder / name).read_text())
    assert report.games == len(document["games"])
    assert report.plies == sum(len(game["moves"].split()) for game in document["games"])
    assert document["schema_version"] == 1


@pytest.mark.parametrize("name", KINDS)
def test_what_is_loaded_is_saved_the_same(folder, tmp_path, name) -> None:
    saved = load(folder / name)
    save(tmp_path / name, saved.result, saved.manifests)
    assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def test_a_file_can_be_read_without_this_package(folder) -> None:
    document = json.loads((folder / "match").read_text())
    points = [0.0] * 6
    for game in document["games"]:
        score = {"1-0": 1, "0-1": 0, "1/2-1/2": 0.5}[game["result"]]
        points[game["pair"]] += score if game["white"] == "random-v1" else 1 - score
    summary = document["summary"]
    assert summary["pentanomial"] == [points.count(half / 2) for half in range(5)]
    assert summary["estimate"]["score"] == pytest.approx(sum(points) / 12)
    texts = "".join(position + "\n" for position in document["settings"]["openings"]["positions"])
    sha256 = document["settings"]["openings"]["sha256"]
    assert hashlib.sha256(texts.encode()).hexdigest() == sha256
    lines = (json.dumps(game, separators=(",", ":")) + "\n" for game in document["games"])
    assert hashlib.sha256("".join(lines).encode()).hexdigest() == document["games_sha256"]


def test_infinite_numbers_are_texts(folder) -> None:
    estimate = json.loads((folder / "sprt").read_text())["summary"]["estimate"]
    assert (estimate["elo"], estimate["elo_interval"][1]) == ("inf", "inf")
    assert math.isinf(load(folder / "sprt").result.elo.elo)


def test_faults_keep_their_message(folder) -> None:
    game, *_ = load(folder / "sprt").result.played
    assert game.comments[1] == "ValueError: a lone surrogate \\udc80 and\na line break"
    assert json.loads((folder / "sprt").read_text())["summary"]["faults"]["failing"]["crash"] > 1


def test_agents_can_play_their_games_again(folder, tmp_path) -> None:
    file = tmp_path / "random"
    play_match("random", "random-v1", pairs=5, openings="start", file=file)
    report = verify(file, play_again=3)
    assert (report.problems, report.played_again) == ((), 3)
    assert verify(file, play_again=99).played_again == 10
    assert "cannot play again" in verify(folder / "match", play_again=1).problems[0]
    # Another seed with the same openings is another match: nothing but the agents can tell.
    play_match("random", "random", pairs=5, openings="start", seed=1, file=tmp_path / "other")
    lie = (tmp_path / "other").read_text().replace('"seed": 1', '"seed": 0')
    (tmp_path / "other").write_text(lie)
    assert verify(tmp_path / "other").ok
    assert "goes otherwise" in verify(tmp_path / "other", play_again=1).problems[0]


# --- Changed -----------------------------------------------------------------------------------


def test_any_changed_move_is_found(folder, changed) -> None:
    """In turn, moves of a game become other ones that were legal too."""
    game = load(folder / "match").result.played[3]
    positions = list(game.positions())
    for ply in (*range(0, len(game.actions), 5), len(game.actions) - 1):
        position = positions[ply]
        other = next(a for a in position.legal_actions[::-1] if a != game.actions[ply])
        moves = [*game.moves[:ply], position.action_text(other), *game.moves[ply + 1 :]]
        found = changed("match", put(" ".join(moves), "games", 3, "moves")).problems
        assert any("games[3]" in problem or "games_sha256" in problem for problem in found)


def swap_results(document):
    game = next(game for game in document["games"] if game["result"] == "1-0")
    game["result"] = "0-1"


def reseal(document):
    """Compute the hash of changed games, as a forger would."""
    lines = (json.dumps(game, separators=(",", ":")) + "\n" for game in document["games"])
    document["games_sha256"] = hashlib.sha256("".join(lines).encode()).hexdigest()


def put(value, *path):
    """A change of one value of a document."""

    def change(document):
        for key in path[:-1]:
            document = document[key]
        assert document[path[-1]] != value
        document[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("match", swap_results, r"games\[\d+\]: result is '0-1', but the game makes it '1-0'"),
        ("match", put("crash", "games", 0, "termination"), r"games\[0\]: .*the game is over"),
        ("match", put("nap", "games", 0, "termination"), r"games\[0\]: .*'nap' is none of"),
        ("match", put("a1n", "games", 1, "moves"), r"games\[1\]: move 1: "),
        ("match", put("", "games", 2, "moves"), r"games\[2\]: .*the game goes on"),
        ("match", put(3, "games", 2, "pair"), r"games\[2\]: opening"),
        ("match", put(7, "games", 2, "opening"), r"games\[2\]: opening is 7"),
        ("match", put("x", "games", 2, "white"), r"games\[2\]: .* is not scheduled"),
        ("match", put("no", "games", 2, "comment"), "games_sha256"),
        ("match", put([], "games"), "summary.*finished"),
        ("match", put(0.5, "summary", "estimate", "score"), r"summary\.estimate\.score is 0\.5"),
        ("match", put([1] * 5, "summary", "pentanomial"), r"summary\.pentanomial\[\d\] is 1"),
        ("match", put(0, "summary", "distinct_games"), r"summary\.distinct_games is 0"),
        ("match", put({}, "summary"), "summary is {}"),
        ("match", put("0" * 64, "games_sha256"), "games_sha256 is not"),
        ("match", put(5, "settings", "pairs"), r"games\[10\]: pair 5.* is not scheduled"),
        ("match", put(3, "settings", "seed"), r"games\[\d\]: opening is"),
        ("match", put("x", "settings", "openings", "sha256"), "settings.openings.sha256 is 'x'"),
        ("match", put("1.0", "manifests", 0, "ruleset"), r"manifests\[0\]\.ruleset is '1\.0'"),
        ("match", put("v9", "manifests", 0, "environment"), r"manifests\[0\]\.environment"),
        ("match", put("f", "manifests", 0, "engine_hash"), r"manifests\[0\]\.engine_hash is 'f'"),
        ("match", put([], "manifests"), "manifests is empty"),
        ("sprt", put("H0", "summary", "sprt", "decision"), r"summary\.sprt\.decision is 'H0'"),
        ("sprt", put(500.0, "settings", "sprt", "elo1"), "summary.sprt|games go on after"),
        ("cut", put("unfinished", "games", 0, "termination"), "termination 'unfinished' in"),
        ("cut", put(8, "settings", "max_plies"), "at ply 9, but max_plies is 8"),
        ("cut", put(10, "settings", "max_plies"), "'ply limit' at ply 9, but max_plies is 10"),
        ("league", put("first", "settings", "anchor"), r"summary\.ratings\.anchor"),
        ("league", put(7.5, "summary", "ratings", "table", 0, "elo"), r"table\[0\]\.elo is 7\.5"),
        ("league", put(0, "summary", "matches", 1, "pairs"), r"matches\[1\]\.pairs is 0"),
    ],
)
def test_any_change_is_found(changed, name, change, problem) -> None:
    report = changed(name, change)
    assert not report.ok
    assert any(re.search(problem, found) for found in report.problems), report.problems


def test_a_game_is_neither_repeated_nor_left_out_nor_moved(changed) -> None:
    changes = {
        "out of order": lambda games: games.insert(1, copy.deepcopy(games[0])),
        "repeated or out of order": lambda games: games.reverse(),
        "summary.games is 12, the games make it 11": lambda games: games.pop(4),
    }
    for problem, change in changes.items():

        def change_and_seal(document, change=change):
            change(document["games"])
            reseal(document)

        report = changed("match", change_and_seal)
        assert any(problem in found for found in report.problems), report.problems


def test_a_sequential_match_does_not_play_on(folder, tmp_path) -> None:
    decided = load(folder / "sprt").result
    longer = play_match("random", Failing(), pairs=decided.counts.pairs + 1, openings="start")
    games_too_many = dict(longer.games)
    save(tmp_path / "long", type(decided)(decided.schedule, games_too_many, decided.sprt_bounds))
    assert "games go on after the test has decided" in verify(tmp_path / "long").problems[-1]


# --- Not even results --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON"),
        ("[]", "holds no results"),
        ("{}", "holds no results"),
        ('{"schema_version": 2}', "has schema version 2, this program knows version 1"),
    ],
)
def test_other_files_are_refused(tmp_path, text, message) -> None:
    file = tmp_path / "file.json"
    file.write_text(text)
    for read in (verify, load):
        with pytest.raises(ResultsError, match=f"file.json {message}"):
            read(file)
    with pytest.raises(OSError, match="missing"):
        verify(tmp_path / "missing")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("kind"), "kind is None"),
        (lambda d: d.pop("settings"), "settings is missing, not an object"),
        (lambda d: d.pop("manifests"), "manifests is missing, not a list"),
        (lambda d: d.pop("games"), "games is missing, not a list"),
        (put([1], "games"), r"games\[0\] is 1, not an object"),
        (put(True, "settings", "seed"), "settings.seed is True, not a whole number"),
        (put("9", "settings", "pairs"), "settings.pairs is '9', not a whole number"),
        (put(0, "settings", "pairs"), "pairs must be an integer >= 1"),
        (put("x", "settings", "move_seconds"), "a number or a whole number or null"),
        (put(["a"], "settings", "agents"), "two agents or more"),
        (put({"elo0": 1}, "settings", "sprt"), "settings.sprt.elo1 is missing"),
        (put(["x"], "settings", "openings", "positions"), "settings: fields"),
        (put([], "settings", "openings", "positions"), "no positions"),
    ],
)
def test_files_of_another_form(changed, change, message) -> None:
    (problem,) = changed("match", change).problems
    assert re.search(message, problem)


def test_loading_refuses_a_game_that_cannot_be(folder, tmp_path) -> None:
    (tmp_path / "match").write_text((folder / "match").read_text().replace("1-0", "0-1"))
    with pytest.raises(ResultsError, match=r"match: games\[\d+\]: result"):
        load(tmp_path / "match")


def test_a_failed_write_leaves_the_old_file(tmp_path) -> None:
    file = tmp_path / "file"
    write_atomically(file, "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(file, "\udc80")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


# --- Manifest and reports ----------------------------------------------------------------------


def test_the_engine_hash_is_that_of_these_rules() -> None:
    """It changes only when the rules, their numbering or their notation do: then results end."""
    assert manifest.engine_hash()[:16] == "41bd001fefb175ce"


def test_the_manifest_says_where_results_come_from(monkeypatch) -> None:
    here = manifest.manifest()
    assert (here["environment"], here["packages"]["numpy"] > "1") == ("skift_v0", True)
    assert here["commit"] is None or re.fullmatch("[0-9a-f]{40}(-dirty)?", here["commit"])
    monkeypatch.setenv("PATH", "")
    assert manifest.commit() is None


def test_tables_of_a_league(folder) -> None:
    result = load(folder / "league").result
    table = reports.ratings_table(result)
    assert [row[0] for row in table.rows] == list(result.fit.agents)
    row = next(row for row in table.rows if row[0] == "random-v1")
    assert (row[1], row[2], row[3]) == ("0", "anchor", "16")
    matrix = reports.score_matrix(result)
    failing = next(row for row in matrix.rows if row[0].endswith("failing"))
    assert sorted(failing[1:]) == ["0", "0", "–"]
    lines = table.markdown().splitlines()
    assert lines[0].startswith("| Agent ")
    assert lines[1].startswith("| ---")
    assert len({len(line) for line in lines}) == 1
    part = type(result)(result.schedule, {}, "first")
    with pytest.raises(ValueError, match="do not link all agents"):
        reports.ratings_table(part)


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_a_plot_of_a_league(folder, tmp_path, ending) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / f"league.{ending}"
    reports.plot(load(folder / "league").result, file)
    start = {"png": b"\x89PNG", "svg": b"<?xml"}[ending]
    assert file.read_bytes().startswith(start)


def test_compressed_results_are_read_alike(folder, tmp_path) -> None:
    plain = (folder / "match").read_bytes()
    packed = tmp_path / "match.json.gz"
    packed.write_bytes(gzip.compress(plain))
    assert verify(packed).problems == ()
    assert load(packed).result.games == load(folder / "match").result.games
    for damaged in (plain, gzip.compress(plain)[:-20], b""):
        packed.write_bytes(damaged)
        with pytest.raises(ResultsError, match="is not JSON"):
            verify(packed)
