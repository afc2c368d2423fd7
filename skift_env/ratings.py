"""How strong, and how sure: the mathematics of matches, free of any game.

- `MatchCounts`, `elo_estimate`: one agent's results in pairs of games, and the Elo they show;
- `sprt`: end a match as soon as the pairs decide between two hypotheses;
- `fit_ratings`: one scale for a league, with a first-mover and a draw term;
- `iqm`, `iqm_interval`: a robust average over training seeds.

The unit of evidence is a *pair*: two games from one opening with colours swapped. What the opening
or the first move gives away cancels within a pair, so an error is computed from the variance
*between pairs*; that of single games would overstate it. A win scores 1, a draw 1/2, a loss 0.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]
Result: TypeAlias = tuple[str, str, float, Hashable]
"""One game: white's name, black's name, white's score (0, 0.5 or 1), and an id that the two games
of a pair share. Ids need to differ only among the pairs of the same two agents."""

Interval: TypeAlias = tuple[float, float]

ELO = 400 / math.log(10)
"""Elo in one natural unit of log odds, 173.7: an advantage of `ELO` Elo is odds of e to 1."""

PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Mean score per game of a pair, in the order of the pentanomial counts."""


class ResultError(ValueError):
    """Results or counts that no match can have produced, or too few to answer the question."""


class DisconnectedError(ResultError):
    """Some agents are linked by no chain of games; the message names the groups that are."""


@dataclass(frozen=True)
class MatchCounts:
    """One agent's results, by pair and by game.

    A pair cut short (one game only) has no part in score, variances and estimates: nothing cancels
    its opening.
    """

    pentanomial: tuple[int, ...]
    """(5,) complete pairs in which the agent scored 0, 1/2, 1, 3/2, 2 points."""
    trinomial: tuple[int, ...]
    """(3,) all games lost, drawn, won."""
    unpaired: tuple[int, ...]
    """(3,) games of pairs cut short that were lost, drawn, won."""

    @classmethod
    def from_results(
        cls, results: Iterable[Result], agent: str, opponent: str | None = None
    ) -> MatchCounts:
        """Count the games of `agent`, against `opponent` or, by default, against everyone.

        All counts are zero if there are none. Raises `ResultError` as `fit_ratings` does.
        """
        pentanomial, trinomial, unpaired = [0] * 5, [0] * 3, [0] * 3
        for (first, second, _), games in _pairs(results).items():
            if agent not in (first, second) or opponent not in (None, first, second):
                continue
            points = [score if white == agent else 1 - score for white, score in games]
            for point in points:
                trinomial[int(2 * point)] += 1
            whole = len(points) == 2
            (pentanomial if whole else unpaired)[int(2 * sum(points))] += 1
        return cls(tuple(pentanomial), tuple(trinomial), tuple(unpaired))

    @property
    def pairs(self) -> int:
        """Number of complete pairs."""
        return sum(self.pentanomial)

    @property
    def games(self) -> int:
        """Number of games, those of pairs cut short included."""
        return sum(self.trinomial)

    @property
    def score(self) -> float:
        """Mean score per game over the complete pairs, in [0, 1]."""
        return _mean_variance(_checked_pairs(self.pentanomial))[0]

    @property
    def pair_variance(self) -> float:
        """Variance, from pair to pair, of a pair's mean score per game, in [0, 1/4]."""
        return _mean_variance(_checked_pairs(self.pentanomial))[1]

    @property
    def game_variance(self) -> float:
        """Variance of the score of single games, complete pairs only, in [0, 1/4].

        With independent games `pair_variance` would be half of this; pairing makes a match
        `game_variance / 2 / pair_variance` times shorter at the same error.
        """
        _checked_pairs(self.pentanomial)
        losses, draws, wins = (a - b for a, b in zip(self.trinomial, self.unpaired, strict=True))
        return _mean_variance((losses, 0, draws, 0, wins))[1]


@dataclass(frozen=True)
class EloEstimate:
    """What the complete pairs of a match say of the difference in strength; see `elo_estimate`.

    `score` in [0, 1] is the mean per game; `elo` is logistic; `normalised_elo` has the unit
    2 `ELO` = 347.4; `superiority` in [0, 1] is the confidence that the true score is above 1/2.
    """

    pairs: int
    score: float
    score_interval: Interval
    elo: float
    elo_interval: Interval
    normalised_elo: float
    normalised_elo_interval: Interval
    superiority: float


