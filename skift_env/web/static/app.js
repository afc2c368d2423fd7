"use strict";
// The page draws what the server says of a game and sends back what the player does. It knows
// places as points of the picture and moves as texts; the rules are the server's alone.

const $ = (id) => document.getElementById(id);
const OTHER = { white: "black", black: "white" };
const ARROWS = [["↖", "↑", "↗"], ["←", "⟳", "→"], ["↙", "↓", "↘"]];
const STORED = "skift.game";
const HELP = "Click a piece to see where it can step and what it would push. Click an empty square "
  + "or the edge of a tile, or switch to tiles, to move or turn a tile.";
const OVER = "Undo, or begin a new game.";

// The game, which the page's address holds too.
const game = { start: null, moves: [], you: "white", agent: null, seed: 0 };
// The page: what the server last told, what is chosen, which answers are still wanted.
const page = {
  told: null, mode: "pieces", chosen: null, choice: null, turned: false, undone: [],
  turn: 0, cancel: null, thinking: false, waiting: false, refocus: false, at: null, agents: [],
};

function make(tag, attributes = {}, ...children) {
  return furnish(document.createElement(tag), attributes, children);
}

function draw(tag, attributes = {}, ...children) {
  return furnish(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function furnish(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// --- The game in the page's address ---------------------------------------------------------

function addressOf() {
  const parameters = new URLSearchParams();
  if (game.start) parameters.set("start", game.start);
  if (game.moves.length) parameters.set("moves", game.moves.join("."));
  parameters.set("you", game.you);
  if (game.agent) parameters.set("agent", game.agent);
  parameters.set("seed", game.seed);
  return `#${parameters}`;
}

function save() {
  history.replaceState(null, "", addressOf());
  try {
    localStorage.setItem(STORED, addressOf());
  } catch { /* storage is switched off or full: the address will do */ }
}

function load() {
  let address = location.hash;
  try {
    if (address.length < 2) address = localStorage.getItem(STORED) ?? "";
  } catch { /* no storage */ }
  const parameters = new URLSearchParams(address.slice(1));
  game.start = parameters.get("start") || null;
  game.moves = (parameters.get("moves") ?? "").split(".").filter((move) => move);
  game.you = ["white", "black", "both"].includes(parameters.get("you")) ? parameters.get("you") : "white";
  game.agent = parameters.get("agent");
  const seed = Number(parameters.get("seed") ?? NaN);
  game.seed = Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32 ? seed : newSeed();
}

const newSeed = () => crypto.getRandomValues(new Uint32Array(1))[0];

// --- The server -------------------------------------------------------------------------------

class Refusal extends Error {}
class Outdated extends Error {}

// Ask until there is an answer: a server that is away or busy comes back, and the game is here.
async function ask(path, members, turn = page.turn) {
  for (let wait = 500; ; wait = Math.min(2 * wait, 8000)) {
    let answer = null;
    try {
      answer = await fetch(`api/${path}`, members && {
        method: "POST", headers: { "Content-Type": "application/json" },
        body: JSON.stringify(members), signal: page.cancel?.signal,
      });
      const body = await answer.json();
      if (turn !== page.turn) throw new Outdated();
      if (answer.ok) {
        if (page.waiting) notify("");
        page.waiting = false;
        return body;
      }
      if (![429, 503].includes(answer.status)) throw new Refusal(body.error);
    } catch (error) {
      if (error instanceof Refusal || error instanceof Outdated) throw error;
    }
    if (turn !== page.turn) throw new Outdated();
    page.waiting = true;
    notify(answer ? "The server is busy. Trying again…" : "The server does not answer. The game is kept here; trying again…");
    await pause(wait);
    if (turn !== page.turn) throw new Outdated();
  }
}

const played = () => ({ start: game.start, moves: game.moves });

function notify(text, button = "", action = null) {
  $("notice").hidden = !text;
  $("notice-text").textContent = text;
  $("notice-button").hidden = !button;
  $("notice-button").textContent = button;
  $("notice-button").onclick = action;
}

// A new state of the game: whatever was asked about the old one is no longer wanted.
function beginTurn() {
  page.refocus = ["cells", "compass", "groups", "hints"].some((id) => $(id).contains(document.activeElement));
  page.turn += 1;
  page.cancel?.abort();
  page.cancel = new AbortController();
  page.thinking = false;
  page.chosen = page.choice = null;
  page.waiting = false;
  notify("");
  $("hints").hidden = true;
  return page.turn;
}

async function update() {
  const turn = beginTurn();
  save();
  try {
    page.told = await ask("position", { ...played(), turned: page.turned }, turn);
    show();
    if (page.told.outcome || game.you === "both" || page.told.side === game.you) return;
    page.thinking = true;
    showPlayers();
    showButtons();
    const reply = await ask("agent", { ...played(), agent: game.agent, seed: game.seed }, turn);
    page.undone = [];
    game.moves.push(reply.move);
    update();
  } catch (error) {
    if (error instanceof Outdated) return;
    page.thinking = false;
    if (page.told) { showPlayers(); showButtons(); }
    if (!(error instanceof Refusal)) throw error;
    if (page.told) notify(error.message, "Ask again", update);
    else notify(`This game cannot be shown: ${error.message}`, "New game", () => startGame(null));
  }
}

// Whether the board shown is that of the game, and not of the ply before.
const isCurrent = () => page.told?.sides.length === game.moves.length + 1 && !page.thinking;

function play(text) {
  if (!isCurrent()) return; // a second click, before the answer to the first
  page.undone = [];
  game.moves.push(text);
  update();
}

function startGame(start) {
  game.start = start;
  game.moves = [];
  game.seed = newSeed();
  page.undone = [];
  page.told = null;
  page.turned = game.you === "black";
  update();
}

const yourTurn = (index = game.moves.length) => game.you === "both" || page.told.sides[index] === game.you;

// Back to where you were to move last.
function undoneLength() {
  let length = page.told ? game.moves.length - 1 : -1;
  while (length >= 0 && !yourTurn(length)) length -= 1;
  return length;
}

function undo() {
  const length = undoneLength();
  if (length < 0) return;
  page.undone.unshift(...game.moves.splice(length));
  update();
}

function redo() {
  if (!page.undone.length) return;
  const count = game.you === "both" ? 1 : 2;
  game.moves.push(...page.undone.splice(0, count));
  update();
}

// --- Showing a position -----------------------------------------------------------------------

function show() {
  const { told } = page;
  const board = $("board");
  board.classList.remove("choosing", "undecided");
  board.setAttribute("viewBox", `0 0 ${told.size} ${told.size}`);
  $("picture").innerHTML = told.picture;
  showCells(page.refocus);
  showChosen();
  showPlayers();
  showMoves();
  showButtons();
  const words = told.last ? `${told.last.words} ` : "";
  $("status").replaceChildren(words, make("span", { class: "headline" }, told.status));
  document.title = `${told.headline} – Skift`;
}

const things = () => (page.mode === "pieces" ? page.told.squares : page.told.tiles);

// One button for each square or tile, of which the Tab key reaches the one at `page.at`.
function showCells(focus = false) {
  const { told } = page;
  const side = (page.mode === "pieces" ? 0.455 : 0.99) * told.cell;
  const layers = [];
  const cell = (thing, size, attributes) => draw("rect", {
    class: thing.options ? "cell open" : "cell",
    x: thing.at[0] - size / 2, y: thing.at[1] - size / 2, width: size, height: size, rx: 0.07 * told.cell,
    "data-name": thing.name, ...attributes,
  });
  if (page.mode === "pieces") {
    // a tile's edge is clicked to choose the tile
    layers.push(...told.tiles.map((tile) => cell(tile, 0.99 * told.cell, { "aria-hidden": "true" })));
  }
  layers.push(...things().map((thing) => cell(thing, side, {
    role: "button", tabindex: -1, "aria-label": thing.label,
    "aria-pressed": page.chosen?.name === thing.name ? "true" : "false",
  })));
  $("cells").replaceChildren(...layers);
  const current = nearest(things(), page.at ?? [told.size / 2, told.size / 2]);
  const element = cellOf(current.name);
  element.setAttribute("tabindex", 0);
  if (focus) element.focus();
}

const cellOf = (name) => $("cells").querySelector(`[role="button"][data-name="${name}"]`);

function nearest(list, [x, y]) {
  const distance = ({ at }) => (at[0] - x) ** 2 + (at[1] - y) ** 2;
  return list.reduce((best, thing) => (distance(thing) < distance(best) ? thing : best));
}

function moveTo(thing) {
  page.at = thing.at;
  $("cells").querySelector('[tabindex="0"]')?.setAttribute("tabindex", -1);
  const element = cellOf(thing.name);
  element.setAttribute("tabindex", 0);
  element.focus();
}

function pieceIcon(letter) {
  const side = letter === letter.toUpperCase() ? "white" : "black";
  return make("span", { class: `piece ${letter.toLowerCase() === "k" ? "king" : "pawn"} ${side}` });
}

function playerName(side) {
  if (game.you === "both") return capital(side);
  return game.you === side ? "You" : strengthOf(game.agent).title;
}

function strengthOf(spec) {
  return page.agents.flatMap(({ strengths }) => strengths).find((strength) => strength.spec === spec);
}

function showPlayers() {
  const { told } = page;
  $("game-title").textContent = game.you === "both" ? "Two players, one board" : `You against ${playerName(OTHER[game.you])}`;
  for (const [bar, side] of [["near", page.turned ? "black" : "white"], ["far", page.turned ? "white" : "black"]]) {
    const parts = [pieceIcon(side === "white" ? "K" : "k"), make("span", { class: "name" }, playerName(side))];
    if (game.you !== "both") parts.push(make("span", {}, side));
    if (told.outcome) {
      if (told.outcome.winner === side) parts.push(make("span", { class: "turn" }, "wins"));
      if (told.outcome.winner === null) parts.push(make("span", { class: "turn" }, "draw"));
    } else if (told.side === side) {
      parts.push(make("span", { class: "turn" }, page.thinking ? "is thinking…" : "to move"));
    }
    const letters = told.lost[side];
    if (letters) {
      parts.push(make("span", { class: "lost", role: "img", "aria-label": `${letters.length} lost` }, ...[...letters].map(pieceIcon)));
    }
    $(bar).replaceChildren(...parts);
  }
}

function showMoves() {
  const rows = [];
  game.moves.forEach((move, index) => {
    const black = page.told.sides[index] === "black";
    if (!black || index === 0) {
      rows.push(make("tr", {}, make("th", { scope: "row" }, `${rows.length + 1}.`)));
      if (black) rows[0].append(make("td", {}, "…"));
    }
    rows[rows.length - 1].append(make("td", { class: index === game.moves.length - 1 ? "last" : null }, move));
  });
  $("moves").replaceChildren(rows.length ? make("table", {}, make("colgroup", {}, make("col", { class: "number" }), make("col", { span: 2 })), make("tbody", {}, ...rows)) : make("p", {}, "None yet."));
  $("moves").scrollTop = $("moves").scrollHeight;
}

function showButtons() {
  const { told } = page;
  $("undo").disabled = undoneLength() < 0;
  $("redo").disabled = page.undone.length === 0;
  $("hint").disabled = Boolean(told.outcome) || page.thinking;
  if (document.activeElement.disabled) $("cells").querySelector('[tabindex="0"]').focus();
}

// --- Choosing what to move ---------------------------------------------------------------------

function choose(thing) {
  const { told } = page;
  if (page.choice) dropChoice();
  page.at = thing.at;
  if (told.outcome) return refuse(told.status);
  if (page.thinking) return refuse(`${playerName(told.side)} is thinking.`);
  page.chosen = thing.options ? thing : null;
  showCells($("cells").contains(document.activeElement));
  showChosen();
  if (!thing.options) refuse(`${thing.label}: ${thing.why}.`);
}

// A piece; where there is none, or that piece is chosen already, the tile beneath.
function chooseSquare(square) {
  const again = page.chosen?.name === square.name;
  const tile = page.told.tiles.find(({ name }) => name === square.tile);
  if (square.side && !again) choose(square);
  else if (page.chosen?.name === tile.name) drop();
  else choose(tile);
}

function chooseTile(tile) {
  if (page.chosen?.name === tile.name) drop();
  else choose(tile);
}

function drop() {
  page.chosen = null;
  dropChoice();
  showCells();
  showChosen();
}

function setMode(mode, focus = false) {
  page.mode = mode;
  document.querySelector(`input[name="mode"][value="${mode}"]`).checked = true;
  if (!page.told) return;
  page.chosen = null;
  dropChoice();
  showCells(focus);
  showChosen();
}

function explain(text, refused = false) {
  $("explanation").textContent = text;
  $("explanation").className = refused ? "refused" : "";
}

// The same, said aloud too.
function refuse(text) {
  explain(text, true);
  $("alert").textContent = text;
}

function showChosen() {
  const { chosen, told } = page;
  const { cell } = told;
  $("groups").hidden = true;
  $("compass").hidden = false;
  $("preview").replaceChildren();
  explain("");
  $("alert").textContent = "";
  const buttons = new Map();
  $("marks").replaceChildren();
  $("spots").replaceChildren();
  if (chosen) {
    const size = (isTile(chosen) ? 0.98 : 0.43) * cell;
    $("marks").append(draw("rect", {
      class: "chosen", x: chosen.at[0] - size / 2, y: chosen.at[1] - size / 2, width: size, height: size, rx: 0.06 * cell,
    }));
    $("spots").append(...chosen.options.map((option) => spotOf(option, chosen)));
    for (const option of chosen.options) buttons.set(gridPlace(option, chosen).join(), option);
  }
  $("chosen").textContent = chosen ? chosen.label : told.outcome ? told.status : "Choose a piece or a tile";
  const grid = chosen ? [] : [make("p", {}, told.outcome ? OVER : HELP)];
  for (const row of chosen ? [0, 1, 2] : []) {
    for (const column of [0, 1, 2]) grid.push(compassButton(buttons.get([row, column].join()), row, column));
  }
  $("compass").replaceChildren(...grid);
  $("compass").querySelector(".can")?.setAttribute("tabindex", 0);
}

const isTile = (thing) => page.told.tiles.some(({ name }) => name === thing.name);

// Where an option's arrow stands in the compass: as it points on the board.
function gridPlace(option, thing) {
  const step = (from, to) => (Math.abs(to - from) < 1 ? 0 : Math.sign(to - from));
  return [1 + step(thing.at[1], option.at[1]), 1 + step(thing.at[0], option.at[0])];
}

function compassButton(option, row, column) {
  if (!option) return make("span");
  const button = make("button", {
    type: "button", tabindex: -1, "data-way": option.way, "data-row": row, "data-column": column,
    class: option.actions ? "can" : null, "aria-disabled": option.actions ? null : "true",
    "aria-label": capital(option.actions ? summary(option) : `${option.label}: ${option.why}`),
  }, ARROWS[row][column]);
  const preview = () => showPreview(option);
  button.addEventListener("focus", preview);
  button.addEventListener("pointerenter", preview);
  button.addEventListener("pointerleave", () => clearPreview());
  button.addEventListener("click", () => take(option));
  return button;
}

function summary(option) {
  if (option.actions.length === 1) return `${option.label}. ${option.actions[0].words}`;
  return `${option.label}. The tiles splinter, and you choose which group stays.`;
}

function spotOf(option, thing) {
  const { cell, squares } = page.told;
  const [x, y] = option.at;
  const tile = isTile(thing);
  const onto = !tile && squares.some(({ side, at }) => side && Math.hypot(at[0] - x, at[1] - y) < 1);
  const radius = (tile ? 0.13 : onto ? 0.19 : 0.085) * cell;
  const kind = `spot ${option.actions ? "free" : "closed"}${onto && option.actions ? " onto" : ""}`;
  const spot = draw("g", { class: kind, "data-way": option.way },
    draw("title", {}, capital(option.actions ? summary(option) : option.why)),
    draw("circle", { cx: x, cy: y, r: radius }));
  if (tile) spot.append(handle(option, thing, 0.055 * cell));
  else if (!option.actions) {
    const r = 0.05 * cell;
    spot.append(draw("path", { d: `M${x - r},${y - r}l${2 * r},${2 * r}m0,${-2 * r}l${-2 * r},${2 * r}`, "stroke-width": 5 }));
  }
  const hit = (tile ? 0.34 : 0.46) * cell;
  spot.append(draw("rect", { class: "hit", x: x - hit / 2, y: y - hit / 2, width: hit, height: hit }));
  spot.addEventListener("pointerenter", () => showPreview(option));
  spot.addEventListener("pointerleave", () => clearPreview());
  spot.addEventListener("click", () => take(option));
  return spot;
}

// The sign in a tile's handle: an arrow in the direction of the move, or a round one.
function handle(option, thing, size) {
  const [x, y] = option.at;
  const width = size / 3;
  if (option.way === "r") {
    const d = `M${x + 0.95 * size},${y - 0.3 * size}A${size},${size} 0 1 0 ${x + size},${y + 0.25 * size}`
      + `M${x + 1.05 * size},${y - 1.15 * size}V${y - 0.25 * size}H${x + 0.15 * size}`;
    return draw("path", { d, "stroke-width": width });
  }
  const [down, across] = gridPlace(option, thing).map((step) => step - 1);
  const point = (ahead, aside) => `${x + ahead * across * size - aside * down * size},${y + ahead * down * size + aside * across * size}`;
  return draw("path", { d: `M${point(-1, 0)}L${point(1, 0)}M${point(0.2, -0.8)}L${point(1, 0)}L${point(0.2, 0.8)}`, "stroke-width": width });
}

// What an option or an action would do, drawn over the board and in words.
function showPreview(option) {
  if (page.choice) return;
  const action = option.actions?.[0];
  $("preview").replaceChildren();
  if (!action) return explain(`${capital(option.label)}: ${option.why}.`, true);
  explain(option.actions.length > 1 ? capital(summary(option)) : action.words);
  drawAction(action, option.actions.length === 1);
}

function clearPreview() {
  if (page.choice) return;
  $("preview").replaceChildren();
  explain("");
}

function drawAction(action, withLosses = true) {
  const { cell } = page.told;
  const parts = [];
  for (const [[x1, y1], [x2, y2]] of action.moves) {
    const length = Math.hypot(x2 - x1, y2 - y1);
    const [across, down] = [(x2 - x1) / length, (y2 - y1) / length];
    const [head, half] = [0.13 * cell, 0.07 * cell];
    const [bx, by] = [x2 - head * across, y2 - head * down];
    parts.push(draw("line", { x1, y1, x2: bx, y2: by }));
    parts.push(draw("polygon", { class: "tip", points: `${x2},${y2} ${bx - half * down},${by + half * across} ${bx + half * down},${by - half * across}` }));
  }
  if (withLosses) {
    const side = 0.95 * cell;
    for (const [x, y] of action.lost_tiles) {
      parts.push(draw("rect", { class: "off", x: x - side / 2, y: y - side / 2, width: side, height: side, rx: 0.085 * cell }));
    }
    const r = 0.12 * cell;
    for (const [x, y] of action.lost) {
      const d = `M${x - r},${y - r}l${2 * r},${2 * r}m0,${-2 * r}l${-2 * r},${2 * r}`;
      parts.push(draw("path", { class: "gone", d }), draw("path", { class: "gone", d }));
    }
  }
  $("preview").replaceChildren(...parts);
}

function take(option) {
  if (!option.actions) return refuse(`Not allowed: ${option.why}.`);
  page.at = option.at;
  if (option.actions.length > 1) return openChoice(option);
  return play(option.actions[0].text);
}

// --- Choosing which group stays ------------------------------------------------------------------

function openChoice(option) {
  const byKeyboard = $("compass").contains(document.activeElement);
  page.choice = option;
  $("spots").replaceChildren();
  $("marks").replaceChildren();
  $("preview").replaceChildren();
  $("cells").replaceChildren();
  $("board").classList.add("choosing");
  $("compass").hidden = true;
  $("groups").hidden = false;
  $("chosen").textContent = "The tiles splinter: which group stays?";
  explain("The other groups leave the game, with all that stands on them.");
  const buttons = option.actions.map((action, index) => {
    const button = make("button", { type: "button", "data-move": action.text }, `${index + 1}. ${action.label}`);
    button.addEventListener("focus", () => tryGroup(index));
    button.addEventListener("pointerenter", () => tryGroup(index));
    button.addEventListener("pointerleave", () => tryGroup(null));
    button.addEventListener("click", () => play(action.text));
    return button;
  });
  const cancel = make("button", { type: "button" }, "Cancel");
  cancel.addEventListener("click", () => { const { chosen } = page; drop(); choose(chosen); moveTo(nearest(things(), chosen.at)); });
  $("groups").replaceChildren(...buttons, cancel);
  $("spots").append(...option.actions.map(groupOf));
  tryGroup(null);
  if (byKeyboard) buttons[0].focus();
}

function groupOf(action, index) {
  const { cell } = page.told;
  const side = 0.99 * cell;
  const group = draw("g", { class: "split", "data-move": action.text }, draw("title", {}, action.label));
  const has = (x, y) => action.group.some((tile) => Math.hypot(tile[0] - x, tile[1] - y) < 1);
  for (const [x, y] of action.group) {
    group.append(draw("rect", { class: "inside", x: x - side / 2, y: y - side / 2, width: side, height: side }));
    for (const [dx, dy] of Object.values(KEYS)) {
      if (has(x + dx * cell, y + dy * cell)) continue;
      const [ex, ey] = [x + dx * cell / 2, y + dy * cell / 2];
      const [px, py] = [dy * cell / 2, dx * cell / 2];
      group.append(draw("line", { class: "border", x1: ex - px, y1: ey - py, x2: ex + px, y2: ey + py }));
    }
  }
  const [x, y] = action.group[0];
  const [px, py] = [x - 0.47 * cell, y - 0.47 * cell];
  group.append(draw("circle", { class: "group-plate", cx: px, cy: py, r: 0.13 * cell }));
  group.append(draw("text", { class: "group-number", x: px, y: py + 0.06 * cell, "font-size": 0.17 * cell }, `${index + 1}`));
  group.addEventListener("pointerenter", () => tryGroup(index));
  group.addEventListener("pointerleave", () => tryGroup(null));
  group.addEventListener("click", () => play(action.text));
  return group;
}

// The board as it would be; with no group tried, all of them at full strength.
function tryGroup(index) {
  if (!page.choice) return;
  const { actions } = page.choice;
  $("picture").innerHTML = actions[index ?? 0].picture;
  $("board").classList.toggle("undecided", index === null);
  [...$("spots").children].forEach((group, other) => group.classList.toggle("tried", other === index));
  explain(index === null ? "The other groups leave the game, with all that stands on them." : actions[index].words);
}

function dropChoice() {
  $("board").classList.remove("choosing", "undecided");
  if (!page.choice) return;
  page.choice = null;
  $("picture").innerHTML = page.told.picture;
}

// --- Keyboard --------------------------------------------------------------------------------

const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// The next thing in a direction: the nearest of those that lie more that way than aside.
function towards(list, from, [dx, dy]) {
  let best = null;
  let least = Infinity;
  for (const thing of list) {
    const [x, y] = [thing.at[0] - from[0], thing.at[1] - from[1]];
    const ahead = x * dx + y * dy;
    const aside = Math.abs(x * dy) + Math.abs(y * dx);
    if (ahead < 1 || ahead < aside) continue;
    if (ahead + 3 * aside < least) [best, least] = [thing, ahead + 3 * aside];
  }
  return best;
}

function onBoardKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || !page.told) return;
  const name = document.activeElement?.getAttribute("data-name");
  const thing = things().find((each) => each.name === name);
  if (event.key === "Escape") drop();
  else if (event.key === "t" || event.key === "T") setMode(page.mode === "pieces" ? "tiles" : "pieces", true);
  else if (KEYS[event.key] && thing) {
    const next = towards(things(), thing.at, KEYS[event.key]);
    if (next) moveTo(next);
  } else if ((event.key === "Enter" || event.key === " ") && thing) {
    if (page.mode === "pieces") chooseSquare(thing);
    else chooseTile(thing);
    if (page.chosen) $("compass").querySelector(".can")?.focus();
  } else return;
  event.preventDefault();
}

function onCompassKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const button = event.target.closest("button");
  if (event.key === "Escape") {
    const { chosen } = page;
    drop();
    if (chosen) moveTo(nearest(things(), chosen.at));
  } else if (KEYS[event.key] && button) {
    const place = (each) => ({ at: [100 * each.dataset.column, 100 * each.dataset.row], each });
    const buttons = [...$("compass").querySelectorAll("button")].map(place);
    const next = towards(buttons, place(button).at, KEYS[event.key]);
    if (next) {
      $("compass").querySelector('[tabindex="0"]')?.setAttribute("tabindex", -1);
      next.each.setAttribute("tabindex", 0);
      next.each.focus();
    }
  } else return;
  event.preventDefault();
}

