"""The server behind the page: what it tells, what it refuses, and that games do not meet."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import vectors
from drawn import drawn, play
from served import PATIENCE, SPLITTING, Client, served
from starlette.responses import Response

from skift_env import Position, agents
from skift_env.agents.alphabeta import WIN, AlphaBeta
from skift_env.records import parse_game
from skift_env.shapes import THEMES, css_variables
from skift_env.web import opponents, serve, server
from skift_env.web.guard import Guard
from skift_env.web.hints import best_moves, in_words
from skift_env.web.inputs import RefusedError
from skift_env.web.telling import sentence
from skift_env.web.thinking import Thinkers

ROOT = Path(__file__).resolve().parents[1]
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with served() as client:
        yield client


def all_options(told: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """What can be tried, as (name of the piece's square or of the tile, option)."""
    things = told["squares"] + told["tiles"]
    return [(thing["name"], option) for thing in things for option in thing.get("options", ())]


def all_actions(told: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What can be played, by its text."""
    actions = [action for _, option in all_options(told) for action in option.get("actions", ())]
    by_text = {action["text"]: action for action in actions}
    assert len(by_text) == len(actions)
    return by_text


# --- The page ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/app.js", "text/javascript; charset=utf-8"),
        ("/style.css", "text/css; charset=utf-8"),
        ("/theme.css", "text/css; charset=utf-8"),
        ("/api/agents", "application/json"),
    ],
)
def test_the_page_is_served_with_security_headers(client: Client, path: str, kind: str) -> None:
    reply = client.get(path)
    assert (reply.status, reply.headers["content-type"]) == (200, kind)
    policy = reply.headers["content-security-policy"].split("; ")
    assert {"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"} <= set(policy)
    assert "unsafe" not in reply.headers["content-security-policy"]
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert "server" not in reply.headers
    assert reply.body


def test_the_page_loads_nothing_from_elsewhere(client: Client) -> None:
    html = client.get("/").body.decode()
    links = re.findall(r'(?:href|src)="([^"]+)"', html)
    assert {"theme.css", "style.css", "app.js"} <= set(links)
    assert all(link.startswith("data:") or client.get(f"/{link}").status == 200 for link in links)
    for path in ("/app.js", "/style.css", "/theme.css"):
        urls = re.findall(r"\w+://[^\s\"']+", client.get(path).body.decode())
        assert set(urls) <= {"http://www.w3.org/2000/svg"}


def test_the_style_uses_the_colours_of_the_themes(client: Client) -> None:
    theme, style = (client.get(f"/{name}.css").body.decode() for name in ("theme", "style"))
    for name in ("light", "dark"):
        assert css_variables(THEMES[name]) in theme
    defined = set(re.findall(r"(--[\w-]+):", theme + style))
    assert set(re.findall(r"var\((--[\w-]+)\)", style)) <= defined


def test_agents_are_listed_with_their_names(client: Client) -> None:
    told = client.get("/api/agents").json
    assert told["chosen"] == "random"
    strengths = [strength for agent in told["agents"] for strength in agent["strengths"]]
    names = {strength["spec"]: strength["name"] for strength in strengths}
    assert len(names) == 10
    assert all(agents.make(spec).name == name for spec, name in names.items())


@pytest.mark.compiled_only
def test_every_agent_that_is_listed_plays(client: Client) -> None:
    for agent in client.get("/api/agents").json["agents"]:
        for strength in agent["strengths"]:
            told = client.told("agent", agent=strength["spec"], start=WIN_IN_ONE.text)
            assert told["name"] == strength["name"]
            assert strength["spec"] == "random" or told["move"] == "a4e"


# --- What it tells -----------------------------------------------------------------------------


@pytest.mark.compiled_only
@pytest.mark.parametrize("number", range(0, len(vectors.edges()), 6))
def test_every_legal_action_is_told_and_can_be_played(client: Client, number: int) -> None:
    edge = vectors.edges()[number]
    told = client.told("position", start=edge["position"])
    actions = all_actions(told)
    assert {text: action["number"] for text, action in actions.items()} == {
        text: number for text, (number, _) in edge["actions"].items()
    }
    for text in list(actions)[::7]:
        after = client.told("position", start=edge["position"], moves=[text])
        assert after["text"] == edge["actions"][text][1]
        assert after["last"] == {"move": text, "words": actions[text]["words"]}


def test_what_cannot_be_played_is_told_with_the_rule(client: Client) -> None:
    position = play(Position.start(), "d3s")
    told = client.told("position", moves=["d3s"])
    closed = [(name + option["way"], option) for name, option in all_options(told)]
    reasons = {text: option["why"] for text, option in closed if "actions" not in option}
    assert "no undo" in reasons["d1n"]
    for text, why in reasons.items():
        assert why == position.why_illegal(position.parse_action(text))
    by_name = {thing["name"]: thing for thing in told["squares"] + told["tiles"]}
    assert "the piece is not black's" in by_name["d2"]["why"]
    assert "landlocked" in by_name["B2"]["why"]
    assert "black does not control" in by_name["A3"]["why"]
    assert "options" not in by_name["a1"]
    assert "why" not in by_name["a1"]


def test_an_effect_is_drawn_where_it_happens(client: Client) -> None:
    told = client.told("position")
    at = {thing["name"]: thing["at"] for thing in told["squares"] + told["tiles"]}
    actions = all_actions(told)
    assert actions["d3s"]["moves"] == [[at["d3"], at["d2"]], [at["d2"], at["d1"]]]
    assert actions["d3s"]["lost"] == []
    (origin, target), *_ = actions["A3w"]["moves"]
    assert origin == at["A3"]
    assert target[0] < origin[0]
    assert target[1] == origin[1]
    told = client.told("position", start="KP/kp w - 3")
    at = {thing["name"]: thing["at"] for thing in told["squares"]}
    assert all_actions(told)["a2s"]["lost"] == [at["a1"]]


def test_a_choice_of_groups_is_told_with_a_picture_each(client: Client) -> None:
    told = client.told("position", start=SPLITTING.text)
    choices = [option for _, option in all_options(told) if len(option.get("actions", ())) > 1]
    assert choices
    before = {tile["name"]: tile["at"] for tile in told["tiles"]}
    for option in choices:
        groups = [action["group"] for action in option["actions"]]
        assert len({len(group) for group in groups}) == 1
        places = [tuple(place) for group in groups for place in group]
        assert len(set(places)) == len(places)
        assert len({action["picture"] for action in option["actions"]}) == len(groups)
        for action in option["actions"]:
            assert len(action["group"]) + len(action["lost_tiles"]) == len(before)
            assert "lost" in action["picture"]
            after = SPLITTING.play(action["number"])
            assert sum(map(len, after.board)) - "".join(after.board).count("_") == 4 * len(
                action["group"]
            )


def test_a_game_that_is_over_offers_nothing(client: Client) -> None:
    over = "KP/k. w - 3"
    told = client.told("position", start=over)
    assert told["outcome"] == {"winner": "white", "reason": "black has no pawn left"}
    assert told["status"] == "White wins: black has no pawn left."
    assert all_options(told) == []
    for name in ("agent", "hint"):
        reply = client.post(name, start=over, agent="random")
        assert reply.status == 409
        assert "over" in reply.json["error"]


def test_what_stays_in_place_stays_in_the_picture(client: Client) -> None:
    """When A3 comes back from the west, column A is gone: the others have new names, not places."""
    away, back = (client.told("position", moves=["A3w", "d4w", "A3e"][:plies]) for plies in (2, 3))
    then = {tile["name"]: tile["at"] for tile in away["tiles"]}
    now = {tile["name"]: tile["at"] for tile in back["tiles"]}
    moved = {"A1": "B1", "B1": "C1", "C1": "D1", "A2": "B2", "B2": "C2", "C2": "D2", "B3": "C3"}
    assert {name: now[name] for name in moved} == {name: then[old] for name, old in moved.items()}
    assert back["cell"] == away["cell"]


def test_the_board_is_turned_on_request(client: Client) -> None:
    plain, turned = (client.told("position", turned=turned) for turned in (False, True))
    for square, other in zip(plain["squares"], turned["squares"], strict=True):
        assert square["name"] == other["name"]
        assert other["at"] == pytest.approx([1000 - x for x in square["at"]])


def test_why(client: Client) -> None:
    def why(move: str, *moves: str) -> Any:
        return client.told("why", moves=list(moves), move=move)

    assert why("d3s") == {"legal": True, "why": None}
    assert "not white's" in why("c3s")["why"]
    assert "does not control" in why("B2r")["why"]
    assert why("z9n")["why"].startswith("'z9n' is not an action")
    assert why("r18n") == {"legal": False, "why": "there is no square r18"}
    assert why("x" * 900) == {"legal": False, "why": "no action has so long a name"}


def test_sentences() -> None:
    def said(position: Position, move: str) -> str:
        return sentence(position, position.parse_action(move))

    start = Position.start()
    assert said(start, "d3s") == "White king d3 steps south to d2, pushing black pawn d2."
    assert said(start, "A3r") == "Tile A3 turns by 180°."
    one = drawn("KP\n kp")
    assert (
        said(one, "a2ne")
        == "White king a2 steps north-east off the board. White king a2 leaves the game."
    )
    assert said(one, "a2s") == (
        "White king a2 steps south to a1, pushing black king a1. Black king a1 leaves the game."
    )


WIN_IN_ONE = drawn("Kp\n..\nkk\nP.")
"""The king pushes black's last pawn off, and nothing else wins at once."""


@pytest.mark.compiled_only
@pytest.mark.parametrize("spec", ["alphabeta:depth=1", "alphabeta:depth=2", "alphabeta:depth=3"])
def test_hints_of_a_search_begin_with_its_move(client: Client, spec: str) -> None:
    told = client.told("hint", agent=spec, start=WIN_IN_ONE.text)
    assert told["name"] == agents.make(spec).name
    best, *others = told["moves"]
    assert (best["move"], best["rating"]) == ("a4e", "wins in 1")
    assert best["words"].endswith("Black pawn b4 leaves the game.")
    assert len(others) == 2
    for seed in range(3):
        move = client.told("agent", agent=spec, moves=["d3s"], seed=seed)["move"]
        hints = client.told("hint", agent=spec, moves=["d3s"], seed=seed)["moves"]
        assert hints[0]["move"] == move
        ratings = [float(hint["rating"].removesuffix(" pawns")) for hint in hints]
        assert ratings == sorted(ratings, reverse=True)


@pytest.mark.compiled_only
def test_hints_tell_values_as_a_deeper_search_does() -> None:
    rng = np.random.default_rng(1)
    position = play(Position.start(), "d3s")
    hints = best_moves(AlphaBeta(depth=3), position, rng)
    for action, rating in hints:
        value = -AlphaBeta(depth=2).search(position.play(action)).value
        assert rating == in_words(value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (250, "+1.2 pawns"),
        (-340, "-1.7 pawns"),
        (0, "+0.0 pawns"),
        (-9, "+0.0 pawns"),
        (WIN - 3, "wins in 3"),
        (4 - WIN, "loses in 4"),
    ],
)
def test_values_in_words(value: int, words: str) -> None:
    assert in_words(value) == words


@pytest.mark.compiled_only
def test_hints_of_simulations_are_their_shares(client: Client) -> None:
    told = client.told("hint", agent="mcts:simulations=100", moves=["d3s"])
    shares = [int(hint["rating"].removesuffix("%")) for hint in told["moves"]]
    assert shares == sorted(shares, reverse=True)
    assert 0 < sum(shares) <= 101


@pytest.mark.compiled_only
def test_who_has_no_opinion_leaves_hints_to_another(client: Client) -> None:
    for spec in ("random", "greedy"):
        told = client.told("hint", agent=spec, start=WIN_IN_ONE.text)
        assert told["name"] == "alphabeta-v1:depth=3"
        assert told["moves"][0]["move"] == "a4e"


def test_a_record_is_read_back(client: Client) -> None:
    told = client.told("record", moves=["d3s", "c3w"], white="me", black='the "other"')
    game = parse_game(told["record"])
    assert game.moves == ("d3s", "c3w")
    assert game.tags == {"White": "me", "Black": 'the "other"'}
    assert game.result == "*"
    over = client.told("record", start="KP/k. w - 3", moves=[])
    assert parse_game(over["record"]).result == "1-0"


# --- What it refuses ---------------------------------------------------------------------------


def body(**members: Any) -> bytes:
    return json.dumps(members).encode()


DEEP = b'{"start": ' + b"[" * 30_000 + b"]" * 30_000 + b"}"

BAD_BODIES = {
    "no JSON": (b"moves", 400, "not JSON"),
    "nothing": (b"", 400, "not JSON"),
    "no UTF-8": (b'{"start": "\xff\xfe"}', 400, "not JSON"),
    "no object": (b"[1, 2]", 400, "not a JSON object"),
    "not a number": (b'{"seed": NaN}', 400, "NaN"),
    "too deep": (DEEP, 400, "not JSON"),
    "a number too long": (b'{"seed": ' + b"9" * 6000 + b"}", 400, "not JSON"),
    "no position": (body(start="KP/kp"), 422, "start: fields"),
    "position of a wrong type": (body(start=["KP"]), 422, "start: expected text"),
    "huge position": (body(start="K" * 5000), 422, "start: more than"),
    "position with too many pieces": (body(start="KK/Kk w - 0"), 422, "start: board: 3 pieces K"),
    "moves of a wrong type": (body(moves="d3s"), 422, "moves: expected a list"),
    "a move of a wrong type": (body(moves=["d3s", 7]), 422, "moves: expected a list"),
    "a malformed move": (body(moves=["d3s", "??"]), 422, "number 2, '??': '??' is not an action"),
    "an illegal move": (body(moves=["c3s"]), 422, "number 1, 'c3s': white is to move"),
    "a move without end": (body(moves=["x" * 50_000]), 422, "number 1, 'xxxxxxxx…': no action"),
    "too many moves": (body(moves=["a1n"] * 2001), 422, "moves: more than 2000"),
    "a lone surrogate": (b'{"moves": ["\\ud800"]}', 422, "number 1"),
}


@pytest.mark.parametrize("name", BAD_BODIES)
@pytest.mark.parametrize("path", ["position", "why", "agent", "hint", "record"])
def test_bad_input_is_refused_with_the_reason(client: Client, path: str, name: str) -> None:
    content, status, phrase = BAD_BODIES[name]
    reply = client.request("POST", f"/api/{path}", content, JSON)
    assert reply.status == status
    assert phrase in reply.json["error"]
    assert len(reply.body) < 2000


@pytest.mark.parametrize("text", [text for text, _ in vectors.bad_positions()][::5])
def test_bad_positions_are_refused(client: Client, text: str) -> None:
    assert client.post("position", start=text).status == 422


@pytest.mark.parametrize("seed", [-1, 2**32, 1.5, "1", True, None, [1]])
def test_bad_seeds_are_refused(client: Client, seed: object) -> None:
    reply = client.post("agent", agent="random", seed=seed)
    assert (reply.status, "seed" in reply.json["error"]) == (422, True)


@pytest.mark.parametrize(
    "agent",
    [
        "",
        "nobody",
        "random:depth=3",
        "alphabeta:depth=0",
        "alphabeta:depth=99",
        "alphabeta:depth=²",
        "alphabeta:depth=2,nodes=1000000000",
        "alphabeta:nodes=1000000000",
        "mcts:simulations=1000000000",
        "mcts:simulations=" + "9" * 400,
        "ppo:/etc/passwd",
        "x" * 5000,
        7,
        None,
    ],
)
def test_agents_that_a_page_may_not_ask_for_are_refused(client: Client, agent: object) -> None:
    for path in ("agent", "hint"):
        reply = client.post(path, agent=agent)
        assert (reply.status, "agent" in reply.json["error"]) == (422, True)
        assert len(reply.body) < 500


def test_other_members_are_checked(client: Client) -> None:
    for path, members in {
        "position": {"turned": "yes"},
        "why": {"move": 3},
        "record": {"white": "x" * 200},
    }.items():
        reply = client.post(path, **members)
        assert (reply.status, next(iter(members)) in reply.json["error"]) == (422, True)


@pytest.mark.parametrize("chunked", [False, True])
def test_huge_bodies_are_refused(client: Client, chunked: bool) -> None:
    content = [b" " * 8192] * 9
    reply = client.request(
        "POST", "/api/position", iter(content) if chunked else b"".join(content), JSON
    )
    assert reply.status == 413
    assert "bytes" in reply.json["error"]
    assert client.post("position").status == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/../pyproject.toml", 404),
        ("GET", "/%2e%2e/%2e%2e/pyproject.toml", 404),
        ("GET", "/..%2fserver.py", 404),
        ("GET", "/static/app.js", 404),
        ("GET", "//etc/passwd", 404),
        ("GET", "/app.js/", 404),
        ("GET", "/api/position", 405),
        ("DELETE", "/api/position", 405),
        ("POST", "/", 405),
    ],
)
def test_there_is_nothing_else(client: Client, method: str, path: str, status: int) -> None:
    reply = client.request(method, path)
    assert reply.status == status
    assert reply.json["error"]
    assert "content-security-policy" in reply.headers