def elo_to_score(elo: float) -> float:
    """Return the expected score, in [0, 1], of an agent `elo` Elo stronger (logistic model)."""
    return 0.5 + 0.5 * math.tanh(elo / ELO / 2)


def score_to_elo(score: float) -> float:
    """Return the logistic Elo difference of an expected score in [0, 1]; 0 and 1 give -inf, inf."""
    if not 0 <= score <= 1:
        raise ValueError(f"score {score!r} is not between 0 and 1")
    if score in (0, 1):
        return math.copysign(math.inf, score - 0.5)
    return ELO * math.log(score / (1 - score))


def elo_estimate(pentanomial: Sequence[int], confidence: float = 0.95) -> EloEstimate:
    """Estimate the Elo difference from the numbers of pairs that scored 0, 1/2, 1, 3/2, 2.

    The score interval holds every s that a two-sided score test does not reject: |score - s| <=
    z sqrt(V(s) / pairs), V(s) the variance of the likeliest distribution of pairs with mean s
    (`_likeliest_with_mean`). This is Wilson's interval (doi:10.1080/01621459.1927.10502953) for
    five outcomes, and equal to it when only two were seen. With many pairs it tends to score +-
    z sqrt(pair variance / pairs), as in fastchess `elo_pentanomial.cpp`
    (https://github.com/Disservin/fastchess), but it stays inside [0, 1], and pairs that all ended
    alike do not shrink it to a point. Elo is the logistic image: a score of 1 is infinite Elo with
    a one-sided interval (finite, inf). Nothing is ever NaN.

    Normalised Elo: score - 1/2 in standard deviations of a game, sqrt(2 pair variance), times
    2 `ELO` (Van den Bergh, https://www.cantate.be/Fishtest/normalized_elo_practical.pdf); its
    interval takes the deviation as known, and is infinite where none was seen. Likelihood of
    superiority: the normal probability of the same test at s = 1/2, so it passes 0.975 where the
    95 % interval leaves 0 Elo.

    Raises `ResultError` if there is no pair or a count is not a whole number >= 0, `ValueError`
    for a confidence outside (0, 1).
    """
    counts = _checked_pairs(pentanomial)
    pairs, z = sum(counts), _two_sided_z(confidence)
    score, variance = _mean_variance(counts)
    low, high = _lowest_score(counts, z), 1 - _lowest_score(counts[::-1], z)
    superiority = 0.5
    if score != 0.5:
        _, variance_if_equal = _mean_variance(_likeliest_with_mean(counts, 0.5))
        superiority = NormalDist().cdf((score - 0.5) / math.sqrt(variance_if_equal / pairs))
    if variance > 0:
        unit = math.sqrt(2 * variance) / (2 * ELO)
        normalised, normalised_ends = (
            (score - 0.5) / unit,
            ((low - 0.5) / unit, (high - 0.5) / unit),
        )
    else:
        normalised = math.copysign(math.inf, score - 0.5) if score != 0.5 else 0.0
        normalised_ends = (-math.inf, math.inf)
    return EloEstimate(
        pairs=pairs,
        score=score,
        score_interval=(low, high),
        elo=score_to_elo(score),
        elo_interval=(score_to_elo(low), score_to_elo(high)),
        normalised_elo=normalised,
        normalised_elo_interval=normalised_ends,
        superiority=superiority,
    )


def _checked_pairs(pentanomial: Sequence[int]) -> tuple[int, ...]:
    counts = tuple(pentanomial)
    if len(counts) != 5 or any(count < 0 or count != int(count) for count in counts):
        raise ResultError(f"pentanomial counts {counts!r} are not five whole numbers >= 0")
    if not any(counts):
        raise ResultError("no complete pair of games, so no estimate")
    return counts


def _mean_variance(weights: Sequence[float]) -> tuple[float, float]:
    """Return mean and variance of `PAIR_SCORES` with these weights, (5,)."""
    total = sum(weights)
    mean = sum(w * a for w, a in zip(weights, PAIR_SCORES, strict=True)) / total
    return mean, sum(w * (a - mean) ** 2 for w, a in zip(weights, PAIR_SCORES, strict=True)) / total


