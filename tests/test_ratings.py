"""Elo, SPRT, league ratings and training-run averages against closed forms and simulated games."""

from __future__ import annotations

import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest

from skift_env.ratings import (
    ELO,
    PAIR_SCORES,
    DisconnectedError,
    MatchCounts,
    ResultError,
    elo_estimate,
    elo_to_score,
    fit_ratings,
    iqm,
    iqm_interval,
    score_to_elo,
    sprt,
)

Z = NormalDist().inv_cdf(0.975)

# Published by a fishtest server for 128 pairs, H0 0 and H1 2.716 logistic Elo:
# https://montytest.muzhen.org/tests/stats/69d3c8dc7c5b3724e29d2712
PUBLISHED = (13, 37, 50, 25, 3)


def simulated_pairs(rng, ahead, pairs, draw=0.0, bias_sd=0.0):
    """Scores (pairs, 2) of an agent `ahead` Elo stronger: as white, then as black.

    `draw` is the draw rate; each opening favours white by its own normal bias, in Elo.
    """
    bias = rng.normal(0, bias_sd, pairs)
    expected = np.stack([1 / (1 + np.exp(-(ahead + side * bias) / ELO)) for side in (1, -1)], 1)
    chance = rng.random((pairs, 2))
    return np.where(
        chance < expected - draw / 2, 1.0, np.where(chance < expected + draw / 2, 0.5, 0)
    )


def pair_results(scores, agent="A", opponent="B"):
    results = []
    for pair, (as_white, as_black) in enumerate(scores):
        results.append((agent, opponent, as_white, pair))
        results.append((opponent, agent, 1 - as_black, pair))
    return results


def wilson(wins, n, z):
    """Wilson's interval of a binomial proportion."""
    centre, square = wins / n + z * z / (2 * n), z * z / n
    half = z * math.sqrt(wins / n * (1 - wins / n) / n + z * z / (4 * n * n))
    return (centre - half) / (1 + square), (centre + half) / (1 + square)


# --- counts ---


def test_counts_by_hand():
    results = [
        ("A", "B", 1, 1),
        ("B", "A", 0, 1),  # A 2
        ("B", "A", 0.5, 2),
        ("A", "B", 1.0, 2),  # A 3/2
        ("A", "B", 1, 3),
        ("B", "A", 1, 3),  # A 1, one win each
        ("A", "B", 0.5, 4),
        ("B", "A", 0.5, 4),  # A 1, two draws
        ("B", "A", 1, 5),  # cut short: A lost
    ]
    counts = MatchCounts.from_results(results, "A")
    assert counts == MatchCounts((0, 0, 2, 1, 1), (2, 3, 4), (1, 0, 0))
    assert (counts.pairs, counts.games) == (4, 9)
    # Pair means 1, 3/4, 1/2, 1/2; eight paired games: 4 wins, 3 draws, 1 loss.
    assert counts.score == 11 / 16
    assert counts.pair_variance == pytest.approx(np.var([1, 0.75, 0.5, 0.5]))
    assert counts.game_variance == pytest.approx(np.var([1] * 4 + [0.5] * 3 + [0]))

    other = MatchCounts.from_results(results, "B")
    assert other.pentanomial == counts.pentanomial[::-1]
    assert other.trinomial == counts.trinomial[::-1]
    assert other.unpaired == counts.unpaired[::-1]


def test_counts_of_one_opponent_and_of_all():
    results = [("A", "B", 1, 0), ("B", "A", 0, 0), ("C", "A", 1, 0), ("A", "C", 0, 0)]
    results += [("B", "C", 1, 0)]
    assert MatchCounts.from_results(results, "A").pentanomial == (1, 0, 0, 0, 1)
    assert MatchCounts.from_results(results, "A", "C").pentanomial == (1, 0, 0, 0, 0)
    assert MatchCounts.from_results(results, "B", "C").unpaired == (0, 0, 1)
    assert MatchCounts.from_results([], "A") == MatchCounts((0,) * 5, (0,) * 3, (0,) * 3)


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ([("A", "A", 1, 0)], "cannot play itself"),
        ([("A", "B", 0.7, 0)], r"0\.7 is not 0, 0\.5 or 1"),
        ([("A", "B", math.nan, 0)], "nan is not"),
        ([("A", "B", 1, 7), ("A", "B", 0, 7)], "A - B of pair 7.*colours swapped"),
        ([("A", "B", 1, 7), ("B", "A", 0, 7), ("A", "B", 0, 7)], "got one more"),
    ],
)
def test_impossible_results(results, message):
    with pytest.raises(ResultError, match=message):
        MatchCounts.from_results(results, "A")
    with pytest.raises(ResultError, match=message):
        fit_ratings(results, "A", np.random.default_rng(0))