// --- Typed moves, hints, records -----------------------------------------------------------------

const allActions = () => [...page.told.squares, ...page.told.tiles]
  .flatMap(({ options }) => options ?? []).flatMap(({ actions }) => actions ?? []);

async function enter(event) {
  event.preventDefault();
  const text = $("move").value.trim();
  const answer = (why) => {
    $("entry-error").textContent = why;
    $("move").setAttribute("aria-invalid", why ? "true" : "false");
  };
  answer("");
  if (!text || !page.told) return;
  if (page.thinking) return answer(`${playerName(page.told.side)} is thinking.`);
  if (allActions().some((action) => action.text === text)) {
    $("move").value = "";
    return play(text);
  }
  try {
    const { why } = await ask("why", { ...played(), move: text });
    answer(`${text}: ${why}.`);
  } catch (error) {
    if (error instanceof Refusal) answer(error.message);
    else if (!(error instanceof Outdated)) throw error;
  }
}

async function showHints() {
  const box = $("hints");
  box.hidden = false;
  box.replaceChildren(make("p", {}, "Thinking…"));
  try {
    const { name, moves } = await ask("hint", { ...played(), agent: game.agent, seed: game.seed });
    const buttons = moves.map(({ move, words, rating }) => {
      const button = make("button", { type: "button", "data-move": move }, make("b", {}, move), make("small", {}, words));
      if (rating) button.append(make("span", {}, rating));
      const action = allActions().find(({ text }) => text === move);
      const preview = () => { if (!page.choice) drawAction(action); };
      button.addEventListener("focus", preview);
      button.addEventListener("pointerenter", preview);
      button.addEventListener("pointerleave", clearPreview);
      button.addEventListener("blur", clearPreview);
      button.addEventListener("click", () => play(move));
      return button;
    });
    box.replaceChildren(make("p", {}, `${name} would play:`), ...buttons);
  } catch (error) {
    if (error instanceof Refusal) box.replaceChildren(make("p", {}, error.message));
    else if (!(error instanceof Outdated)) throw error;
  }
}

