"""The page in a real browser: games are played in it with mouse and keyboard, as people do."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

import numpy as np
import pytest
import vectors
from drawn import legal, play
from served import SPLITTING, Client, served

from skift_env import Position
from skift_env.records import parse_game

selenium = pytest.importorskip("selenium")
from selenium import webdriver  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.remote.webelement import WebElement  # noqa: E402
from selenium.webdriver.support.select import Select  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
CHROMEDRIVER = shutil.which("chromedriver")

pytestmark = [
    pytest.mark.compiled_only,
    pytest.mark.skipif(
        not (CHROMIUM and CHROMEDRIVER), reason="there is no chromium with its chromedriver"
    ),
]

PATIENCE = 20.0  # seconds
DESKTOP, PHONE = (1200, 900), (360, 740)


class Page:
    """The page as its user sees it."""

    def __init__(self, driver: webdriver.Chrome, client: Client) -> None:
        self.driver, self.client = driver, client

    # --- Looking ---

    def run(self, script: str, *arguments: Any) -> Any:
        """The result of a script in the page."""
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def count(self, selector: str) -> int:
        return len(self.driver.find_elements(By.CSS_SELECTOR, selector))

    def text(self, selector: str) -> str:
        return self.find(selector).text

    def wait(self, condition: Callable[[], Any], what: str) -> Any:
        """What the condition gives once that is true."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            result = condition()
            if result:
                return result
            time.sleep(0.02)
        raise AssertionError(f"waited in vain for {what}; the page says {self.text('body')!r}")

    @property
    def address(self) -> dict[str, str]:
        """What the page's address says of the game."""
        parameters = parse_qs(self.run("return location.hash.slice(1)"))
        return {name: values[0] for name, values in parameters.items()}

    @property
    def moves(self) -> list[str]:
        return [move for move in self.address.get("moves", "").split(".") if move]

    @property
    def position(self) -> Position:
        """The position that the record in the address leads to."""
        start = self.address.get("start")
        return play(Position.parse(start) if start else Position.start(), *self.moves)

    def focused(self) -> str:
        """The id of what has the focus, or what else tells which it is."""
        script = """const it = document.activeElement;
            return it.id || it.dataset.name || it.dataset.way || it.dataset.move || it.value
                || it.tagName;"""
        return str(self.run(script))

    # --- Doing ---

    def open(self, *, start: Position | None = None, **address: object) -> None:
        """A game, whatever was shown before."""
        self.driver.get("about:blank")
        if start is not None:
            address["start"] = start.text
        parameters = {"you": "both", "agent": "random", "seed": 1} | address
        self.driver.get(f"http://localhost:{self.client.port}/#{urlencode(parameters)}")
        self.settled()

    def settled(self, plies: int | None = None) -> None:
        """Wait until the page shows what the address says and nobody thinks."""
        script = """return typeof page === "object" && page.told && !page.thinking
            && page.told.sides.length === game.moves.length + 1 ? game.moves.length : -1"""

        def done() -> bool:
            now = self.run(script)
            return now >= 0 and plies in (None, now)

        self.wait(done, "the position")

    def click(self, selector: str) -> None:
        """Click in the middle of an element, with the mouse."""
        element = self.find(selector)
        self.run("arguments[0].scrollIntoView({block: 'nearest'})", element)
        ActionChains(self.driver, duration=0).move_to_element(element).click().perform()

    def choose(self, name: str) -> None:
        """Click a piece or a tile; the mode is changed if it has to be."""
        mode = "pieces" if name.islower() else "tiles"
        if not self.find(f"#modes [value={mode}]").is_selected():
            self.click(f"#modes [value={mode}] + span")
        self.click(f'#cells [role="button"][data-name="{name}"]')

    def go(self, way: str) -> None:
        """Click a way to go or to turn."""
        self.click(f'#spots [data-way="{way}"]')

    def play(self, move: str) -> None:
        """Play a move with the mouse on the board."""
        found = re.fullmatch("([a-r][0-9]+|[A-I][1-9])([nesw]+|r)(=[12])?", move)
        assert found
        splits = len(legal(self.position, found[1] + found[2] + "=")) > 0
        self.choose(found[1])
        self.go(found[2])
        if splits and found[2] != "r" and found[1].isupper():
            self.click(f'#spots [data-move="{move}"] .inside')

    def press(self, *keys: str) -> None:
        ActionChains(self.driver, duration=0).send_keys(*keys).perform()

    def resize(self, size: tuple[int, int], scheme: str = "light") -> None:
        """The size of the window, in pixels, and light or dark."""
        metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with served() as client:
        for agent in ("random", "greedy", "alphabeta:depth=2"):
            client.told("agent", agent=agent)  # compiled before the browser waits for it
        client.told("position")
        yield client


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    assert CHROMIUM
    assert CHROMEDRIVER
    options.binary_location = CHROMIUM
    for argument in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
        options.add_argument(f"--{argument}")
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, Service(CHROMEDRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def page(driver: webdriver.Chrome, client: Client) -> Iterator[Page]:
    """The page, which must not have complained in the browser's log when the test is done."""
    driver.get_log("browser")
    page = Page(driver, client)
    page.resize(DESKTOP)
    yield page
    complaints = [entry["message"] for entry in driver.get_log("browser")]
    assert not [message for message in complaints if "favicon" not in message]


# --- Games ---------------------------------------------------------------------------------------


def test_a_game_is_played_to_its_end(page: Page, tmp_path: Path) -> None:
    page.open(you="white", seed=7)
    rng = np.random.default_rng(7)
    while page.position.outcome is None:
        move = page.position.action_text(int(rng.choice(page.position.legal_actions)))
        plies = len(page.moves)
        page.play(move)
        page.wait(lambda: len(page.moves) > plies, "the move")  # noqa: B023
        page.settled()
        assert page.moves[plies] == move
        assert len(page.moves) == plies + 2 or page.position.outcome is not None
    final = page.position
    assert final.outcome is not None
    assert page.run("return page.told.text") == final.text
    assert final.outcome.reason in page.text("#status")
    assert page.run("return [...document.querySelectorAll('#moves td')].map(it => it.textContent)"
                    ) == page.moves  # fmt: skip
    folder = {"behavior": "allow", "downloadPath": str(tmp_path)}
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", folder)
    page.click("#download")
    file = tmp_path / "skift-game.txt"
    page.wait(lambda: file.exists() and file.read_text("utf-8"), "the record")
    game = parse_game(file.read_text("utf-8"))
    assert (game.final, list(game.moves)) == (final, page.moves)
    assert dict(game.tags) == {"White": "human", "Black": "random-v1"}


def test_a_group_is_chosen_on_the_board(page: Page) -> None:
    move = min(text for text in legal(SPLITTING) if text.endswith("=1"))
    page.open(start=SPLITTING)
    page.choose(move[:2])
    page.go(move[2])
    assert page.text("#chosen") == "The tiles splinter: which group stays?"
    assert page.count("#spots .split") == page.count("#groups [data-move]") == 2
    page.click(f'#spots [data-move="{move}"] .inside')
    page.settled(1)
    assert page.moves == [move]
    assert page.run("return page.told.text") == play(SPLITTING, move).text
    page.click("#undo")
    page.settled(0)
    page.choose(move[:2])
    page.go(move[2])
    page.press(Keys.ESCAPE)
    page.click("#groups button:last-child")
    assert page.count("#groups:not([hidden])") == 0
    assert page.moves == []


def test_undo_and_redo(page: Page) -> None:
    page.open(you="white", seed=3)
    assert not page.find("#undo").is_enabled()
    for plies, move in ((2, "d3s"), (4, None)):
        page.play(move or min(legal(page.position)))
        page.settled(plies)
    line = page.moves
    page.click("#undo")
    page.settled(2)
    assert page.moves == line[:2]
    page.click("#redo")
    page.settled(4)
    assert page.moves == line
    page.click("#undo")
    page.settled(2)
    page.click("#undo")
    page.settled(0)
    assert not page.find("#undo").is_enabled()
    page.play("d3s")
    page.settled(2)
    assert page.moves == line[:2]  # the agent's choices come from the game's seed
    assert not page.find("#redo").is_enabled()


def test_reloading_loses_nothing(page: Page) -> None:
    page.open(you="white", seed=5)
    page.play("d3s")
    page.settled(2)
    moves, board = page.moves, page.find("#picture").get_attribute("innerHTML")
    page.driver.refresh()
    page.settled(2)
    assert page.moves == moves
    assert page.find("#picture").get_attribute("innerHTML") == board
    page.driver.get("about:blank")
    page.driver.get(f"http://localhost:{page.client.port}/")  # the browser's storage has it too
    page.settled(2)
    assert page.moves == moves


def test_what_the_command_line_asks_for_begins_a_new_game(page: Page) -> None:
    page.open(you="white", seed=5, moves="d3s.b4e")
    page.driver.get("about:blank")
    game = urlencode({"agent": "greedy", "you": "black", "start": SPLITTING.text})
    page.driver.get(f"http://localhost:{page.client.port}/#{game}")
    page.settled(1)
    assert {"agent": "greedy", "you": "black", "start": SPLITTING.text}.items() <= (
        page.address.items()
    )
    assert page.position.ply == SPLITTING.ply + 1


def test_the_server_may_restart_in_mid_game(driver: webdriver.Chrome) -> None:
    with served() as client:
        page = Page(driver, client)
        page.resize(DESKTOP)
        page.open(you="white", seed=5)
        page.play("d3s")
        page.settled(2)
    page.play(min(legal(page.position)))
    page.wait(lambda: "does not answer" in page.text("#notice"), "the notice")
    with served(port=client.port):
        page.settled(4)
        assert page.text("#notice") == ""
        assert page.position.ply == 4
    driver.get_log("browser")


def test_sides_and_opponents_can_be_changed(page: Page) -> None:
    page.open(you="both", seed=5)
    Select(page.find("#you")).select_by_value("black")
    page.settled(1)
    assert page.address["you"] == "black"
    at = {tile["name"]: tile["at"] for tile in page.run("return page.told.tiles")}
    assert page.text("#near").startswith("You")
    assert min(at.values(), key=lambda place: place[1])[1] < 500
    Select(page.find("#you")).select_by_value("white")
    page.settled(2)
    page.run("document.querySelector('details').open = true")
    page.find("#start").send_keys(SPLITTING.text)
    page.click("#new")
    page.settled(0)
    assert page.address["start"] == SPLITTING.text
    page.find("#start").clear()
    page.click("#new")
    page.settled(0)
    assert page.position == Position.start()


def test_opponent_and_strength_can_be_changed(page: Page) -> None:
    page.open(you="white", seed=5, agent="greedy")
    assert "Greedy" in page.text("#far")
    assert not page.find("#strength").is_displayed()
    Select(page.find("#opponent")).select_by_visible_text("Alpha-beta")
    Select(page.find("#strength")).select_by_visible_text("depth 2")
    page.settled(0)
    assert page.address["agent"] == "alphabeta:depth=2"
    assert "Alpha-beta, depth 2" in page.text("#far")
    page.play("d3s")
    page.settled(2)
    reply = page.client.told("agent", moves=["d3s"], agent="alphabeta:depth=2", seed=5)
    assert page.moves == ["d3s", reply["move"]]
    page.driver.refresh()
    page.settled(2)
    assert Select(page.find("#strength")).first_selected_option.text == "depth 2"


def test_a_spoilt_address_is_explained(page: Page) -> None:
    page.driver.get("about:blank")
    page.driver.get(f"http://localhost:{page.client.port}/#moves=d3s.d3s&you=both")
    page.wait(lambda: "number 2, 'd3s'" in page.text("#notice"), "the notice")
    page.click("#notice-button")
    page.settled(0)
    page.driver.get_log("browser")  # Chromium logs the server's refusal


# --- Every way to move ---------------------------------------------------------------------------

ENTER_ALL = """
const [texts, done] = arguments;
const pause = () => new Promise((next) => setTimeout(next, 2));
const middle = (element) => {
  const box = element.getBoundingClientRect();
  return [box.left + box.width / 2, box.top + box.height / 2];
};
const clickAt = (element) => {
  const [clientX, clientY] = middle(element);
  const hit = document.elementFromPoint(clientX, clientY);
  hit.dispatchEvent(new MouseEvent("click", { bubbles: true, clientX, clientY }));
};
const shown = async (plies) => {
  while (game.moves.length !== plies || page.told.sides.length !== plies + 1) await pause();
};
(async () => {
  document.getElementById("board").scrollIntoView();
  const failed = [];
  for (const text of texts) {
    const [, name, way] = /^([a-rA-I][0-9]+)([nesw]+|r)/.exec(text);
    setMode(name < "a" ? "tiles" : "pieces");
    clickAt(document.querySelector(`#cells [role="button"][data-name="${name}"]`));
    clickAt(document.querySelector(`#spots [data-way="${way}"] .hit`));
    if (page.choice) clickAt(document.querySelector(`#spots [data-move="${text}"] .inside`));
    if (game.moves.join() !== text) failed.push([text, ...game.moves]);
    if (!game.moves.length) continue;
    await shown(1);
    undo();
    await shown(0);
  }
  done(failed);
})();
"""


@pytest.mark.parametrize("number", [1, 27, None])
def test_every_legal_action_can_be_entered(page: Page, number: int | None) -> None:
    position = SPLITTING
    if number is not None:
        plies = vectors.games("tile_heavy")[number]
        position = Position.parse(plies[len(plies) // 2]["position"])
    page.open(start=position)
    page.driver.set_script_timeout(60)
    assert page.driver.execute_async_script(ENTER_ALL, sorted(legal(position))) == []


def test_moves_can_be_typed(page: Page) -> None:
    def enter(text: str) -> None:
        page.find("#move").clear()
        page.find("#move").send_keys(text, Keys.ENTER)

    page.open()
    enter("c3s")
    page.wait(lambda: "not white's" in page.text("#entry-error"), "the rule")
    assert page.find("#move").get_attribute("aria-invalid") == "true"
    enter("nonsense")
    page.wait(lambda: "is not an action" in page.text("#entry-error"), "the error")
    enter("d3s")
    page.settled(1)
    assert (page.moves, page.text("#entry-error")) == (["d3s"], "")


def test_what_is_forbidden_is_explained(page: Page) -> None:
    page.open(moves="d3s")
    page.choose("d2")
    assert "the piece is not black's" in page.text("#explanation")
    page.choose("B2")
    assert "landlocked" in page.text("#explanation")
    page.choose("A3")
    assert "black does not control the tile" in page.text("#explanation")
    page.choose("d1")
    page.go("n")
    assert page.text("#explanation").startswith("Not allowed: no undo")
    assert page.find("#alert").get_attribute("textContent") == page.text("#explanation")
    assert page.moves == ["d3s"]


def test_a_click_beside_the_pieces_chooses_the_tile(page: Page) -> None:
    page.open()
    page.click('#cells [role="button"][data-name="a6"]')
    assert page.text("#chosen").startswith("Tile A3, controlled by white")
    page.click('#cells [role="button"][data-name="b5"]')
    assert page.text("#chosen") == "b5, white pawn"
    page.click('#cells [role="button"][data-name="b5"]')
    assert page.text("#chosen").startswith("Tile A3")


def test_a_double_click_plays_once(page: Page) -> None:
    page.open()
    page.choose("d3")
    page.run("""const spot = document.querySelector('#spots [data-way="s"] .hit');
        for (const _ of [1, 2]) spot.dispatchEvent(new MouseEvent("click", { bubbles: true }));""")
    page.settled(1)
    assert page.moves == ["d3s"]


def test_a_way_shows_what_it_does(page: Page) -> None:
    page.open()
    page.choose("d3")
    spot = page.find('#spots [data-way="s"] .hit')
    ActionChains(page.driver, duration=0).move_to_element(spot).perform()
    assert page.text("#explanation").startswith("White king d3 steps south to d2, pushing")
    assert page.count("#preview line") == 2


def test_hints(page: Page) -> None:
    page.open(seed=9)
    page.click("#hint")
    page.wait(lambda: page.count("#hints button") == 3, "hints")
    assert page.text("#hints p") == "alphabeta-v1:depth=3 would play:"
    assert page.text("#hints button").endswith("pawns")
    move = page.find("#hints button").get_attribute("data-move")
    told = page.client.told("hint", agent="random", seed=9)
    assert move == told["moves"][0]["move"]
    page.click("#hints button")
    page.settled(1)
    assert page.moves == [move]


# --- For everyone --------------------------------------------------------------------------------


def test_it_is_played_by_keyboard(page: Page) -> None:
    page.open()
    page.run("""document.querySelector('#cells [tabindex="0"]').focus()""")
    at = page.focused()
    assert at in ("c3", "c4", "d3", "d4")
    page.press(Keys.ARROW_LEFT * 5, Keys.ARROW_UP * 5)
    assert page.focused() == "a6"
    page.press(Keys.ARROW_RIGHT * 3, Keys.ARROW_DOWN * 3)
    assert page.focused() == "d3"
    page.press(Keys.ENTER)
    assert page.focused() == "nw"
    page.press(Keys.ESCAPE)
    assert page.focused() == "d3"
    page.press(Keys.ENTER, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    assert page.focused() == "s"
    page.press(Keys.ENTER)
    page.settled(1)
    assert page.moves == ["d3s"]
    assert page.text("#status").startswith("White king d3 steps south to d2, pushing black pawn")
    assert page.focused() == "d2"
    page.press("t")
    assert page.focused() == "B1"
    page.press(Keys.ARROW_LEFT, Keys.ENTER)
    assert page.focused() == "n"
    page.press(Keys.ARROW_DOWN)
    assert page.focused() == "r"
    page.press(Keys.ENTER)
    page.settled(2)
    assert page.moves == ["d3s", "A1r"]


def test_a_group_is_chosen_by_keyboard(page: Page) -> None:
    page.open(start=SPLITTING)
    move = min(text for text in legal(SPLITTING) if text.endswith("=1"))
    page.choose(move[:2])
    page.run("document.querySelector(`#compass [data-way=${arguments[0]}]`).focus()", move[2])
    page.press(Keys.ENTER)
    assert page.focused() == move[:-2]
    page.press(Keys.TAB, Keys.ENTER)
    page.settled(1)
    assert page.moves == [move]


def test_the_focus_goes_in_the_order_of_the_page(page: Page) -> None:
    page.open()
    order = []
    for _ in range(15):
        page.press(Keys.TAB)
        order.append(page.focused())
    square, *rest = order
    assert square in ("c3", "c4", "d3", "d4")
    assert rest[:3] == ["pieces", "move", "BUTTON"]
    assert rest[3:8] == ["hint", "flip", "moves", "copy", "download"]
    assert rest[8:12] == ["you", "opponent", "SUMMARY", "new"]
    page.choose("d3")
    page.run("document.getElementById('move').focus()")
    ActionChains(page.driver).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()
    assert page.focused() == "nw"


LOOKS = """
const seen = (element) => element.name === "mode" ? element.nextElementSibling : element;
const look = (element) => {
  const { outlineStyle, outlineWidth, stroke, strokeWidth } = getComputedStyle(seen(element));
  return [outlineStyle, outlineWidth, stroke, strokeWidth].join();
};
const before = window.before && look(window.before);
window.before = document.activeElement;
return [look(document.activeElement), before];
"""


def test_the_focus_is_seen(page: Page) -> None:
    page.open()
    page.press(Keys.TAB)
    with_focus, _ = page.run(LOOKS)
    for _ in range(12):
        name = page.focused()
        page.press(Keys.TAB)
        next_with_focus, without = page.run(LOOKS)
        assert with_focus != without, name
        with_focus = next_with_focus


def test_everything_has_a_name(page: Page) -> None:
    page.open(start=SPLITTING)
    page.choose("B2")
    tree = page.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    shown = [node for node in tree if not node["ignored"]]
    named = {
        role: [node["name"]["value"] for node in shown if node["role"]["value"] == role]
        for role in ("button", "combobox", "textbox", "radio", "group", "region", "heading")
    }
    assert {role: names for role, names in named.items() if not all(names)} == {}
    assert "a4, black king" not in named["button"]  # tiles are to be chosen now
    assert any(name.startswith("Tile B2, controlled by white") for name in named["button"])
    assert {"You play", "Opponent"} <= set(named["combobox"])
    assert "Move in notation" in named["textbox"]
    assert "Board" in named["group"]
    arrows = [name for name in named["button"] if name.startswith(("North. Tile B2", "North. The"))]
    assert len(arrows) == 1


def luminance(colour: tuple[float, ...]) -> float:
    """Relative luminance: https://www.w3.org/TR/WCAG22/#dfn-relative-luminance."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Of two computed colours: https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio."""

    def read(colour: str) -> tuple[float, ...]:
        numbers = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", colour)]
        parts = numbers[:3]
        return tuple(parts) if colour.startswith("color(srgb") else tuple(c / 255 for c in parts)

    low, high = sorted((luminance(read(one)), luminance(read(other))))
    return (high + 0.05) / (low + 0.05)


TEXTS = """
const background = (element) => {
  for (let it = element; it; it = it.parentElement) {
    const colour = getComputedStyle(it).backgroundColor;
    if (!/, 0\\)$/.test(colour)) return colour;
  }
  return getComputedStyle(document.body).backgroundColor;
};
const found = [];
for (const element of document.querySelectorAll("body *")) {
  const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!own || element.closest("svg, noscript") || !element.checkVisibility()) continue;
  found.push([element.textContent, getComputedStyle(element).color, background(element)]);
}
const input = document.getElementById("move");
found.push(["placeholder", getComputedStyle(input, "::placeholder").color, background(input)]);
return found;
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_are_easy_to_read(page: Page, scheme: str) -> None:
    page.resize(DESKTOP, scheme)
    page.open(moves="d3s")
    page.choose("d1")
    page.go("n")
    texts = page.run(TEXTS)
    assert {"Undo", "Move in notation", "Redo", "Black to move."} <= {text for text, *_ in texts}
    poor = [(text, contrast(*colours)) for text, *colours in texts if contrast(*colours) < 4.5]
    assert not poor
    dark = luminance((0, 0, 0)) < 0.1 and scheme == "dark"
    page_colour = page.run("return getComputedStyle(document.body).backgroundColor")
    assert (contrast(page_colour, "rgb(0, 0, 0)") < 3) == dark


def test_it_fits_on_a_phone(page: Page) -> None:
    page.resize(PHONE)
    page.open(start=SPLITTING)
    page.choose("B2")
    assert page.run("return document.documentElement.scrollWidth") <= PHONE[0]
    small = """return [...document.querySelectorAll("button, select, #move, #modes span, summary")]
        .filter((it) => it.checkVisibility())
        .filter((it) => Math.min(it.offsetWidth, it.offsetHeight) < 36).map((it) => it.outerHTML)"""
    assert page.run(small) == []
    board = page.find("#board").rect
    assert board["width"] > 0.9 * PHONE[0]
    page.open()
    page.play("d3s")
    page.settled(1)
    assert page.moves == ["d3s"]