def test_pairing_cancels_the_opening():
    # White wins every game: equal agents, and the pairs know it exactly.
    counts = MatchCounts.from_results(pair_results([(1, 0)] * 6), "A")
    assert (counts.pair_variance, counts.game_variance) == (0, 0.25)

    rng = np.random.default_rng(11)
    gains = {}
    for bias in (0, 400):
        scores = simulated_pairs(rng, 30, 20_000, bias_sd=bias)
        counts = MatchCounts.from_results(pair_results(scores), "A")
        gains[bias] = counts.game_variance / 2 / counts.pair_variance
    # Saving in games without bias none, with 400 Elo about 1.8 (simulated independently).
    assert gains[0] == pytest.approx(1, abs=0.04)
    assert gains[400] == pytest.approx(1.8, abs=0.15)


# --- Elo ---


def test_elo_scale():
    assert elo_to_score(0) == 0.5
    assert elo_to_score(400) == pytest.approx(10 / 11)
    assert score_to_elo(0.75) == pytest.approx(400 * math.log10(3))
    assert (score_to_elo(0), score_to_elo(1)) == (-math.inf, math.inf)
    for elo in (-900.0, -3.5, 0.0, 120.0):
        assert score_to_elo(elo_to_score(elo)) == pytest.approx(elo)
    for score in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="not between 0 and 1"):
            score_to_elo(score)


def test_estimate_matches_published_match():
    estimate = elo_estimate(PUBLISHED)
    assert estimate.pairs == 128
    assert estimate.score == 0.4375
    assert estimate.elo == pytest.approx(-43.6578, abs=1e-4)
    assert estimate.normalised_elo == pytest.approx(-63.97, abs=0.005)
    assert MatchCounts(PUBLISHED, (0,) * 3, (0,) * 3).pair_variance == pytest.approx(
        0.05762, abs=5e-6
    )


@pytest.mark.parametrize("lost", [0, 1, 7, 20])
def test_interval_of_two_outcomes_is_wilsons(lost):
    for counts in ((lost, 0, 0, 0, 20 - lost), (lost, 0, 20 - lost, 0, 0)):
        top = max(a for a, n in zip(PAIR_SCORES, counts, strict=True) if n or a == 0.5)
        estimate = elo_estimate(counts)
        low, high = wilson(20 - lost, 20, Z)
        if top == 1 or lost == 20:
            assert estimate.score_interval == pytest.approx((low, high))
        elif lost:  # scores 0 and 1/2, up to a mean of 1/2 the same on half the scale
            assert estimate.score_interval[0] == pytest.approx(low / 2)


def test_interval_tends_to_the_pair_variance_interval():
    counts = tuple(100 * n for n in PUBLISHED)
    estimate = elo_estimate(counts)
    half = Z * math.sqrt(0.0576171875 / 12_800)
    assert estimate.score_interval == pytest.approx((0.4375 - half, 0.4375 + half), abs=5e-5)
    narrow = elo_estimate(counts, confidence=0.5).elo_interval
    assert estimate.elo_interval[0] < narrow[0] < estimate.elo < narrow[1]


def test_interval_covers_at_the_stated_rate():
    """The exact coverage over all results of 12 pairs, for various true distributions."""
    pairs, intervals = 12, {}
    for lost, level in itertools.product(range(pairs + 1), repeat=2):
        if lost + level <= pairs:
            counts = (lost, 0, level, 0, pairs - lost - level)
            intervals[counts] = elo_estimate(counts).score_interval
    for chances in [(0.25, 0.5, 0.25), (0.1, 0.4, 0.5), (0.05, 0.25, 0.7), (0.02, 0.08, 0.9)]:
        true, covered = chances[1] / 2 + chances[2], 0.0
        for (lost, _, level, _, won), (low, high) in intervals.items():
            ways = math.comb(pairs, lost) * math.comb(pairs - lost, level)
            probability = ways * np.prod(np.power(chances, (lost, level, won)))
            covered += probability * (low <= true <= high)
        assert 0.93 <= covered <= 0.98, chances


