"""Replays: what a page holds and does in a browser, a camera at rest, GIF and MP4."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import vectors
from gymnasium.error import DependencyNotInstalled

from skift_env import match, records, render, replay, results
from skift_env.position import Position
from skift_env.records import Game
from skift_env.replay import camera
from skift_env.view import View

HOSTILE = '</script><script>alert("&amp;")</script>'


def recorded(name: str, number: int, **options: Any) -> Game:
    rows = list(vectors.games(name))[number]
    final = Position.parse(rows[-1]["position"])
    termination: records.Termination = "ply limit" if final.outcome is None else "normal"
    actions = tuple(row["action"] for row in rows[:-1])
    return Game(Position.parse(rows[0]["position"]), actions, termination, **options)


def some_games(count: int = 4) -> list[Game]:
    return [recorded(name, number) for name in vectors.GAME_SETS for number in range(count)]


@pytest.fixture(scope="module")
def game() -> Game:
    """Some dozen plies with names, comments and values."""
    tags = {"White": "one & only", "Black": HOSTILE, "Event": "a test"}
    comments = {0: "[%eval 0.00] at rest", 1: "[%eval 0.25]", 3: HOSTILE, 4: "now [%eval -0.5] so"}
    return recorded(vectors.GAME_SETS[0], 0, tags=tags, comments=comments)


class Page(HTMLParser):
    """The elements of a page with their attributes, and the data of its script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.inside_data = False
        self.json = ""
        self.feed(text)
        self.close()
        assert not self.open
        self.data = json.loads(self.json)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        if tag not in ("meta", "input", "br"):
            self.open.append(tag)
        self.inside_data = ("id", "data") in attributes

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self.inside_data = False

    def handle_data(self, data: str) -> None:
        if self.inside_data:
            self.json += data


# The page


def test_a_page_tells_the_whole_game(game: Game) -> None:
    (told,) = Page(replay.html(game)).data["games"]
    assert told["moves"] == list(game.moves)
    assert (told["white"], told["black"]) == ("one & only", HOSTILE)
    assert (told["result"], told["tags"]) == (game.result, {"Event": "a test"})
    assert told["start"] == game.start.text
    assert told["sides"] == "".join(position.side[0] for position in game.positions())
    assert game.final.outcome is not None
    assert told["reason"] == game.final.outcome.reason
    assert told["comments"] == {"0": "at rest", "3": HOSTILE, "4": "now so"}
    assert told["values"][:6] == [0, 0.25, None, None, -0.5, None]
    assert len(told["values"]) == len(told["pictures"]) == len(game.actions) + 1
    assert replay.values(game) == {0: 0.0, 1: 0.25, 4: -0.5}


def test_a_page_without_values_has_no_graph() -> None:
    (told,) = Page(replay.html(some_games(1)[0])).data["games"]
    assert told["values"] == []
    assert (told["white"], told["black"]) == ("White", "Black")


def test_a_page_shows_every_piece_and_tile_of_every_ply() -> None:
    games = some_games(2)
    data = Page(replay.html(games)).data
    assert len(data["games"]) == len(games)
    for game, told in zip(games, data["games"], strict=True):
        for position, picture in zip(game.positions(), told["pictures"], strict=True):
            board = "".join(position.board)
            for side in (0, 1):
                drawn = "".join(data["parts"][part][side] for part in picture)
                shown = Counter(re.findall('class="((?:tile|king|pawn)[a-z ]*)"', drawn))
                for letter in "KPkp":
                    kind = ("king", "pawn")[letter in "Pp"]
                    colour = ("white", "black")[letter.islower()]
                    assert shown[f"{kind} {colour}"] == board.count(letter)
                tiles = sum(n for name, n in shown.items() if re.match("tile(?! lost)", name))
                assert tiles == (len(board) - board.count("_")) // 4
        for picture, lost in zip(told["pictures"], told["lost"], strict=True):
            assert len(lost[0]) <= 8
            assert len(picture) > 9
    white, black = data["parts"][data["games"][0]["pictures"][0][-1]]
    assert white != black, "from the other side"