def test_only_json_is_taken(client: Client) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        reply = client.request("POST", "/api/position", b"{}", {"Content-Type": kind})
        assert reply.status == 415
    typed = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert client.request("POST", "/api/position", b"{}", typed).status == 200


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("localhost", True),
        ("LOCALHOST:8000", True),
        ("127.0.0.1:8000", True),
        ("[::1]:8000", True),
        ("192.168.1.7", True),
        ("evil.example", False),
        ("evil.example:8000", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example:8000", False),
        ("localhost:evil", False),
        ("", False),
    ],
)
def test_pages_under_foreign_names_get_nothing(client: Client, host: str, known: bool) -> None:
    reply = client.get("/", {"Host": host})
    assert reply.status == (200 if known else 421)
    assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]


# --- Many at a time ----------------------------------------------------------------------------


def continued(client: Client, seed: int, moves: list[str]) -> list[str]:
    return [*moves, client.told("agent", agent="random", seed=seed, moves=moves)["move"]]


def test_two_games_at_once_do_not_meet(client: Client) -> None:
    alone: dict[int, list[str]] = {}
    for seed in (1, 2):
        moves: list[str] = []
        for _ in range(12):
            moves = continued(client, seed, moves)
        alone[seed] = moves
    assert alone[1] != alone[2]
    together: dict[int, list[str]] = {1: [], 2: []}
    for _ in range(12):
        for seed in (2, 1):
            together[seed] = continued(client, seed, together[seed])
    assert together == alone
    with ThreadPoolExecutor(8) as pool:
        tasks = [(seed, plies) for seed in (1, 2) for plies in range(12)] * 2
        results = pool.map(
            lambda task: continued(client, task[0], alone[task[0]][: task[1]]), tasks
        )
        assert list(results) == [alone[seed][: plies + 1] for seed, plies in tasks]