async function record() {
  const name = (side) => (["both", side].includes(game.you) ? "human" : strengthOf(game.agent).name);
  const names = { white: name("white"), black: name("black") };
  return (await ask("record", { ...played(), ...names })).record;
}

async function exporting(button, done, action) {
  const label = button.dataset.label ?? (button.dataset.label = button.textContent);
  try {
    await action(await record());
    button.textContent = done;
    setTimeout(() => { button.textContent = label; }, 2000);
  } catch (error) {
    if (!(error instanceof Outdated)) notify(`The record could not be exported: ${error.message}`);
  }
}

function download(text) {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type: "text/plain" })), download: "skift-game.txt" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// --- Settings -----------------------------------------------------------------------------------

function listAgents({ chosen, agents }) {
  page.agents = agents;
  const has = (spec) => agents.findIndex(({ strengths }) => strengths.some((strength) => strength.spec === spec));
  if (has(game.agent) < 0) game.agent = chosen;
  const index = has(game.agent);
  $("opponent").replaceChildren(...agents.map(({ title }, number) => make("option", { value: number }, title)));
  $("opponent").value = index;
  listStrengths(game.agent);
  $("you").value = game.you;
}

function listStrengths(spec) {
  const { strengths } = page.agents[$("opponent").value];
  $("strength").replaceChildren(...strengths.map((each) => make("option", { value: each.spec }, each.label)));
  $("strength").value = spec ?? strengths[Math.floor(strengths.length / 2)].spec;
  for (const element of [$("strength"), $("strength-label")]) element.hidden = strengths.length < 2;
}