def test_a_page_asks_for_nothing_from_elsewhere(game: Game) -> None:
    text = replay.html([game, *some_games(1)], title=HOSTILE)
    page = Page(text)
    for tag, attributes in page.elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base")
        assert not attributes.keys() & {"src", "href", "srcset", "action", "data"}
    links = set(re.findall(r"\b[a-z]+://[^\s\"'<]+", text))
    assert links == {"http://www.w3.org/2000/svg"}, "a name, not an address to load"
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|\bimport\(", text)
    policy = [attributes.get("content") for tag, attributes in page.elements if tag == "meta"]
    assert any("default-src 'none'" in (content or "") for content in policy)


def test_names_and_comments_are_text_and_nothing_else(game: Game) -> None:
    page = replay.html(game, title=HOSTILE)
    assert page.count("<script") == page.count("</script>") == 2
    assert html.escape(HOSTILE) in page, "the title"
    assert "{{" not in page


def test_games_share_the_parts_of_their_pictures() -> None:
    game = some_games(1)[0]
    one, many = (len(replay.html([game] * count)) for count in (1, 11))
    assert many - one < one, "ten more of the same take less than the first"


def test_there_must_be_a_game() -> None:
    with pytest.raises(ValueError, match="no game"):
        replay.html([])


def test_notebooks_get_a_page_in_a_frame(game: Game) -> None:
    frame = game._repr_html_()
    (source,) = re.findall('srcdoc="([^"]*)"', frame)
    assert html.unescape(source) == replay.html(game)


# The camera


def places(view: View, position: Position) -> dict[tuple[float, float], str]:
    """What stands where in the picture: each tile, by the pieces on it."""
    board = position.board
    found = {}
    for row in range(0, len(board), 2):
        for column in range(0, len(board[0]), 2):
            if board[row][column] != "_":
                x, y = view.tile_xy((row // 2, column // 2))
                pieces = board[row][column : column + 2] + board[row + 1][column : column + 2]
                found[round(x, 3), round(y, 3)] = pieces
    return found


@pytest.mark.parametrize("turned", [False, True])
def test_what_stays_in_place_stays_in_the_picture(turned: bool) -> None:
    held = cuts = 0
    for game in some_games(8):
        views = replay.steady_views(game, turned=turned)
        positions = list(game.positions())
        for ply, (before, action) in enumerate(camera.last_actions(game)[1:]):  # type: ignore[misc]
            if views[ply].box.span != views[ply + 1].box.span:
                cuts += 1
                continue
            effect = before.effect(action)
            was, now = (places(views[p], positions[p]) for p in (ply, ply + 1))
            if effect.kind == "tile":
                gone = {a for a, _ in effect.displaced} | set(effect.lost_tiles)
                rows, columns = len(before.board) // 2, len(before.board[0]) // 2
                staying = {
                    (r, c)
                    for r in range(rows)
                    for c in range(columns)
                    if before.board[2 * r][2 * c] != "_" and (r, c) not in gone
                }
                for tile in staying:
                    x, y = views[ply].tile_xy(tile)
                    at = round(x, 3), round(y, 3)
                    assert now[at] == was[at]
                    held += 1
            else:
                assert was.keys() == now.keys()
                held += 1
    assert held > 200
    assert cuts < held / 20


def test_the_camera_shows_the_whole_board_and_what_left_it() -> None:
    for game in some_games(8):
        views = replay.steady_views(game)
        assert len(views) == len(game.actions) + 1
        spans = {view.box.span for view in views}
        assert max(spans) <= camera.WIDEST
        for view, position in zip(views, game.positions(), strict=True):
            rows, columns = len(position.board) // 2, len(position.board[0]) // 2
            assert view.box.union((-1, -1, rows + 1, columns + 1)) == view.box


def test_the_camera_sees_a_board_wider_than_it_likes() -> None:
    start = Position.parse("KP....p.P...k...../.................. b - 40")
    (view,) = replay.steady_views(Game(start, (), "unfinished"))
    assert view.box.span == 11 > camera.WIDEST


# GIF and MP4


def short_game() -> Game:
    """Three plies, then black, who is to move, gives up."""
    position = start = Position.start()
    actions = []
    for move in ("d3s", "c5n", "A3w"):
        actions.append(position.parse_action(move))
        position = position.play(actions[-1])
    return Game(start, tuple(actions), "resignation", {"White": "one", "Black": "another"})


def test_frames_show_players_and_how_a_game_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[dict[str, Any]] = []

    def spy(position: Position, **options: Any) -> Any:
        told.append(options)
        return render.rgb_array(position, **options)

    monkeypatch.setattr("skift_env.replay.film.rgb_array", spy)
    game = short_game()
    pictures = list(replay.frames(game, size=80, orientation="black", theme="dark"))
    assert [picture.shape for picture in pictures] == [(90, 80, 3)] * 4
    assert {options["players"] for options in told} == {("one", "another")}
    assert [options["note"] for options in told] == [None, None, None, "1-0, resignation"]
    assert all(options["view"].turned for options in told)


def test_a_gif_has_a_frame_for_each_position(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    game, path = short_game(), tmp_path / "game.gif"
    replay.write_gif(path, game, size=160, seconds=0.5)
    with image.open(path) as gif:
        assert (gif.n_frames, gif.size, gif.info["loop"]) == (4, (160, 180), 0)
        shown, times = [], []
        for number in range(4):
            gif.seek(number)
            times.append(gif.info["duration"])
            shown.append(np.asarray(gif.convert("RGB"), dtype=int))
    assert times == [500, 500, 500, 3000]
    for picture, expected in zip(shown, replay.frames(game, size=160), strict=True):
        assert np.abs(picture - expected).mean() < 6, "but for the fewer colours"


def test_an_mp4_lasts_as_long_as_told(tmp_path: Path) -> None:
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    path = tmp_path / "game.mp4"
    game = short_game()
    replay.write_mp4(path, game, size=161, seconds=0.5)
    frames, seconds = ffmpeg.count_frames_and_secs(str(path))
    assert seconds == pytest.approx(3 * 0.5 + 3.0, abs=0.1)
    reader = ffmpeg.read_frames(str(path))
    meta = next(reader)
    assert (meta["codec"], meta["size"]) == ("h264", (160, 180))
    first = np.frombuffer(next(reader), np.uint8).reshape(180, 160, 3).astype(int)
    reader.close()
    expected = next(replay.frames(game, size=161))[:180, :160]
    assert np.abs(first - expected).mean() < 8
    assert frames > 30


@pytest.mark.parametrize(
    ("write", "module", "extra"),
    [(replay.write_gif, "PIL.Image", "render"), (replay.write_mp4, "imageio_ffmpeg", "video")],
)
def test_a_missing_package_is_named_with_the_cure(
    write: Any, module: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DependencyNotInstalled, match=rf'pip install "skift-env\[{extra}\]"'):
        write(tmp_path / "game", short_game())
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="seconds"):
        write(tmp_path / "game", short_game(), seconds=0)


# Files


def test_files_become_pages_and_films(tmp_path: Path, game: Game) -> None:
    source = tmp_path / "two games.txt"
    records.write_games(source, [game, short_game()])
    assert replay.load(source) == [game, short_game()]
    page = tmp_path / "out.HTML"
    assert replay.convert(source, page) == 2
    text = page.read_text("utf-8")
    assert [told["moves"] for told in Page(text).data["games"]] == [
        list(game.moves), list(short_game().moves),
    ]  # fmt: skip
    assert "<title>two games</title>" in text
    assert replay.convert(source, page, game=2) == 1
    assert len(Page(page.read_text("utf-8")).data["games"]) == 1
    if "PIL" in sys.modules:
        assert replay.convert(source, tmp_path / "a.gif", game=2, size=64, theme="dark") == 1
        assert (tmp_path / "a.gif").read_bytes().startswith(b"GIF89a")


@pytest.mark.parametrize(
    ("target", "options", "fault"),
    [
        ("out.svg", {}, r"out.svg must end in .html, .gif or .mp4"),
        ("out.html", {"game": 3}, "games 1 … 2, not 3"),
        ("out.html", {"game": 0}, "not 0"),
        ("out.gif", {}, "2 games"),
    ],
)
def test_wrong_orders_are_refused(
    target: str, options: dict[str, int], fault: str, tmp_path: Path
) -> None:
    source = tmp_path / "games.txt"
    records.write_games(source, [short_game()] * 2)
    with pytest.raises(ValueError, match=fault):
        replay.convert(source, tmp_path / target, **options)  # type: ignore[arg-type]
    source.write_text("")
    with pytest.raises(ValueError, match="has no game"):
        replay.convert(source, tmp_path / "out.html")
    source.write_text("1. a1n")
    with pytest.raises(records.RecordError):
        replay.convert(source, tmp_path / "out.html")
    assert list(tmp_path.iterdir()) == [source]


class FirstAgent:
    """Plays the first legal action."""

    name = "first"

    def act(self, position: Position, rng: np.random.Generator) -> int:
        return position.legal_actions[0]


def test_results_of_a_match_can_be_replayed(tmp_path: Path) -> None:
    file = tmp_path / "match.json"
    start = Position.parse("KPk./p... w - 9")
    match.play_match(FirstAgent(), "random", pairs=1, openings=[start], max_plies=20, file=file)
    page = tmp_path / "match.html"
    assert replay.convert(file, page) == 2
    one, other = Page(page.read_text("utf-8")).data["games"]
    assert one["start"] == other["start"] == start.text
    assert one["white"] == other["black"] == "first"
    file.write_text("{}")
    with pytest.raises(results.ResultsError):
        replay.convert(file, page)


def test_the_command_line_replays(tmp_path: Path) -> None:
    app = pytest.importorskip("skift_env.cli.app").app
    run = pytest.importorskip("typer.testing").CliRunner().invoke
    source = tmp_path / "games.txt"
    records.write_games(source, [short_game()] * 2)
    done = run(app, ["replay", str(source)])
    assert (done.exit_code, done.stdout) == (0, f"{tmp_path / 'games.html'}: 2 games\n")
    assert len(Page((tmp_path / "games.html").read_text("utf-8")).data["games"]) == 2
    target = str(tmp_path / "one.gif")
    done = run(app, ["replay", str(source), "-o", target, "--game", "1", "--size", "64", "--dark"])
    assert (done.exit_code, done.stdout) == (0, f"{target}: 1 game\n")
    done = run(app, ["replay", str(source), "-o", target])
    assert done.exit_code == 2
    assert "choose" in done.stderr


# In a browser

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)

# Runs after the page's own script, uses it as a reader would, and tells what is to be seen.
VISIT = """
<script>
const key = (name) => document.body.dispatchEvent(
  new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
const seen = {};
const look = (name) => {
  seen[name] = {
    status: document.getElementById("status").textContent,
    current: document.querySelector("[aria-current]")?.textContent ?? null,
    pieces: document.querySelectorAll("#board .king, #board .pawn").length,
    corner: document.querySelector("#board .tile").getAttribute("x"),
    near: document.querySelector("#near .name").textContent,
    far: document.querySelector("#far .name").textContent,
    address: location.hash,
  };
};
look("address");
key("Home"); look("Home");
key("ArrowRight"); key("ArrowRight"); look("right");
key("ArrowLeft"); look("left");
key("f"); look("turned"); key("f");
key("End"); look("End");
document.getElementById("back").click(); look("button");
document.querySelector('[data-ply="3"]').click(); look("click");
seen.graph = document.querySelectorAll("#graph polyline").length;
seen.moves = [...document.querySelectorAll("#moves button")].map((button) => button.textContent);
seen.comments = [...document.querySelectorAll("#moves .comment")].map((cell) => cell.textContent);
key("PageDown"); look("other");
seen.values = document.getElementById("values").hidden;
seen.unlabelled = [...document.querySelectorAll("button, select")]
  .filter((control) => !control.getAttribute("aria-label") && !control.textContent.trim()).length;
seen.options = [...document.querySelectorAll("#games option")].map((option) => option.textContent);
document.body.style.width = "360px";
seen.width = Math.max(...[...document.querySelectorAll("body *")].map(
  (element) => element.getBoundingClientRect().right)) - document.body.getBoundingClientRect().left;
key(" ");
setTimeout(() => {
  look("played");
  document.body.setAttribute("data-seen", JSON.stringify(seen));
}, 3500);
</script>
"""


@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
def test_a_reader_steps_jumps_turns_and_plays(game: Game, tmp_path: Path) -> None:
    other = some_games(2)[1]
    page = tmp_path / "page.html"
    page.write_text(replay.html([game, other]) + VISIT, "utf-8")
    command = [
        str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--window-size=400,800",
        f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=6000", "--dump-dom",
        f"{page.as_uri()}#game=1&ply=2",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    found = re.search('data-seen="([^"]*)"', done.stdout)
    assert found, done.stderr
    seen = json.loads(html.unescape(found[1]))
    last = len(game.actions)
    for name, ply in (
        ("address", 2), ("Home", 0), ("right", 2), ("left", 1), ("turned", 1), ("End", last),
        ("button", last - 1), ("click", 3),
    ):  # fmt: skip
        position = list(game.positions())[ply]
        assert seen[name]["status"].startswith(f"Ply {ply} of {last}."), name
        assert seen[name]["current"] == (game.moves[ply - 1] if ply else None)
        assert seen[name]["address"] == f"#game=1&ply={ply}"
        on_board = sum(letter in "KPkp" for row in position.board for letter in row)
        assert seen[name]["pieces"] >= on_board
    assert (seen["left"]["near"], seen["left"]["far"]) == ("one & only", HOSTILE)
    assert (seen["turned"]["far"], seen["turned"]["near"]) == ("one & only", HOSTILE)
    assert seen["turned"]["corner"] != seen["left"]["corner"]
    assert f"{game.result}, " in seen["End"]["status"]
    assert seen["moves"] == list(game.moves)
    assert seen["comments"][:-1] == ["at rest", HOSTILE, "now so"]
    assert seen["graph"] == 2, "the values have a gap"
    assert seen["other"]["status"].startswith(f"Ply 0 of {len(other.actions)}.")
    assert seen["values"] is True, "without values the graph is hidden"
    assert (seen["unlabelled"], len(seen["options"])) == (0, 2)
    assert seen["width"] <= 360, "nothing sticks out on a phone"
    assert seen["played"]["status"].startswith("Ply 3 of"), "at one ply a second"