def _two_sided_z(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence!r} is not between 0 and 1")
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def _likeliest_with_mean(counts: Sequence[int], mean: float) -> tuple[float, ...]:
    """Return the distribution over `PAIR_SCORES` likeliest to give `counts`, of those with `mean`.

    It is p_i = f_i / (1 + t (a_i - mean)), f_i the frequency of score a_i and t the root of
    sum_i f_i (a_i - mean) / (1 + t (a_i - mean)) = 0: proposition 1.1 of Van den Bergh, "The
    generalized maximum likelihood ratio for the expectation value of a distribution"
    (https://www.cantate.be/Fishtest/support_MLE_multinomial.pdf). Where the root would leave some
    1 + t (a_i - mean) negative, t stops at that bound and the missing probability lies on the
    unseen score 0 or 1; so zero counts need no regularisation. `mean` is inside (0, 1).
    """
    total = sum(counts)
    seen = [(n / total, a - mean) for n, a in zip(counts, PAIR_SCORES, strict=True) if n]
    low, high = -1 / (1 - mean), 1 / mean
    for _ in range(64):
        tilt = (low + high) / 2
        if sum(f * x / (1 + tilt * x) for f, x in seen) > 0:
            low = tilt
        else:
            high = tilt
    fitted = [
        n / total / (1 + tilt * (a - mean)) if n else 0.0
        for n, a in zip(counts, PAIR_SCORES, strict=True)
    ]
    far_end = 0 if sum(f * x for f, x in seen) > 0 else 4
    fitted[far_end] += max(0.0, 1 - sum(fitted))
    return tuple(fitted)


def _lowest_score(counts: Sequence[int], z: float) -> float:
    """Return the lower end of the score interval of `elo_estimate`, by bisection."""
    score, _ = _mean_variance(counts)
    rejected, accepted = 0.0, score
    for _ in range(48 if score else 0):
        middle = (rejected + accepted) / 2
        _, variance = _mean_variance(_likeliest_with_mean(counts, middle))
        if sum(counts) * (score - middle) ** 2 <= z * z * variance:
            accepted = middle
        else:
            rejected = middle
    return accepted


@dataclass(frozen=True)
class SprtState:
    """State of a sequential test: log-likelihood ratio of H1 to H0 and its bounds, natural logs.

    `decision` is "H0" once `llr` <= `lower`, "H1" once `llr` >= `upper`, else None: play on.
    """

    llr: float
    lower: float
    upper: float
    decision: Literal["H0", "H1"] | None


def sprt(
    pentanomial: Sequence[int], elo0: float, elo1: float, alpha: float = 0.05, beta: float = 0.05
) -> SprtState:
    """Test H0 "stronger by elo0" against H1 "stronger by elo1" (logistic Elo) on the pairs so far.

    Ask after each complete pair and stop at the first decision. Generalised sequential probability
    ratio test: llr = sum_i n_i ln(p1_i / p0_i), p0 and p1 the likeliest distributions of pairs
    with the mean scores of elo0 and elo1 (`_likeliest_with_mean`), between Wald's bounds
    ln(beta / (1 - alpha)) and ln((1 - beta) / alpha). H1 is accepted with probability about `alpha`
    when H0 is true, H0 with about `beta` when H1 is. Sources: fishtest `stats/LLRcalc.py`
    (https://github.com/official-stockfish/fishtest), fastchess `sprt.cpp`, Van den Bergh's note;
    they count an unseen outcome as 0.001 pairs, here it is exact.

    `pentanomial`: pairs that scored 0, 1/2, 1, 3/2, 2; all zero is a fresh test. Raises
    `ResultError` for counts that are not whole numbers >= 0, `ValueError` unless elo0 < elo1 are
    finite, alpha > 0, beta > 0 and alpha + beta < 1.
    """
    score0, score1 = elo_to_score(elo0), elo_to_score(elo1)
    if not 0 < score0 < score1 < 1:
        raise ValueError(f"SPRT needs finite elo0 < elo1, not [{elo0!r}, {elo1!r}]")
    if not (alpha > 0 and beta > 0 and alpha + beta < 1):
        raise ValueError(f"SPRT needs error rates > 0 with sum < 1, not {alpha!r} and {beta!r}")
    llr = 0.0
    if tuple(pentanomial) != (0,) * 5:
        counts = _checked_pairs(pentanomial)
        likeliest0 = _likeliest_with_mean(counts, score0)
        likeliest1 = _likeliest_with_mean(counts, score1)
        llr = sum(
            n * math.log(p1 / p0)
            for n, p0, p1 in zip(counts, likeliest0, likeliest1, strict=True)
            if n
        )
    lower, upper = math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)
    decision: Literal["H0", "H1"] | None = None
    if llr <= lower:
        decision = "H0"
    elif llr >= upper:
        decision = "H1"
    return SprtState(llr, lower, upper, decision)