function changeAgent() {
  game.agent = $("strength").value;
  update();
}

// --- Begin -----------------------------------------------------------------------------------

$("cells").addEventListener("click", ({ target }) => {
  const name = target.getAttribute("data-name");
  const square = page.told.squares.find((each) => each.name === name);
  if (square) chooseSquare(square);
  else chooseTile(page.told.tiles.find((each) => each.name === name));
});
// not on the cells themselves: an SVG element that listens for focus can be focused
$("stage").addEventListener("focusin", ({ target }) => {
  if ($("cells").contains(target)) page.at = things().find(({ name }) => name === target.dataset.name).at;
});
$("cells").addEventListener("keydown", onBoardKey);
$("compass").addEventListener("keydown", onCompassKey);
$("groups").addEventListener("keydown", (event) => { if (event.key === "Escape") $("groups").lastChild.click(); });
for (const input of document.querySelectorAll('input[name="mode"]')) {
  input.addEventListener("change", () => setMode(input.value));
}
$("entry").addEventListener("submit", enter);
$("undo").addEventListener("click", undo);
$("redo").addEventListener("click", redo);
$("hint").addEventListener("click", showHints);
$("flip").addEventListener("click", () => { page.turned = !page.turned; update(); });
$("copy").addEventListener("click", () => exporting($("copy"), "Copied", (text) => navigator.clipboard.writeText(text)));
$("download").addEventListener("click", () => exporting($("download"), "Saved", download));
$("you").addEventListener("change", () => { game.you = $("you").value; page.undone = []; page.turned = game.you === "black"; update(); });
$("opponent").addEventListener("change", () => { listStrengths(); changeAgent(); });
$("strength").addEventListener("change", changeAgent);
$("new").addEventListener("click", () => startGame($("start").value.trim() || null));
window.addEventListener("hashchange", () => begin());

async function begin() {
  beginTurn();
  load();
  page.turned = game.you === "black";
  page.told = null;
  page.undone = [];
  $("start").value = game.start ?? "";
  listAgents(await ask("agents", null));
  update();
}

begin();
