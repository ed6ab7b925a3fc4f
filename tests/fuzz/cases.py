"""The n-th document of a run: the same on every machine, by the run's seed alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from fuzz.grammar import made
from fuzz.mutate import mutated
from fuzz.seeds import Seed, seeds


@dataclass(frozen=True)
class Cases:
    """The documents of one run: `mutations` mutated ones and then `grammar` that are made."""

    seed: int
    mutations: int
    grammar: int
    samples: Sequence[Seed] = field(default_factory=seeds)

    def __len__(self) -> int:
        return self.mutations + self.grammar

    def __getitem__(self, number: int) -> Seed:
        """The repository with the document of this number, from 0."""
        if not 0 <= number < len(self):
            raise IndexError(number)
        random = Random(f"{self.seed}/{number}")  # noqa: S311 - no secret depends on it
        if number >= self.mutations:
            return made(random)
        sample = random.choice(self.samples)
        others = [random.choice(self.samples).document for _ in range(3)]
        document = mutated(random, sample.document, others)
        return Seed({**sample.files, sample.path: document}, sample.path)
