"""The key of a release: from it come the order of records, the noise, and the seeds of further attempts.

All of it follows from 256 bits that the system draws and that only the internal record keeps. Whoever has
the key can repeat the release; whoever has not can neither restore the order nor subtract the noise,
whatever seed and method they know.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from microagg.model import Doubles

BYTES = 32


@dataclass(frozen=True, slots=True)
class SecretKey:
    """Each purpose has random numbers of its own: SHAKE-256 of the key and the purpose's name."""

    secret: bytes = field(repr=False)

    @classmethod
    def drawn(cls) -> SecretKey:
        """From the system."""
        return cls(secrets.token_bytes(BYTES))

    @classmethod
    def from_hex(cls, text: str) -> SecretKey:
        """`ValueError` for anything but 64 hexadecimal digits."""
        secret = bytes.fromhex(text)
        if len(secret) != BYTES:
            raise ValueError("a key has 32 bytes")
        return cls(secret)

    @property
    def hex(self) -> str:
        return self.secret.hex()

    def text(self, purpose: str) -> str:
        """A text that nobody can guess."""
        return self._bytes(purpose, BYTES).hex()

    def whole_numbers(self, purpose: str, count: int) -> NDArray[np.uint64]:
        """Of 64 bits, each as likely as any other."""
        return np.frombuffer(self._bytes(purpose, 8 * count), dtype="<u8").astype(np.uint64)

    def permutation(self, purpose: str, n: int) -> NDArray[np.int64]:
        """The numbers from 0 to n - 1 in random order."""
        return np.argsort(self.whole_numbers(purpose, n), kind="stable").astype(np.int64)

    def standard_normal(self, purpose: str, shape: tuple[int, ...]) -> Doubles:
        """By the method of Box and Muller."""
        count = int(np.prod(shape))
        half = (count + 1) // 2
        # The middles of 2^53 steps between 0 and 1, neither of which is reached.
        uniform = ((self.whole_numbers(purpose, 2 * half) >> np.uint64(11)) + 0.5) * 2.0**-53
        length, angle = np.sqrt(-2.0 * np.log(uniform[:half])), 2.0 * np.pi * uniform[half:]
        drawn: Doubles = np.concatenate([length * np.cos(angle), length * np.sin(angle)])
        return drawn[:count].reshape(shape)

    def _bytes(self, purpose: str, count: int) -> bytes:
        return hashlib.shake_256(self.secret + purpose.encode()).digest(count)