@dataclass(frozen=True)
class Rating:
    """One row of a league table.

    `elo` and `interval` are above the anchor's rating; `score` in [0, 1] is the mean per game;
    `opponents` is the number of different agents met.
    """

    agent: str
    elo: float
    interval: Interval
    games: int
    score: float
    opponents: int


@dataclass(frozen=True, eq=False)
class LeagueFit:
    """Ratings of n agents with B bootstrap replicates; made by `fit_ratings`."""

    agents: tuple[str, ...]
    """Names, strongest first; the order of every array below."""
    anchor: str
    """The agent whose rating is 0."""
    confidence: float
    elo: FloatArray
    """(n,) ratings, in Elo."""
    samples: FloatArray
    """(B, n) replicates of `elo`."""
    first_mover_elo: float
    """What having the first move is worth, in Elo."""
    first_mover_interval: Interval
    draw: float
    """Davidson's draw parameter, >= 0: equals draw `draw / (2 + draw)` of their games."""
    draw_interval: Interval
    games: NDArray[np.int64]
    """(n, n) games of the row's agent with the column's."""
    points: FloatArray
    """(n, n) points of the row's agent against the column's."""
    groups: tuple[tuple[str, ...], ...]
    """Agents in groups, strongest first, such that none ever took a point from a higher group. One
    group is the good case: the distance between two is the prior's guess, not the data's."""

    @property
    def ratings(self) -> tuple[Rating, ...]:
        """The league table, strongest first."""
        rows = []
        for agent, games, points in zip(self.agents, self.games, self.points, strict=True):
            elo, interval = self.difference(agent, self.anchor)
            total, opponents = int(games.sum()), int(np.count_nonzero(games))
            rows.append(Rating(agent, elo, interval, total, float(points.sum() / total), opponents))
        return tuple(rows)

    def difference(self, agent: str, other: str) -> tuple[float, Interval]:
        """Return by how much `agent` is stronger than `other`, in Elo, and the interval of that."""
        i, j = self._index(agent), self._index(other)
        ahead = self.samples[:, i] - self.samples[:, j]
        return float(self.elo[i] - self.elo[j]), _percentiles(ahead, self.confidence)

    def expected_score(self, white: str, black: str) -> float:
        """Return the model's mean score of `white`, in [0, 1], when `white` moves first."""
        ahead = self.elo[self._index(white)] - self.elo[self._index(black)] + self.first_mover_elo
        win = math.exp(ahead / ELO / 2)
        return (win + self.draw / 2) / (win + self.draw + 1 / win)

    def superiority(self) -> FloatArray:
        """Return the (n, n) likelihoods, in [0, 1], that the row's agent is the stronger one.

        This is the share of replicates in which it is, equality counting half.
        """
        ahead = np.sign(self.samples[:, :, None] - self.samples[:, None, :])
        return np.asarray(0.5 + ahead.mean(axis=0) / 2, np.float64)

    def _index(self, agent: str) -> int:
        if agent not in self.agents:
            raise ValueError(f"agent {agent!r} is not in the league: {', '.join(self.agents)}")
        return self.agents.index(agent)


