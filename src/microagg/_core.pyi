"""Native kernels; each is explained in cpp/include/microagg (same word, .hpp)."""

from enum import Enum
from typing import overload

import numpy as np
from numpy.typing import NDArray

_Doubles = NDArray[np.float64]
_Ints = NDArray[np.int32]

class Watch:
    @overload
    def __init__(self) -> None: ...
    @overload
    def __init__(self, run: Watch, seconds: float) -> None: ...
    def cancel(self) -> None: ...
    def set_deadline(self, seconds: float) -> None: ...
    def simulate_clock(self, seconds_a_look: float) -> None: ...
    def restart(self) -> None: ...
    def expect_work(self, work: int) -> None: ...
    def report_best(self, sse: float) -> None: ...
    @property
    def cancelled(self) -> bool: ...
    @property
    def expired(self) -> bool: ...
    @property
    def seconds_left(self) -> float: ...
    @property
    def seconds(self) -> float: ...
    @property
    def done(self) -> float: ...
    @property
    def best(self) -> float: ...

class Scale(Enum):
    ZSCORE = 0
    RANGE = 1
    ROBUST = 2
    RANK = 3

class Pivot(Enum):
    CENTROID = 0
    CENTROID_OPPOSITE = 1
    PAIR = 2
    REFERENCES = 3

class Growth(Enum):
    SEED = 0
    CENTROID = 1

class Leftovers(Enum):
    EACH = 0
    JOINTLY = 1
    BY_RECORD = 2

class Numbering(Enum):
    APPEARANCE = 0
    KEPT = 1

class Engine(Enum):
    AUTO = 0
    BRUTE = 1
    TREE = 2

class Extremes(Enum):
    VALUES = 0
    DISTANCE = 1
    DISTANCE_SWAP = 2
    DISTANCE_DRAWN = 3

class Deadline(Enum):
    IGNORE = 0
    HEED = 1