def test_extreme_scores_stay_sane():
    sweep = elo_estimate((0, 0, 0, 0, 20))
    assert (sweep.score, sweep.elo, sweep.elo_interval[1]) == (1, math.inf, math.inf)
    assert 250 < sweep.elo_interval[0] < 320
    assert sweep.normalised_elo == math.inf
    assert sweep.normalised_elo_interval == (-math.inf, math.inf)
    assert 0.9999 < sweep.superiority < 1
    lost = elo_estimate((20, 0, 0, 0, 0))
    assert lost.elo_interval == (-math.inf, pytest.approx(-sweep.elo_interval[0]))
    # More wins in a row say more; one says little.
    lows = [elo_estimate((0, 0, 0, 0, n)).elo_interval[0] for n in (1, 2, 10, 100)]
    assert lows == sorted(lows)
    assert lows[0] < 0
    # All pairs level: nothing varied, yet the interval is no point.
    level = elo_estimate((0, 0, 20, 0, 0))
    assert level.elo == level.normalised_elo == 0
    assert level.superiority == 0.5
    assert level.elo_interval[0] == pytest.approx(-level.elo_interval[1])
    assert 20 < level.elo_interval[1] < 100


def test_estimates_are_consistent():
    rng = np.random.default_rng(5)
    for _ in range(60):
        counts = tuple(
            int(n) for n in rng.multinomial(rng.integers(1, 30), rng.dirichlet([0.3] * 5))
        )
        estimate, mirrored = elo_estimate(counts), elo_estimate(counts[::-1])
        score_low, score_high = estimate.score_interval
        assert 0 <= score_low <= estimate.score <= score_high <= 1
        assert mirrored.score_interval == pytest.approx((1 - score_high, 1 - score_low))
        for name in ("elo", "normalised_elo"):
            low, high = getattr(estimate, f"{name}_interval")
            assert low <= getattr(estimate, name) <= high
            assert getattr(mirrored, name) == pytest.approx(-getattr(estimate, name))
            assert getattr(mirrored, f"{name}_interval") == pytest.approx((-high, -low), abs=1e-6)
        assert estimate.superiority == pytest.approx(1 - mirrored.superiority)
        assert (estimate.superiority > 0.975) == (estimate.elo_interval[0] > 0)
        assert (estimate.superiority < 0.025) == (estimate.elo_interval[1] < 0)


@pytest.mark.parametrize("counts", [(1, 2, 3), (0, 0, -1, 0, 3), (0.5, 0, 1, 0, 0), (0,) * 5])
def test_impossible_counts(counts):
    with pytest.raises(ResultError, match=r"five whole numbers|no complete pair"):
        elo_estimate(counts)


def test_estimate_needs_a_confidence_and_a_complete_pair():
    for confidence in (0, 1, -1, math.nan):
        with pytest.raises(ValueError, match="confidence"):
            elo_estimate(PUBLISHED, confidence)
    cut_short = MatchCounts.from_results([("A", "B", 1, 0)], "A")
    for ask in (lambda: cut_short.score, lambda: elo_estimate(cut_short.pentanomial)):
        with pytest.raises(ResultError, match="no complete pair"):
            ask()


# --- SPRT ---


def test_sprt_matches_published_match():
    state = sprt(PUBLISHED, 0, 2.716)
    assert state.llr == pytest.approx(-0.53772, abs=2e-4)  # the Elo bound is rounded
    assert (state.lower, state.upper) == pytest.approx((-math.log(19), math.log(19)))
    assert state.decision is None


def test_sprt_closed_forms():
    s0, s1 = elo_to_score(10), elo_to_score(90)
    # Only swept pairs: a coin's test.
    state = sprt((3, 0, 0, 0, 9), 10, 90)
    assert state.llr == pytest.approx(9 * math.log(s1 / s0) + 3 * math.log((1 - s1) / (1 - s0)))
    # Only level pairs: the likeliest mean s > 1/2 keeps 2 (1 - s) of them level.
    state = sprt((0, 0, 7, 0, 0), 10, 90)
    assert state.llr == pytest.approx(7 * math.log((1 - s1) / (1 - s0)))
    # An outcome not seen weighs as one hardly ever seen.
    scarce = sprt((1, 3_000_000, 5_000_000, 2_000_000, 1), 10, 90).llr / 1e6
    assert sprt((0, 3, 5, 2, 0), 10, 90).llr == pytest.approx(scarce, abs=1e-4)