def fit_ratings(
    results: Iterable[Result],
    anchor: str,
    rng: np.random.Generator,
    *,
    bootstrap: int = 1000,
    confidence: float = 0.95,
    prior_sd: float = 1000.0,
) -> LeagueFit:
    """Rate all agents at once from all games; `anchor` is rated 0 Elo.

    Model: with d = (white's rating - black's + first-mover advantage) / `ELO`, white wins, draws,
    loses with probabilities in ratio exp(d / 2) : draw : exp(-d / 2). This is Bradley and Terry's
    model with the draw term of Davidson (1970, doi:10.1080/01621459.1970.10481082) and an order
    effect (Davidson and Beaver 1977, doi:10.2307/2529364). A rating difference is thus 400 log10 of
    the odds of win to loss; where draws are many, the mean score is nearer to 1/2 than logistic Elo
    has it, so ask `expected_score`.

    Fit: the posterior mode, by Newton's method. A weak prior keeps scores of 0 and 100 % finite:
    ratings are normal about their unknown mean with deviation `prior_sd` Elo, and so are the
    first-mover advantage and `ELO` ln(draw) about 0. Neither the choice of anchor nor the order of
    `results` matters. KataGo's `elo.py` (https://github.com/lightvector/KataGo) is akin.

    Intervals: percentile bootstrap over the pairs of each two opponents, `bootstrap` replicates
    drawn with `rng`; a pair cut short is a unit of one game. Resampling cannot move a 100 % score,
    so each of several `groups` is also shifted by draws from the normal approximation (Laplace's)
    of the posterior: wide, as it should be. The intervals of the first move and the draw parameter
    are the wider of resampled and normal. Unbalanced openings, which the model leaves out, draw
    all ratings together a little.

    Raises `DisconnectedError` if groups of agents never met; `ResultError` if there are no games, a
    score is not 0, 0.5 or 1, an agent plays itself, or a pair has a third game or the same colours
    twice; `ValueError` for an anchor without games or a number out of range.
    """
    z = _two_sided_z(confidence)
    if bootstrap < 1 or not 0 < prior_sd < math.inf:
        raise ValueError(f"bootstrap {bootstrap!r} must be >= 1, prior_sd {prior_sd!r} positive")
    pairs = _pairs(results)
    if not pairs:
        raise ResultError("no games, so no ratings")
    names = sorted({name for first, second, _ in pairs for name in (first, second)})
    if anchor not in names:
        raise ValueError(f"anchor {anchor!r} has played no game; agents: {', '.join(names)}")
    names.remove(anchor)
    names.append(anchor)  # last, so that the free ratings come first
    index, n = {name: i for i, name in enumerate(names)}, len(names)

    # How often each two opponents played each kind of pair: its (white, black, outcome) games.
    tallies: dict[tuple[str, str], Counter[tuple[tuple[int, int, int], ...]]] = {}
    for (first, second, _), played in pairs.items():
        kind = sorted(
            (index[white], index[second if white == first else first], int(2 * score))
            for white, score in played
        )
        tallies.setdefault((first, second), Counter())[tuple(kind)] += 1
    counts = np.zeros((1 + bootstrap, n, n, 3))  # row 0 the league itself, then its replicates
    for _, tally in sorted(tallies.items()):
        kinds, repeats = zip(*sorted(tally.items()), strict=True)
        share = np.array(repeats) / sum(repeats)
        drawn = np.vstack([repeats, rng.multinomial(sum(repeats), share, size=bootstrap)])
        for column, games_of_kind in enumerate(kinds):
            for white, black, outcome in games_of_kind:
                counts[:, white, black, outcome] += drawn[:, column]

    lost, drew, won = np.moveaxis(counts[0], 2, 0)
    games, points = lost + drew + won, won + drew / 2 + (lost + drew / 2).T
    islands = sorted(sorted(group) for group in _components(games + games.T > 0, names))
    if len(islands) > 1:
        named = " | ".join(", ".join(island) for island in islands)
        raise DisconnectedError(f"no games link these groups of agents: {named}")
    whites, blacks = np.nonzero(games)
    free = np.eye(n, n - 1)
    design = np.column_stack([free[whites] - free[blacks], np.ones(len(whites))])
    precision = np.eye(n + 1)
    precision[: n - 1, : n - 1] -= 1 / n
    precision *= (ELO / prior_sd) ** 2
    modes, hessian = _posterior_modes(counts[:, whites, blacks], design, precision)

    elo = ELO * np.column_stack([modes[:, : n - 1], np.zeros(1 + bootstrap)])
    order = np.argsort(-elo[0], kind="stable")
    names, elo, points = [names[i] for i in order], elo[:, order], points[np.ix_(order, order)]
    groups, covariance = _components(points > 0, names), np.linalg.inv(hessian)
    if len(groups) > 1:
        noise = rng.standard_normal((bootstrap, n - 1))
        noise @= ELO * np.linalg.cholesky(covariance[: n - 1, : n - 1]).T
        shifts = (noise @ free.T)[:, order]
        for group in groups:
            members = [names.index(name) for name in group]
            elo[1:, members] += shifts[:, members].mean(axis=1, keepdims=True)
        elo[1:] -= elo[1:, [names.index(anchor)]]
    margins = z * np.sqrt(covariance.diagonal()[-2:])
    ends_by_resampling = [_percentiles(column, confidence) for column in modes[1:, -2:].T]
    (first_low, first_high), (draw_low, draw_high) = (
        (min(ends[0], mode - margin), max(ends[1], mode + margin))
        for mode, margin, ends in zip(modes[0, -2:], margins, ends_by_resampling, strict=True)
    )
    return LeagueFit(
        agents=tuple(names),
        anchor=anchor,
        confidence=confidence,
        elo=elo[0],
        samples=elo[1:],
        first_mover_elo=ELO * float(modes[0, -2]),
        first_mover_interval=(ELO * float(first_low), ELO * float(first_high)),
        draw=math.exp(modes[0, -1]),
        draw_interval=(math.exp(draw_low), math.exp(draw_high)),
        games=(games + games.T)[np.ix_(order, order)].astype(np.int64),
        points=points,
        groups=groups,
    )


