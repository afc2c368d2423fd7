"""The generator against the published algorithm, and random play against the generator."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest

from skift_env import rules
from skift_env.playouts import count_random_plies, play_random, random_action
from skift_env.position import Position
from skift_env.rng import RNG_SIZE, below, next_word, seed_words


def xoshiro128plusplus(s: list[int]) -> Iterator[int]:
    """prng.di.unimi.it/xoshiro128plusplus.c, with Python's integers cut to 32 bits."""
    mask = 2**32 - 1

    def rotl(x: int, k: int) -> int:
        return (x << k & mask) | (x >> (32 - k))

    while True:
        yield (rotl((s[0] + s[3]) & mask, 7) + s[0]) & mask
        t = s[1] << 9 & mask
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotl(s[3], 11)


def test_first_words_by_hand() -> None:
    # From 1, 2, 3, 4: rotl(1 + 4, 7) + 1 = 641. Then the state is 7, 0, 1026, 12288, and the next
    # word rotl(7 + 12288, 7) + 7 = 12295 * 128 + 7.
    rng = np.array([1, 2, 3, 4], np.int64)
    assert next_word(rng) == 641
    assert rng.tolist() == [7, 0, 1026, 12288]
    assert next_word(rng) == 1573767


@pytest.mark.parametrize("state", [[1, 2, 3, 4], [0, 0, 0, 1], [2**32 - 1] * 4, [2**31, 5, 7, 0]])
def test_words_are_those_of_the_published_algorithm(state: list[int]) -> None:
    rng = np.array(state, np.int64)
    expected = list(islice(xoshiro128plusplus(list(state)), 500))
    assert [next_word(rng) for _ in expected] == expected
    assert rng.dtype == np.int64
    assert all(0 <= word < 2**32 for word in rng)


@pytest.mark.parametrize("bound", [1, 2, 3, 74, 405, 2**31 - 1])
def test_below_stays_below(bound: int) -> None:
    rng = np.array([1, 2, 3, 4], np.int64)
    drawn = [below(rng, bound) for _ in range(500)]
    assert all(0 <= number < bound for number in drawn)
    assert min(drawn) <= bound // 50
    assert max(drawn) >= (bound - 1) - bound // 50


def test_below_is_uniform() -> None:
    rng = np.array([1, 2, 3, 4], np.int64)
    bound, draws = 50, 10_000
    counts = np.bincount([below(rng, bound) for _ in range(draws)], minlength=bound)
    expected = draws / bound
    # Chi-square with 49 degrees of freedom: 1 in 1000 exceeds 85.4, 1 in 1000 is below 23.0.
    assert 23.0 < ((counts - expected) ** 2 / expected).sum() < 85.4


def test_below_has_no_bias() -> None:
    # 2**32 is 8/3 of the bound: for a random word w, w * bound // 2**32 alone has 2 words for some
    # numbers and 3 for others. Rejecting one word in four leaves 2 for each.
    bound = 3 * 2**29
    words = xoshiro128plusplus([1, 2, 3, 4])
    rng = np.array([1, 2, 3, 4], np.int64)
    threshold = 2**32 % bound
    rejected = 0
    for _ in range(3000):
        product = next(words) * bound
        while product % 2**32 < threshold:
            rejected += 1
            product = next(words) * bound
        assert below(rng, bound) == product // 2**32
    assert rejected > 300


def test_seed_words() -> None:
    first = seed_words(np.random.default_rng(7))
    assert (first.dtype, first.shape) == (np.int64, (RNG_SIZE,))
    assert first.tolist() == seed_words(np.random.default_rng(7)).tolist()
    assert first.tolist() != seed_words(np.random.default_rng(8)).tolist()
    generator = np.random.default_rng(7)
    many = np.array([seed_words(generator) for _ in range(500)])
    assert len(np.unique(many, axis=0)) == 500
    assert many.min() >= 0
    assert 2**31 < many.max() < 2**32
    assert many[:, 0].all()  # never the state that stays at zero


def test_random_play_draws_from_the_legal_actions() -> None:
    start = Position.start()
    rng = np.array([1, 2, 3, 4], np.int64)
    again, scratch = rng.copy(), np.empty(405, np.int64)
    for _ in range(50):
        legal = start.legal_actions
        assert random_action(start.state, rng, scratch) == legal[below(again, len(legal))]
    assert rng.tolist() == again.tolist()


def test_random_play_is_play() -> None:
    rng = np.array([1, 2, 3, 4], np.int64)
    again = rng.copy()
    for plies in (0, 1, 7, 1000):
        position, state = Position.start(), Position.start().state
        played = play_random(state, rng, plies)
        for _ in range(played):
            legal = position.legal_actions
            position = position.play(legal[below(again, len(legal))])
        assert state.tolist() == position.state.tolist()
        assert (played == plies) or (position.outcome is not None and played < plies)
        assert rng.tolist() == again.tolist()


def test_random_games_are_counted() -> None:
    start = Position.start().state
    rng = np.array([1, 2, 3, 4], np.int64)
    again = rng.copy()
    games, plies = count_random_plies(start, rng, 300, 20), 0
    for _ in range(games):
        assert plies < 300
        plies += play_random(start.copy(), again, 20)
    assert plies >= 300
    assert start[rules.PLY] == 0