def likelihood_with_mean(counts, mean):
    """Maximum of sum n ln p over p with this mean, by Newton's method within the constraints."""
    scores, n = np.array(PAIR_SCORES), np.array(counts, float)
    constraints = np.stack([np.ones(5), scores])
    free = np.linalg.svd(constraints)[2][2:]  # directions that keep both
    tail = abs(mean - 0.5)
    p = np.full(5, (1 - 2 * tail) / 5)
    p[4 if mean > 0.5 else 0] += 2 * tail
    assert constraints @ p == pytest.approx([1, mean])
    for _ in range(200):
        gradient, hessian = free @ (n / p), (free * (n / p**2)) @ free.T
        step = free.T @ np.linalg.solve(hessian, gradient)
        while (p + step <= 0).any() or n @ np.log1p(step / p) < 0:
            step /= 2
        p = p + step
    return n @ np.log(p)


@pytest.mark.parametrize("counts", [(4, 9, 20, 11, 6), (1, 1, 1, 1, 1), (1, 2, 3, 30, 90)])
def test_sprt_against_primal_maximisation(counts):
    s0, s1 = elo_to_score(-20), elo_to_score(130)
    expected = likelihood_with_mean(counts, s1) - likelihood_with_mean(counts, s0)
    assert sprt(counts, -20, 130).llr == pytest.approx(expected, abs=1e-6)


def test_sprt_symmetry_bounds_and_decisions():
    assert sprt((0,) * 5, 0, 50) == sprt([0] * 5, 0, 50)
    assert sprt((0,) * 5, 0, 50).llr == 0
    assert sprt(PUBLISHED[::-1], -30, 10).llr == pytest.approx(-sprt(PUBLISHED, -10, 30).llr)
    state = sprt((2, 5, 9, 30, 40), 0, 50, alpha=0.01, beta=0.1)
    assert (state.lower, state.upper) == pytest.approx((math.log(0.1 / 0.99), math.log(90)))
    assert state.decision == "H1"
    assert sprt((40, 30, 9, 5, 2), 0, 50).decision == "H0"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((50, 0), "elo0 < elo1"),
        ((0, 0), "elo0 < elo1"),
        ((0, math.nan), "elo0 < elo1"),
        ((0, math.inf), "elo0 < elo1"),
        ((0, 50, 0, 0.05), "error rates"),
        ((0, 50, 0.5, 0.5), "error rates"),
    ],
)
def test_sprt_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        sprt(PUBLISHED, *arguments)


def sprt_runs(rng, ahead, runs, draw=0.0):
    """Decisions and numbers of games of SPRTs with bounds [0, 100], on simulated matches."""
    decisions, lengths = [], []
    for _ in range(runs):
        counts = [0] * 5
        for points in simulated_pairs(rng, ahead, 2000, draw).sum(axis=1):
            counts[int(2 * points)] += 1
            decision = sprt(counts, 0, 100).decision
            if decision is not None:
                break
        decisions.append(decision)
        lengths.append(2 * sum(counts))
    return decisions, np.array(lengths)


@pytest.mark.parametrize(
    ("ahead", "wrong", "mean_games"),
    # Mean games of an SPRT [0, 100] on single games without draws, simulated independently.
    [(0, "H1", 69), (50, None, 116), (100, "H0", 64), (200, "H0", 24)],
)
def test_sprt_error_rates_and_length(ahead, wrong, mean_games):
    decisions, lengths = sprt_runs(np.random.default_rng(300 + ahead), ahead, 200)
    assert None not in decisions
    if ahead in (0, 100):  # 0.05 +- 3.5 standard deviations
        assert 0 < decisions.count(wrong) / 200 <= 0.105
    elif ahead == 50:
        assert 0.35 <= decisions.count("H0") / 200 <= 0.65
    else:
        assert decisions.count(wrong) <= 1
    # Pairs decide two games at a time and their distribution is estimated too: a little longer.
    assert 0.75 * mean_games <= lengths.mean() <= 1.35 * mean_games + 4


def test_sprt_is_shorter_with_draws():
    _, without = sprt_runs(np.random.default_rng(1), 0, 100)
    _, with_draws = sprt_runs(np.random.default_rng(1), 0, 100, draw=0.4)
    assert 0.4 <= with_draws.mean() / without.mean() <= 0.85