def sse(points: _Doubles, labels: _Ints) -> float: ...
def sse_and_rest(points: _Doubles, labels: _Ints) -> tuple[float, float]: ...
def sst(points: _Doubles) -> float: ...
def by_first_appearance(labels: _Ints) -> _Ints: ...
def group_sizes(labels: _Ints) -> NDArray[np.int64]: ...
def rows_by_group(labels: _Ints) -> _Ints: ...
def group_means(values: _Doubles, labels: _Ints) -> _Doubles: ...
def standardise(values: _Doubles, scale: Scale) -> tuple[_Doubles, NDArray[np.uint8]]: ...
def peel_queries(n: int, k: int, pivot: Pivot, growth: Growth) -> int: ...
def begins_with_tree(n: int, p: int, queries: int) -> bool: ...
def peel(
    points: _Doubles,
    k: int,
    pivot: Pivot,
    growth: Growth,
    stop: int,
    watch: Watch,
    engine: Engine = Engine.AUTO,
    leftovers: Leftovers = Leftovers.EACH,
    earlier_first: bool = False,
    in_turns: bool = False,
    divide_by_all: bool = False,
    numbering: Numbering = Numbering.APPEARANCE,
) -> _Ints: ...
def farthest_from_centroid(points: _Doubles) -> int: ...
def farthest_pair(points: _Doubles, deadline: Deadline, watch: Watch) -> tuple[int, int]: ...
def nearest_next(points: _Doubles, first: int, deadline: Deadline, watch: Watch) -> _Ints: ...
def group_tour(points: _Doubles, labels: _Ints, first: int, deadline: Deadline, watch: Watch) -> _Ints: ...
def path_cut(
    points: _Doubles, order: _Ints, k: int, cyclic: bool, deadline: Deadline, watch: Watch
) -> _Ints: ...
def optimal_univariate(values: _Doubles, k: int, watch: Watch) -> tuple[_Ints, float]: ...
def exhaustive(points: _Doubles, k: int, watch: Watch) -> _Ints: ...
def fixed_runs(values: _Doubles, k: int, descending: bool) -> _Ints: ...
def k_ward(
    points: _Doubles, values: _Doubles, extremes: Extremes, drawn: _Ints, k: int, watch: Watch
) -> _Ints: ...
def genetic(points: _Doubles, order: _Ints, k: int, generations: int, seed: int, watch: Watch) -> _Ints: ...
def genetic_groups(points: _Doubles, k: int, generations: int, seed: int, watch: Watch) -> _Ints: ...
def v_mdav(
    points: _Doubles,
    k: int,
    gamma: float,
    watch: Watch,
    engine: Engine = Engine.AUTO,
    numbering: Numbering = Numbering.APPEARANCE,
) -> _Ints: ...
def mst_cut(points: _Doubles, k: int, watch: Watch) -> _Ints: ...
def dissolve(points: _Doubles, labels: _Ints, k: int, watch: Watch) -> tuple[_Ints, bool]: ...
def two_swap(
    points: _Doubles, labels: _Ints, watch: Watch, numbering: Numbering = Numbering.APPEARANCE
) -> tuple[_Ints, bool]: ...
def pool_pass(
    points: _Doubles, labels: _Ints, k: int, capacity: int, lists: _Ints, watch: Watch
) -> _Ints: ...
def best_cycle(
    points: _Doubles, labels: _Ints, k: int, tries: int, lists: _Ints, watch: Watch
) -> _Ints: ...
def neighbour_lists(
    points: _Doubles, length: int, most_leaves: int, threads: int, watch: Watch
) -> _Ints: ...
def kd_blocks(
    items: _Doubles,
    weights: NDArray[np.int64],
    largest: int,
    multiple: int,
    jitter: bool,
    seed: int,
    threads: int,
    watch: Watch,
) -> _Ints: ...
def list_distances(points: _Doubles, lists: _Ints, place: int) -> _Doubles: ...
def descent(
    points: _Doubles,
    rows: _Ints,
    labels: _Ints,
    k: int,
    lists: _Ints,
    place: _Ints,
    begin: _Ints | None,
    watch: Watch,
) -> tuple[_Ints, bool]: ...
def sized_assignment(costs: _Doubles, k: int, watch: Watch) -> _Ints: ...
def halve(points: _Doubles, k: int, watch: Watch) -> _Ints: ...
def relocate(
    points: _Doubles,
    rows: _Ints,
    labels: _Ints,
    k: int,
    lists: _Ints,
    widths: _Doubles,
    region: int,
    steps_a_record: int,
    rise: float,
    steps: int,
    seed: int,
    report: bool,
    watch: Watch,
) -> tuple[_Ints, bool]: ...
def anneal(
    points: _Doubles,
    rows: _Ints,
    labels: _Ints,
    k: int,
    lists: _Ints,
    place: _Ints,
    temperatures: _Doubles,
    active: NDArray[np.int64],
    steps: NDArray[np.int64],
    seed: int,
    report: bool,
    watch: Watch,
) -> tuple[_Ints, bool]: ...
def assignment_rounds(
    points: _Doubles,
    rows: _Ints,
    labels: _Ints,
    k: int,
    lists: _Ints,
    place: _Ints,
    reach: int,
    skip: float,
    temperatures: _Doubles,
    seed: int,
    report: bool,
    watch: Watch,
) -> tuple[_Ints, bool]: ...
def sparse_assignment(
    starts: NDArray[np.int64], columns: _Ints, costs: _Doubles, watch: Watch
) -> _Ints: ...
def neighbour_bound(
    points: _Doubles, lists: _Ints, k: int, remote: int, rounds: int, threads: int, watch: Watch
) -> _Doubles: ...
def nearest_targets(points: _Doubles, targets: int, length: int, threads: int, watch: Watch) -> _Ints: ...
def rivals(
    points: _Doubles,
    weights: NDArray[np.int64],
    own: _Ints,
    slack: float,
    least: float,
    threads: int,
    watch: Watch,
) -> NDArray[np.int64]: ...
def simd_level() -> str: ...
def force_simd_level(name: str) -> bool: ...
def column_costs(points: _Doubles, members: _Ints, sizes: NDArray[np.int64]) -> _Doubles: ...
def columns_of_cuts(
    n: int, members: _Ints, sizes: NDArray[np.int64], cuts: _Ints, cut_sizes: NDArray[np.int64]
) -> NDArray[np.int64]: ...
def odd_sets(
    n: int, members: _Ints, sizes: NDArray[np.int64], values: _Doubles, largest: int, below: float
) -> tuple[_Ints, NDArray[np.int64]]: ...

class Pricing:
    def __init__(self, points: _Doubles, k: int) -> None: ...
    @property
    def work(self) -> int: ...
    def run(
        self,
        duals: _Doubles,
        cuts: _Ints,
        cut_sizes: NDArray[np.int64],
        multipliers: _Doubles,
        charge: float,
        apart: _Ints,
        together: _Ints,
        below: float,
        every: bool,
        most_columns: int,
        most_work: int,
        most_of_one: int,
        watch: Watch,
    ) -> tuple[_Ints, NDArray[np.int64], _Doubles, _Doubles, bool]: ...
