"""Randomness is a function of a seed, a purpose and a step: nothing to carry from one step to the next."""

from hashlib import sha256


def derive(seed: int, purpose: str, *numbers: int) -> int:
    """A 63-bit seed of its own for each purpose ("init", "data", "dropout") and step."""
    words = ":".join(map(str, (seed, purpose, *numbers)))
    return int.from_bytes(sha256(words.encode()).digest()[:8], "big") >> 1