# --- league ratings ---


def simulated_league(rng, ratings, pairs, first_mover=0.0, draw=0.0):
    """All play all, `pairs` pairs each, from the Bradley-Terry-Davidson model itself."""
    results = []
    for a, b in itertools.combinations(sorted(ratings), 2):
        for white, black in ((a, b), (b, a)):
            odds = math.exp((ratings[white] - ratings[black] + first_mover) / ELO / 2)
            chances = np.array([1 / odds, draw, odds])
            scores = rng.choice([0, 0.5, 1], size=pairs, p=chances / chances.sum())
            results += [(white, black, score, pair) for pair, score in enumerate(scores)]
    return results


def games(white, black, won, drawn, lost):
    """Unpaired games, with pair ids of their own."""
    scores = [1] * won + [0.5] * drawn + [0] * lost
    return [(white, black, score, (white, number)) for number, score in enumerate(scores)]


def test_fit_by_hand():
    # As white A wins : draws : loses 2 : 1 : 1/2, as black 1 : 1 : 1. So ln 2 = (d_white - d_black)
    # / 2 is A's lead, the same the first-mover advantage, and the draw parameter is 1.
    results = games("A", "B", 40, 20, 10) + games("B", "A", 20, 20, 20)
    fit = fit_ratings(results, "B", np.random.default_rng(0), bootstrap=50, prior_sd=1e7)
    assert fit.agents == ("A", "B")
    assert fit.elo == pytest.approx([400 * math.log10(2), 0])
    assert fit.first_mover_elo == pytest.approx(400 * math.log10(2))
    assert fit.draw == pytest.approx(1)
    assert fit.expected_score("A", "B") == pytest.approx(50 / 70)
    assert fit.expected_score("B", "A") == pytest.approx(1 / 2)
    assert fit.games.tolist() == [[0, 130], [130, 0]]
    assert fit.points.tolist() == [[0, 80], [50, 0]]
    best = fit.ratings[0]
    assert (best.agent, best.games, best.score, best.opponents) == ("A", 130, 80 / 130, 1)
    assert fit.ratings[1].interval == (0, 0)
    assert fit.groups == (("A", "B"),)


def test_fit_is_the_posterior_mode():
    rng = np.random.default_rng(8)
    results = simulated_league(rng, {"a": 0, "b": 200, "c": 250, "d": 700}, 15, 60, 0.6)
    fit = fit_ratings(results, "a", rng, bootstrap=2, prior_sd=300)

    def log_posterior(elo, first_mover, draw):
        total = 0.0
        for white, black, score, _ in results:
            ahead = elo[fit.agents.index(white)] - elo[fit.agents.index(black)] + first_mover
            odds = 10 ** (ahead / 800)
            chance = {0: 1 / odds, 0.5: draw, 1: odds}[score]
            total += math.log(chance / (odds + 1 / odds + draw))
        away = np.append(elo - elo.mean(), [first_mover, ELO * math.log(draw)]) / 300
        return total - away @ away / 2

    best = log_posterior(fit.elo, fit.first_mover_elo, fit.draw)
    for change in (0.05, -0.05):
        for i in range(4):
            if fit.agents[i] != "a":
                moved = fit.elo + change * np.eye(4)[i]
                assert log_posterior(moved, fit.first_mover_elo, fit.draw) < best
        assert log_posterior(fit.elo, fit.first_mover_elo + change, fit.draw) < best
        assert log_posterior(fit.elo, fit.first_mover_elo, fit.draw * math.exp(change / ELO)) < best


def test_known_strengths_are_recovered_at_the_stated_coverage():
    true = {"random": 0, "greedy": 150, "one": 300, "two": 350, "three": 600}
    rng, leagues = np.random.default_rng(21), 50
    covered, points = dict.fromkeys((*true, "first", "draw", "three - two"), 0), []
    for _ in range(leagues):
        fit = fit_ratings(simulated_league(rng, true, 30, 40, 0.5), "random", rng, bootstrap=200)
        intervals = {row.agent: (*row.interval, true[row.agent]) for row in fit.ratings}
        intervals["first"] = (*fit.first_mover_interval, 40)
        intervals["draw"] = (*fit.draw_interval, 0.5)
        intervals["three - two"] = (*fit.difference("three", "two")[1], 250)
        for name, (low, high, truth) in intervals.items():
            covered[name] += low <= truth <= high
        points.append([fit.elo[fit.agents.index(name)] for name in true])
    assert covered.pop("random") == leagues
    # 0.95 less 4 standard deviations: of 50 leagues each, and of their mean over all rows.
    assert min(covered.values()) >= 40, covered
    assert 0.88 <= sum(covered.values()) / (len(covered) * leagues) <= 0.995
    assert np.mean(points, axis=0) == pytest.approx(list(true.values()), abs=20)


