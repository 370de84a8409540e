"""What is random in a release: a seed for the groups, and a secret key for all that nobody may repeat."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace

from microagg.methods.recipe import MethodPlan, stage_of
from microagg.plan.protection import Protection
from microagg.secret_key import SecretKey

SEEDS_OF_RETRY = 8
OTHER_METHODS = ("mdav-mhm", "mdav", "cbfs", "v-mdav:gamma=0.2", "descent", "npn-mhm")
"""What `retry` tries: the method with other seeds, then these methods in random order."""

_SEED_BITS = 53
"""Of a seed that is drawn: programs that read JSON keep so many."""


@dataclass(frozen=True, slots=True)
class Randomness:
    seed: int
    key: SecretKey

    @classmethod
    def drawn(cls, protection: Protection) -> Randomness:
        """From the system, but for a seed that was given."""
        seed = protection.method.seed
        return cls(seed if protection.has_seed else secrets.randbits(_SEED_BITS), SecretKey.drawn())

    @classmethod
    def of_trial(cls, protection: Protection) -> Randomness:
        """For groups that nobody releases, so that figures about them repeat."""
        return cls(protection.method.seed, SecretKey.drawn())

    def applied(self, protection: Protection) -> Protection:
        """The settings with the seed that is used."""
        return replace(protection, method=replace(protection.method, seed=self.seed))

    def plans(self, protection: Protection) -> Iterator[MethodPlan]:
        """The given method; with `retry`, then other seeds and methods, which follow from the key: who
        knew what was tried before would know what was rejected.
        """
        plan = protection.method
        yield plan
        if protection.retry:
            for seed in self.key.whole_numbers("seeds of further attempts", SEEDS_OF_RETRY).tolist():
                yield replace(plan, seed=seed)
            for at in self.key.permutation("methods of further attempts", len(OTHER_METHODS)).tolist():
                recipe = OTHER_METHODS[at]
                yield replace(plan, stage=stage_of(recipe), recipe=recipe)