class Ponderer:
    """An agent that thinks until it is told to stop."""

    name = "ponderer-v1"

    def __init__(self) -> None:
        self.thinking, self.stop = threading.Semaphore(0), threading.Event()

    def act(self, position: Position, rng: np.random.Generator) -> int:
        self.thinking.release()
        self.stop.wait(60)
        return position.legal_actions[0]


@pytest.fixture
def ponderer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ponderer]:
    agent, make = Ponderer(), opponents.make

    def make_any(spec: str) -> Any:
        return agent if spec == "greedy" else make(spec)

    monkeypatch.setattr(opponents, "make", make_any)
    yield agent
    agent.stop.set()


def test_thinking_does_not_block_other_games(ponderer: Ponderer) -> None:
    with served(threads=2) as client, ThreadPoolExecutor(1) as pool:
        slow = pool.submit(client.post, "agent", agent="greedy")
        assert ponderer.thinking.acquire(timeout=60)
        assert client.told("agent", agent="random")["name"] == "random-v1"
        assert client.post("position", moves=["d3s"]).status == 200
        assert not slow.done()
        ponderer.stop.set()
        assert slow.result().json["name"] == "ponderer-v1"


def test_thinking_is_bounded_in_time(ponderer: Ponderer) -> None:
    with served(threads=2, seconds=0.2) as client:
        reply = client.post("agent", agent="greedy")
        assert reply.status == 504
        assert "0.2 seconds" in reply.json["error"]
        ponderer.stop.set()