def test_neither_order_nor_anchor_matter():
    rng = np.random.default_rng(3)
    results = simulated_league(rng, {"a": 0, "b": 100, "c": 300}, 20, 50, 0.3)
    fit = fit_ratings(results, "a", np.random.default_rng(1), bootstrap=100)
    shuffled = [results[i] for i in rng.permutation(len(results))]
    again = fit_ratings(iter(shuffled), "a", np.random.default_rng(1), bootstrap=100)
    assert fit.ratings == again.ratings
    assert (fit.samples == again.samples).all()
    other = fit_ratings(results, "c", np.random.default_rng(1), bootstrap=100)
    assert other.elo - other.elo[other.agents.index("a")] == pytest.approx(fit.elo, abs=1e-6)
    assert other.elo[other.agents.index("c")] == 0
    assert other.first_mover_elo == pytest.approx(fit.first_mover_elo)


def test_intervals_come_from_pairs():
    """The same games, paired so that the opening cancels and so that it adds up."""
    rng = np.random.default_rng(4)
    white_wins = fit_ratings(pair_results([(1, 0), (0, 1)] * 20), "B", rng, bootstrap=300)
    one_side_wins = fit_ratings(pair_results([(1, 1), (0, 0)] * 20), "B", rng, bootstrap=300)
    assert (white_wins.elo == one_side_wins.elo).all()
    low, high = white_wins.difference("A", "B")[1]
    assert (low, high) == pytest.approx((0, 0), abs=1e-6)
    low, high = one_side_wins.difference("A", "B")[1]
    # 40 pairs at 1/2 +- 1/2: score +- 1.96 * 0.5 / sqrt(40), about 110 Elo.
    assert low == pytest.approx(-110, abs=30)
    assert high == pytest.approx(110, abs=30)


def test_superiority():
    rng = np.random.default_rng(6)
    fit = fit_ratings(
        simulated_league(rng, {"a": 0, "b": 20, "c": 600}, 40), "a", rng, bootstrap=400
    )
    likelihood = fit.superiority()
    assert likelihood + likelihood.T == pytest.approx(np.ones((3, 3)))
    assert np.diag(likelihood) == pytest.approx([0.5] * 3)
    assert fit.agents[0] == "c"
    assert (likelihood[0, 1:] > 0.99).all()
    assert likelihood[1, 2] == pytest.approx(
        np.mean(fit.samples[:, 1] > fit.samples[:, 2]), abs=0.01
    )
    assert 0.4 <= likelihood[1, 2] <= 1


def test_sweeps_stay_finite_and_are_named():
    rng = np.random.default_rng(2)
    previous = 0.0
    for pairs in (10, 40, 160):
        swept = [(1, 1)] * pairs
        results = pair_results(swept, "greedy", "random") + pair_results(swept, "search", "random")
        results += pair_results([(1, 0), (1, 1), (0, 0)] * 12, "search", "greedy")
        fit = fit_ratings(results, "random", rng, bootstrap=400)
        assert set(map(frozenset, fit.groups)) == {
            frozenset({"search", "greedy"}),
            frozenset({"random"}),
        }
        assert fit.groups[1] == ("random",)
        assert not fit.samples[:, fit.agents.index("random")].any()
        for row in fit.ratings[:2]:
            low, high = row.interval
            assert 500 < row.elo < 2000
            assert high - low > 500  # the data give no upper end
            # Even an agent as weak as the lower end would hardly win all those games.
            assert elo_to_score(low) ** (4 * pairs) < 0.08
        # The distance between the two that beat each other is as sure as their games make it.
        low, high = fit.difference("search", "greedy")[1]
        assert high - low < 300
        assert fit.elo[0] > previous
        previous = fit.elo[0]


