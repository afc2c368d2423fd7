"""A random generator small enough to sit in every game's row: xoshiro128++.

Source: D. Blackman and S. Vigna, "Scrambled linear pseudorandom number generators" (2021),
https://prng.di.unimi.it/xoshiro128plusplus.c. It needs additions, shifts and XORs of 32-bit words
only, hence gives the same numbers interpreted and compiled, on every machine.
"""

from __future__ import annotations

import numpy as np

from skift_env._jit import kernel
from skift_env.types import Int64Array

RNG_SIZE = 4
"""Words of a generator's state: int64, each in 0 … 2**32 - 1, not all zero."""

WORD = 0xFFFFFFFF


def seed_words(generator: np.random.Generator) -> Int64Array:
    """Draw a fresh generator state, (4,) int64, from a NumPy generator."""
    words = generator.integers(0, WORD, size=RNG_SIZE, dtype=np.int64, endpoint=True)
    words[0] |= 1  # the all-zero state is the one that must not be
    return words


@kernel
def _rotate_left(word: int, by: int) -> int:
    return ((word << by) | (word >> (32 - by))) & WORD


@kernel
def next_word(rng: Int64Array) -> int:
    """The next 32 random bits; advances `rng`."""
    result = (_rotate_left((rng[0] + rng[3]) & WORD, 7) + rng[0]) & WORD
    shifted = (rng[1] << 9) & WORD
    rng[2] ^= rng[0]
    rng[3] ^= rng[1]
    rng[1] ^= rng[2]
    rng[0] ^= rng[3]
    rng[2] ^= shifted
    rng[3] = _rotate_left(rng[3], 11)
    return result


@kernel
def below(rng: Int64Array, bound: int) -> int:
    """A uniform integer in 0 … bound - 1, for 1 <= bound < 2**31; advances `rng`.

    Without bias, by D. Lemire, "Fast random integer generation in an interval" (2019).
    """
    product = next_word(rng) * bound
    if (product & WORD) < bound:
        threshold = (WORD + 1 - bound) % bound
        while (product & WORD) < threshold:
            product = next_word(rng) * bound
    return product >> 32