def _pairs(results: Iterable[Result]) -> dict[tuple[str, str, Hashable], list[tuple[str, float]]]:
    """Gather checked results by pair: (first name, second name, id) -> [(white, score), ...]."""
    pairs: dict[tuple[str, str, Hashable], list[tuple[str, float]]] = {}
    for white, black, score, pair in results:
        game = f"game {white} - {black} of pair {pair!r}"
        if white == black:
            raise ResultError(f"{game}: an agent cannot play itself")
        if score not in (0, 0.5, 1):
            raise ResultError(f"{game}: score {score!r} is not 0, 0.5 or 1")
        first, second = sorted((white, black))
        played = pairs.setdefault((first, second, pair), [])
        if len(played) == 2 or (played and played[0][0] == white):
            raise ResultError(f"{game}: a pair is two games with colours swapped, got one more")
        played.append((white, float(score)))
    return pairs


def _components(edges: NDArray[np.bool_], names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the strongly connected components of a directed graph, edges (n, n)."""
    reach = edges | np.eye(len(edges), dtype=bool)
    for _ in range(len(edges).bit_length()):
        reach = reach @ reach
    mutual = reach & reach.T
    return tuple(
        tuple(name for name, joined in zip(names, row, strict=True) if joined)
        for i, row in enumerate(mutual)
        if not row[:i].any()
    )


def _posterior_modes(
    counts: FloatArray, design: FloatArray, precision: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Maximise B posteriors at once by Newton's method.

    `counts` (B, C, 3): games lost, drawn, won by white in each of C cells; `design` (C, k - 1):
    d = design @ parameters; `precision` (k, k): of the normal prior about 0. Returns the modes
    (B, k), natural units, ln(draw) last, and the negated Hessian (k, k) of the first at its mode.
    """
    parameters = np.zeros((len(counts), len(precision)))
    total = counts.sum(axis=2)
    products = (design[:, :, None] * design[:, None, :]).reshape(len(design), -1)

    def evaluate(at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log posteriors (B,) and the probabilities of loss, draw, win (B, C, 3)."""
        half = at[:, :-1] @ design.T / 2
        logits = np.stack([-half, np.broadcast_to(at[:, -1:], half.shape), half], axis=2)
        top = logits.max(axis=2, keepdims=True)
        weights = np.exp(logits - top)
        norm = weights.sum(axis=2, keepdims=True)
        likelihood = (counts * (logits - top - np.log(norm))).sum(axis=(1, 2))
        return likelihood - ((at @ precision) * at).sum(axis=1) / 2, weights / norm

    value, chances = evaluate(parameters)
    for _ in range(100):
        loss, draw, win = np.moveaxis(chances, 2, 0)
        surplus = (counts[:, :, 2] - counts[:, :, 0] - total * (win - loss)) / 2
        extra_draws = (counts[:, :, 1] - total * draw).sum(axis=1, keepdims=True)
        gradient = np.hstack([surplus @ design, extra_draws]) - parameters @ precision
        hessian = np.broadcast_to(precision, (len(counts), *precision.shape)).copy()
        curvature = total * (win + loss - (win - loss) ** 2) / 4
        hessian[:, :-1, :-1] += (curvature @ products).reshape(hessian[:, :-1, :-1].shape)
        mixed = -(total * (win - loss) * draw / 2) @ design
        hessian[:, :-1, -1] += mixed
        hessian[:, -1, :-1] += mixed
        hessian[:, -1, -1] += (total * draw * (1 - draw)).sum(axis=1)
        step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        if np.abs(step).max() < 1e-9:
            return parameters, hessian[0]
        for _ in range(40):  # halve the steps that overshoot; the posterior is concave
            value_there, chances = evaluate(parameters + step)
            worse = value_there < value - 1e-9 * (1 + np.abs(value))
            if not worse.any():
                break
            step[worse] /= 2
        parameters, value = parameters + step, value_there
    raise ArithmeticError("ratings did not converge")  # concave: reached only by a numerical fault


def _percentiles(samples: FloatArray, confidence: float) -> Interval:
    tail = 50 * (1 - confidence)
    low, high = np.percentile(samples, [tail, 100 - tail])
    return float(low), float(high)


def iqm(scores: ArrayLike) -> float:
    """Return the interquartile mean: the mean of what is left without the lowest and highest 25 %.

    `scores`: any shape, flattened, in any unit. Of n scores, floor(n / 4) are cut at each end, as
    in rliable (Agarwal et al. 2021, https://arxiv.org/abs/2108.13264). Raises `ValueError` if
    there is no score or one is not finite.
    """
    flat = np.asarray(scores, np.float64).reshape(1, -1)
    if flat.size == 0 or not np.isfinite(flat).all():
        raise ValueError("the interquartile mean needs one or more scores, all finite")
    return float(_row_iqms(flat)[0])


def iqm_interval(
    strata: Sequence[ArrayLike],
    rng: np.random.Generator,
    *,
    bootstrap: int = 2000,
    confidence: float = 0.95,
) -> Interval:
    """Return the stratified percentile bootstrap interval of the `iqm` of all scores together.

    Each stratum is (seeds, ...): one row a training seed, resampled whole and within its stratum.
    A network's scores against several opponents share its seed, so they are one row of one
    stratum. Independent runs on several tasks are one (runs,) stratum a task, which is
    rliable's method (Agarwal et al. 2021, https://arxiv.org/abs/2108.13264). Raises
    `ValueError` for an empty stratum, a score that is not finite or a bad number.
    """
    _two_sided_z(confidence)
    if bootstrap < 1 or not strata:
        raise ValueError(f"need one stratum or more and bootstrap >= 1, not {bootstrap!r}")
    resampled = []
    for number, stratum in enumerate(strata):
        rows = np.atleast_1d(np.asarray(stratum, np.float64))
        if rows.size == 0 or not np.isfinite(rows).all():
            raise ValueError(f"stratum {number} needs one or more scores, all finite")
        chosen = rng.integers(len(rows), size=(bootstrap, len(rows)))
        resampled.append(rows[chosen].reshape(bootstrap, -1))
    return _percentiles(_row_iqms(np.concatenate(resampled, axis=1)), confidence)


def _row_iqms(scores: FloatArray) -> FloatArray:
    """Return the interquartile mean of each row, (rows, n) -> (rows,)."""
    cut = scores.shape[1] // 4
    middle: FloatArray = np.sort(scores, axis=1)[:, cut : scores.shape[1] - cut]
    return np.asarray(middle.mean(axis=1), np.float64)