def test_a_flood_of_questions_is_turned_away(ponderer: Ponderer) -> None:
    """One thread: five questions may come from an address, of which four wait for their turn."""
    with served(threads=1) as client, ThreadPoolExecutor(9) as pool:
        replies = [pool.submit(client.post, "agent", agent="greedy") for _ in range(9)]
        refused = list(islice(as_completed(replies), 4))
        for reply in refused:
            assert reply.result().status == 429
            assert reply.result().headers["retry-after"] == "1"
        assert client.post("position").status == 200
        ponderer.stop.set()
        accepted = [reply.result().status for reply in replies if reply not in refused]
        assert accepted == [200] * 5
        assert client.told("agent", agent="random")["name"] == "random-v1"


def test_all_addresses_together_are_bounded() -> None:
    async def crowd() -> list[int]:
        thinkers = Thinkers(threads=1, waiting=2, per_client=3, seconds=60)
        stop = threading.Event()
        tasks = [
            asyncio.create_task(thinkers.think(f"10.0.0.{i}", stop.wait, 60)) for i in range(5)
        ]
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        stop.set()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert len(done) <= 2
        assert await thinkers.think("10.0.0.9", int, "7") == 7
        thinkers.close()
        return [error.status for error in results if isinstance(error, RefusedError)]

    assert asyncio.run(crowd()) == [503, 503]