def test_parameters_without_data_have_wide_intervals():
    fit = fit_ratings(pair_results([(1, 1)] * 20), "B", np.random.default_rng(0), bootstrap=100)
    assert fit.first_mover_interval[0] < -300
    assert fit.first_mover_interval[1] > 300
    assert 0 < fit.draw_interval[0] < fit.draw < fit.draw_interval[1]


def test_first_mover_needs_no_balance_of_colours():
    """An agent that was white more often is not the stronger for it."""
    results = games("A", "B", 60, 0, 20) + games("B", "A", 6, 0, 2)
    fit = fit_ratings(results, "B", np.random.default_rng(0), bootstrap=20)
    assert fit.difference("A", "B")[0] == pytest.approx(0, abs=3)
    assert fit.first_mover_elo == pytest.approx(400 * math.log10(3), abs=10)


def test_islands_are_named():
    results = games("a", "b", 1, 1, 1) + games("c", "d", 1, 1, 1) + games("d", "e", 1, 0, 0)
    with pytest.raises(DisconnectedError, match=r"groups of agents: a, b \| c, d, e$"):
        fit_ratings(results, "a", np.random.default_rng(0))
    # A chain of games is enough.
    fit = fit_ratings(
        results + games("b", "e", 1, 0, 1), "a", np.random.default_rng(0), bootstrap=9
    )
    assert len(fit.agents) == 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"anchor": "nobody"}, "anchor 'nobody' has played no game; agents: A, B"),
        ({"bootstrap": 0}, "bootstrap 0"),
        ({"prior_sd": 0}, "prior_sd 0"),
        ({"prior_sd": math.inf}, "prior_sd inf"),
        ({"confidence": 95}, "confidence 95"),
    ],
)
def test_fit_arguments(options, message):
    arguments = {"anchor": "A", "rng": np.random.default_rng(0)} | options
    with pytest.raises(ValueError, match=message):
        fit_ratings(games("A", "B", 1, 0, 1), **arguments)


def test_fit_needs_games_and_known_names():
    with pytest.raises(ResultError, match="no games"):
        fit_ratings([], "A", np.random.default_rng(0))
    fit = fit_ratings(games("A", "B", 1, 0, 1), "A", np.random.default_rng(0), bootstrap=5)
    with pytest.raises(ValueError, match="'C' is not in the league: "):
        fit.difference("A", "C")


# --- training seeds ---


def test_iqm_by_hand():
    assert iqm([3]) == 3
    assert iqm([1, 2, 9]) == 4  # too few to cut
    assert iqm([100, 1, 2, -50]) == 1.5
    assert iqm([[0, 0, 1, 2], [3, 4, 99, 99]]) == (1 + 2 + 3 + 4) / 4
    assert iqm([5, 1, 2, 3, 4]) == 3
    for scores in ([], [1, math.nan], [[math.inf]]):
        with pytest.raises(ValueError, match="all finite"):
            iqm(scores)


def test_iqm_interval_keeps_strata_and_rows():
    rng = np.random.default_rng(9)
    # Each stratum keeps its size, so constant strata leave nothing to chance.
    assert iqm_interval([[0, 0, 0], [1, 1, 1]], rng) == (0.5, 0.5)
    # A seed good against one opponent is good against all: rows together vary more.
    seeds = rng.normal(0, 1, (8, 1)) + np.zeros((1, 6))
    low, high = iqm_interval([seeds], rng)
    low_apart, high_apart = iqm_interval(list(seeds.T), rng)
    assert low < low_apart < iqm(seeds) < high_apart < high


def test_iqm_interval_covers():
    rng, covered = np.random.default_rng(10), 0
    for _ in range(200):
        low, high = iqm_interval([rng.normal(1, 1, (20, 2))], rng, bootstrap=300)
        covered += low <= 1 <= high
    assert 0.86 <= covered / 200 <= 0.99


@pytest.mark.parametrize(
    ("strata", "options", "message"),
    [
        ([], {}, "one stratum"),
        ([[1.0], []], {}, "stratum 1"),
        ([[math.nan]], {}, "stratum 0"),
        ([[1.0]], {"bootstrap": 0}, "bootstrap"),
        ([[1.0]], {"confidence": 1}, "confidence"),
    ],
)
def test_iqm_interval_arguments(strata, options, message):
    with pytest.raises(ValueError, match=message):
        iqm_interval(strata, np.random.default_rng(0), **options)