def test_requests_at_a_time_are_bounded() -> None:
    async def crowd() -> list[int]:
        arrived, leave = asyncio.Semaphore(0), asyncio.Event()

        async def app(scope: Any, receive: Any, send: Any) -> None:
            arrived.release()
            await leave.wait()
            await Response("served")(scope, receive, send)

        guarded = Guard(app, names=(), most_requests=2)

        async def status() -> int:
            sent: list[Any] = []

            async def send(message: Any) -> None:
                sent.append(message)

            headers = [(b"host", b"127.0.0.1")]
            await guarded({"type": "http", "method": "GET", "headers": headers}, None, send)  # type: ignore[arg-type]
            return int(sent[0]["status"])

        inside = [asyncio.create_task(status()) for _ in range(2)]
        for _ in inside:
            await arrived.acquire()
        refused = await status()
        leave.set()
        return [refused, *await asyncio.gather(*inside), await status()]

    assert asyncio.run(crowd()) == [503, 200, 200, 200]


def test_an_agent_that_fails_is_reported(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        name = "broken-v1"

        def act(self, position: Position, rng: np.random.Generator) -> int:
            raise ZeroDivisionError

    make = opponents.make
    monkeypatch.setattr(
        opponents, "make", lambda spec: Broken() if spec == "greedy" else make(spec)
    )
    with served() as client:
        reply = client.post("agent", agent="greedy")
        assert (reply.status, "log" in reply.json["error"]) == (500, True)
        assert client.told("agent", agent="random")["name"] == "random-v1"


# --- Starting it ---------------------------------------------------------------------------------


def test_an_unknown_opponent_is_refused() -> None:
    with pytest.raises(ValueError, match="nobody"):
        serve(opponent="nobody", open_browser=False)


def test_a_port_that_is_taken_is_refused(client: Client) -> None:
    with pytest.raises(OSError):  # noqa: PT011 - its words are the system's
        serve(port=client.port, opponent="random", open_browser=False)


@pytest.mark.parametrize(
    ("host", "address"),
    [("127.0.0.1", r"http://127\.0\.0\.1:\d+/"), ("::1", r"http://\[::1\]:\d+/")],
)
def test_the_address_to_open(host: str, address: str) -> None:
    try:
        listener = server.listen(host, 0)
    except OSError:
        pytest.skip(f"this machine has no address {host}")
    with listener:
        assert re.fullmatch(address, server.page_address(listener))


@contextmanager
def skift_play_web(*options: str) -> Iterator[tuple[Client, str, subprocess.Popen[str]]]:
    """`skift play --web` at work: a client for it, what its page's address says, the process."""
    with subprocess.Popen(
        [sys.executable, "-um", "skift_env", "play", "--web", "--no-browser", "--port=0", *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        found = re.search(r" http://127\.0\.0\.1:(\d+)/(\S*) ", process.stdout.readline())
        assert found
        try:
            yield Client(int(found[1])), found[2], process
        finally:
            process.kill()


ctrl_c = pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C goes to the whole console")


@ctrl_c
@pytest.mark.compiled_only
def test_serving_until_interrupted() -> None:
    options = ("--opponent=random", "--side=black", "--seed=4")
    with skift_play_web(*options) as (client, address, process):
        assert address == "#agent=random&you=black&seed=4"
        assert client.post("position").status == 200
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[0] == ""
        assert process.returncode == 0


@ctrl_c
@pytest.mark.compiled_only
def test_an_interrupt_does_not_wait_for_a_long_search() -> None:
    spec = "alphabeta:depth=32"
    with skift_play_web(f"--opponent={spec}") as (client, _, process), ExitStack() as stack:
        slow = http.client.HTTPConnection("127.0.0.1", client.port, timeout=PATIENCE)
        stack.callback(slow.close)
        slow.request("POST", "/api/agent", body(agent=spec), JSON)
        assert client.post("position").status == 200
        process.send_signal(signal.SIGINT)
        assert "Traceback" not in process.communicate(timeout=60)[0]
        assert process.returncode == 0
        with slow.getresponse() as reply:
            assert (reply.status, "being stopped" in reply.read().decode()) == (503, True)


def test_no_thread_outlives_its_server() -> None:
    def thinking() -> set[threading.Thread]:
        return {each for each in threading.enumerate() if each.name.startswith("thinking")}

    others = thinking()
    with served(threads=3) as client:
        with ThreadPoolExecutor(6) as pool:
            asked = [pool.submit(client.told, "agent", agent="random") for _ in range(12)]
        assert all(reply.result()["name"] == "random-v1" for reply in asked)
        begun = thinking() - others
        assert 1 <= len(begun) <= 3
    for each in begun:
        each.join(60)
    assert thinking() == others
