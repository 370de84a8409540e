"""Native kernels of microagg; see cpp/include/microagg for each."""

import enum
from collections.abc import Sequence
from typing import overload

import numpy
from numpy.typing import NDArray

class Watch:
    """What a kernel and its caller tell each other while it runs."""

    @overload
    def __init__(self) -> None:
        """For a whole run."""

    @overload
    def __init__(self, run: Watch, seconds: float) -> None:
        """For a part of a run, which ends as if cancelled after so many seconds."""

    def cancel(self) -> None:
        """Asks all kernels of the run to stop."""

    def set_deadline(self, seconds: float) -> None:
        """Seconds from now after which refinements stop; infinity: never."""

    def simulate_clock(self, seconds_a_look: float) -> None:
        """
        For tests: from now on so many seconds pass at each look of a kernel, and at no other time.
        """

    def restart(self) -> None:
        """Nothing of the next kernel is done."""

    def expect_work(self, work: int) -> None:
        """
        How much the next kernels do together, in steps; 0: each reports its own share.
        """

    def report_best(self, sse: float) -> None:
        """An SSE of the whole problem."""

    @property
    def cancelled(self) -> bool:
        """Whether the run was cancelled."""

    @property
    def expired(self) -> bool:
        """Whether the run was cancelled or the deadline has passed."""

    @property
    def seconds_left(self) -> float:
        """Until the deadline; very many if there is none."""

    @property
    def seconds(self) -> float:
        """By a clock that begins anywhere."""

    @property
    def done(self) -> float:
        """The share that is done, from 0 to 1."""

    @property
    def best(self) -> float:
        """The lowest SSE reported; infinity before the first."""

class Deadline(enum.Enum):
    """Whether a kernel ends at the deadline."""

    IGNORE = 0

    HEED = 1

class Numbering(enum.Enum):
    """How groups are numbered in a result."""

    APPEARANCE = 0
    """By the first record of each."""

    KEPT = 1
    """As the kernel formed them or was given them."""

class Engine(enum.Enum):
    """How near and far records are looked for; results do not differ."""

    AUTO = 0
    """What is faster."""

    BRUTE = 1
    """All of them are looked at."""

    TREE = 2
    """A tree of boxes is kept."""

def anneal(
    points: NDArray[numpy.float64],
    rows: NDArray[numpy.int32],
    labels: NDArray[numpy.int32],
    k: int,
    lists: NDArray[numpy.int32],
    place: NDArray[numpy.int32],
    temperatures: NDArray[numpy.float64],
    active: NDArray[numpy.int64],
    steps: NDArray[numpy.int64],
    seed: int,
    report: bool,
    watch: Watch,
) -> tuple[NDArray[numpy.int32], bool]:
    """
    Simulated annealing of a block, whose rows come in order of decreasing neighbourhood: at
    each temperature so many steps among the first `active` rows. Returns the groups of the
    rows, and whether time did not suffice.
    """

def assignment_rounds(
    points: NDArray[numpy.float64],
    rows: NDArray[numpy.int32],
    labels: NDArray[numpy.int32],
    k: int,
    lists: NDArray[numpy.int32],
    place: NDArray[numpy.int32],
    reach: int,
    skip: float,
    temperatures: NDArray[numpy.float64],
    seed: int,
    report: bool,
    watch: Watch,
) -> tuple[NDArray[numpy.int32], bool]:
    """
    Rounds of assignment on a block, one for each temperature: every group gives a record away,
    and all are put back at the least cost. Returns the groups of the rows, and whether time
    did not suffice.
    """

def sparse_assignment(
    starts: NDArray[numpy.int64], columns: NDArray[numpy.int32], costs: NDArray[numpy.float64], watch: Watch
) -> NDArray[numpy.int32]:
    """
    The column of each row in the cheapest assignment. Row i knows those columns that lie
    between starts i and i+1, at those costs; at least one assignment must exist.
    """

def kd_blocks(
    items: NDArray[numpy.float64],
    weights: NDArray[numpy.int64],
    largest: int,
    multiple: int,
    jitter: bool,
    seed: int,
    threads: int,
    watch: Watch,
) -> NDArray[numpy.int32]:
    """
    The block of each item: near ones together, at most `largest` records in a block. Without
    weights an item is one record; with jitter the cuts vary with the seed.
    """

def neighbour_bound(
    points: NDArray[numpy.float64],
    lists: NDArray[numpy.int32],
    k: int,
    remote: int,
    rounds: int,
    threads: int,
    watch: Watch,
) -> NDArray[numpy.float64]:
    """
    A share for each record: together they are at most the SSE of any partition.
    """

def exhaustive(points: NDArray[numpy.float64], k: int, watch: Watch) -> NDArray[numpy.int32]:
    """The best of all partitions into groups of at least k."""

class Pivot(enum.Enum):
    """Around which records the next groups form."""

    CENTROID = 0
    """The farthest from the centroid of what remains."""

    CENTROID_OPPOSITE = 1
    """That, and the farthest from it."""

    PAIR = 2
    """The two most distant records."""

    REFERENCES = 3
    """The farthest from two fixed points, in turns."""

class Growth(enum.Enum):
    """Which records join a group."""

    SEED = 0
    """The nearest to its first."""

    CENTROID = 1
    """One at a time the nearest to its centroid."""

class Leftovers(enum.Enum):
    """Where fewer than k records that are left go."""

    EACH = 0
    """Each to the nearest centroid."""

    JOINTLY = 1
    """All to the centroid nearest to theirs."""

    BY_RECORD = 2
    """Each to the group of the nearest record."""

def peel_queries(n: int, k: int, pivot: Pivot, growth: Growth) -> int:
    """About how often `peel` looks for near or far records."""

def begins_with_tree(n: int, p: int, queries: int) -> bool:
    """Whether so many queries begin with a tree, which takes memory."""

def peel(
    points: NDArray[numpy.float64],
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
) -> NDArray[numpy.int32]:
    """
    Groups of k around far records, one or two at a time, while `stop` times k records remain:
    MDAV, MD, CBFS, TFRP and their variants.
    """

def descent(
    points: NDArray[numpy.float64],
    rows: NDArray[numpy.int32],
    labels: NDArray[numpy.int32],
    k: int,
    lists: NDArray[numpy.int32],
    place: NDArray[numpy.int32],
    begin: NDArray[numpy.int32] | None,
    watch: Watch,
) -> tuple[NDArray[numpy.int32], bool]:
    """
    Descent of a block to a local optimum; one that begins at some places does not prove in the
    end that nothing was missed. Returns the groups of the rows, and whether the deadline came
    first.
    """

def dissolve(
    points: NDArray[numpy.float64], labels: NDArray[numpy.int32], k: int, watch: Watch
) -> tuple[NDArray[numpy.int32], bool]:
    """
    Scatters groups of low homogeneity where that pays; others may grow to 4k-1 records.
    Returns the groups, and whether the deadline came first.
    """

def two_swap(
    points: NDArray[numpy.float64],
    labels: NDArray[numpy.int32],
    watch: Watch,
    numbering: Numbering = Numbering.APPEARANCE,
) -> tuple[NDArray[numpy.int32], bool]:
    """
    The best exchange of two records, again and again. Returns the groups, and whether the
    deadline came first.
    """

def pool_pass(
    points: NDArray[numpy.float64],
    labels: NDArray[numpy.int32],
    k: int,
    capacity: int,
    lists: NDArray[numpy.int32],
    watch: Watch,
) -> NDArray[numpy.int32]:
    """
    One pass of ICSM over a pool of migrations and exchanges. Lists without rows: every group
    is looked at.
    """

def best_cycle(
    points: NDArray[numpy.float64],
    labels: NDArray[numpy.int32],
    k: int,
    tries: int,
    lists: NDArray[numpy.int32],
    watch: Watch,
) -> NDArray[numpy.int32]:
    """
    The best cyclic shift of ICSM from the groups of lowest score, so many of them tried. Lists
    without rows: every group is looked at.
    """

def neighbour_lists(
    points: NDArray[numpy.float64], length: int, most_leaves: int, threads: int, watch: Watch
) -> NDArray[numpy.int32]:
    """
    The `length` nearest records of each, nearest first, one row each; exact if `most_leaves`
    is 0, else after a look at so many leaves of 64 records.
    """

def list_distances(
    points: NDArray[numpy.float64], lists: NDArray[numpy.int32], place: int
) -> NDArray[numpy.float64]:
    """
    The squared distance from each record to the one at this place of its list.
    """

def sse(points: NDArray[numpy.float64], labels: NDArray[numpy.int32]) -> float:
    """The sum of squared distances to the means of the groups."""

def sse_and_rest(points: NDArray[numpy.float64], labels: NDArray[numpy.int32]) -> tuple[float, float]:
    """The SSE, and what it lacks of the exact sum."""

def sst(points: NDArray[numpy.float64]) -> float:
    """The sum of squared distances to the mean of all."""

def by_first_appearance(labels: NDArray[numpy.int32]) -> NDArray[numpy.int32]:
    """The groups numbered 0, 1, … in order of their first records."""

def group_sizes(labels: NDArray[numpy.int32]) -> NDArray[numpy.int64]:
    """How many records each group has."""

def rows_by_group(labels: NDArray[numpy.int32]) -> NDArray[numpy.int32]:
    """The rows of group 0, those of group 1 and so on, ascending in each."""

def group_means(values: NDArray[numpy.float64], labels: NDArray[numpy.int32]) -> NDArray[numpy.float64]:
    """The mean of each group, one row each."""

def farthest_from_centroid(points: NDArray[numpy.float64]) -> int:
    """The record farthest from the centroid of all."""

def farthest_pair(points: NDArray[numpy.float64], deadline: Deadline, watch: Watch) -> tuple[int, int]:
    """The two most distant records."""

def nearest_next(
    points: NDArray[numpy.float64], first: int, deadline: Deadline, watch: Watch
) -> NDArray[numpy.int32]:
    """A path that always goes on to the nearest record left."""

def group_tour(
    points: NDArray[numpy.float64],
    labels: NDArray[numpy.int32],
    first: int,
    deadline: Deadline,
    watch: Watch,
) -> NDArray[numpy.int32]:
    """
    A path through the groups, from one to the nearest left, and through the records of each.
    """

def path_cut(
    points: NDArray[numpy.float64],
    order: NDArray[numpy.int32],
    k: int,
    cyclic: bool,
    deadline: Deadline,
    watch: Watch,
) -> NDArray[numpy.int32]:
    """The best groups of k to 2k-1 records that follow each other on a path."""

def column_costs(
    points: NDArray[numpy.float64], members: NDArray[numpy.int32], sizes: NDArray[numpy.int64]
) -> NDArray[numpy.float64]:
    """
    The SSE of each group; the members of all groups come one after the other.
    """

def columns_of_cuts(
    n: int,
    members: NDArray[numpy.int32],
    sizes: NDArray[numpy.int64],
    cuts: NDArray[numpy.int32],
    cut_sizes: NDArray[numpy.int64],
) -> NDArray[numpy.int64]:
    """
    For each group and each cut of which it holds two records or more: the column, the cut, and
    half the number of these records, rounded down.
    """

def odd_sets(
    n: int,
    members: NDArray[numpy.int32],
    sizes: NDArray[numpy.int64],
    values: NDArray[numpy.float64],
    largest: int,
    below: float,
) -> tuple[NDArray[numpy.int32], NDArray[numpy.int64]]:
    """
    Odd sets of at most `largest` records that groups with these fractions violate: their
    members one after the other, and how many each has.
    """

class Pricing:
    """All groups that are cheap at given prices."""

    def __init__(self, points: NDArray[numpy.float64], k: int) -> None:
        """Takes memory for the distances of all pairs."""

    @property
    def work(self) -> int:
        """Candidates that the last run looked at."""

    def run(
        self,
        duals: NDArray[numpy.float64],
        cuts: NDArray[numpy.int32],
        cut_sizes: NDArray[numpy.int64],
        multipliers: NDArray[numpy.float64],
        charge: float,
        apart: NDArray[numpy.int32],
        together: NDArray[numpy.int32],
        below: float,
        every: bool,
        most_columns: int,
        most_work: int,
        most_of_one: int,
        watch: Watch,
    ) -> tuple[
        NDArray[numpy.int32], NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.float64], bool
    ]:
        """
        Groups of k to 2k-1 records with a reduced cost below `below`: their members, sizes and
        reduced costs; for each record the least of 0 and reduced cost by size over the groups
        that hold it; and whether nothing was left out.
        """

def published_cost(
    numbers: NDArray[numpy.float64],
    codes: NDArray[numpy.int32],
    ordered: NDArray[numpy.bool_],
    cost: NDArray[numpy.float64],
    levels: NDArray[numpy.int32],
    paths: Sequence[NDArray[numpy.int32] | None],
    labels: NDArray[numpy.int32],
) -> NDArray[numpy.float64]:
    """
    What a partition costs when it is published: the SSE of the numbers, then each attribute
    of the codes.
    """

def anneal_published(
    numbers: NDArray[numpy.float64],
    codes: NDArray[numpy.int32],
    ordered: NDArray[numpy.bool_],
    cost: NDArray[numpy.float64],
    levels: NDArray[numpy.int32],
    paths: Sequence[NDArray[numpy.int32] | None],
    rows: NDArray[numpy.int32],
    labels: NDArray[numpy.int32],
    k: int,
    lists: NDArray[numpy.int32],
    place: NDArray[numpy.int32],
    temperatures: NDArray[numpy.float64],
    active: NDArray[numpy.int64],
    steps: NDArray[numpy.int64],
    seed: int,
    report: bool,
    watch: Watch,
) -> tuple[NDArray[numpy.int32], bool]:
    """As `anneal`, of what the groups cost when they are published."""

def mdav_generic(
    values: NDArray[numpy.float64],
    ordered: NDArray[numpy.bool_],
    codes: NDArray[numpy.int32],
    k: int,
    watch: Watch,
) -> NDArray[numpy.int32]:
    """
    MDAV with the 3k rule over numbers, ordered levels and codes; groups in the order in which
    they were formed.
    """

def sized_assignment(costs: NDArray[numpy.float64], k: int, watch: Watch) -> NDArray[numpy.int32]:
    """
    The column of each row of costs in the cheapest assignment with at least k rows a column.
    """

def halve(points: NDArray[numpy.float64], k: int, watch: Watch) -> NDArray[numpy.int32]:
    """All records in two groups of at least k."""

def relocate(
    points: NDArray[numpy.float64],
    rows: NDArray[numpy.int32],
    labels: NDArray[numpy.int32],
    k: int,
    lists: NDArray[numpy.int32],
    widths: NDArray[numpy.float64],
    region: int,
    steps_a_record: int,
    rise: float,
    steps: int,
    seed: int,
    report: bool,
    watch: Watch,
) -> tuple[NDArray[numpy.int32], bool]:
    """
    Groups of a block given up and founded elsewhere, in regions of so many groups. Returns the
    groups of the rows, and whether the deadline came first.
    """

def simd_level() -> str:
    """The instruction set in use; results do not depend on it."""

def force_simd_level(name: str) -> bool:
    """Use this instruction set; false if the machine lacks it."""

def fixed_runs(values: NDArray[numpy.float64], k: int, descending: bool) -> NDArray[numpy.int32]:
    """Runs of k sorted values; the last takes what is left over."""

def optimal_univariate(
    values: NDArray[numpy.float64], k: int, watch: Watch
) -> tuple[NDArray[numpy.int32], float]:
    """The best groups of one attribute, and their SSE."""

class Scale(enum.Enum):
    """What columns are divided by, or replaced with."""

    ZSCORE = 0

    RANGE = 1

    ROBUST = 2

    RANK = 3

def standardise(
    values: NDArray[numpy.float64], scale: Scale
) -> tuple[NDArray[numpy.float64], NDArray[numpy.uint8]]:
    """
    The columns in common units, and for each whether it has any spread (1) or not (0).
    """

def choose_by_tables(
    first: Sequence[NDArray[numpy.int64]],
    code: Sequence[NDArray[numpy.int32]],
    price: Sequence[NDArray[numpy.float64]],
    amount: Sequence[NDArray[numpy.float64]],
    codes: NDArray[numpy.int32],
    group: NDArray[numpy.int32],
    weight: NDArray[numpy.float64],
    before: NDArray[numpy.int32],
    amounts: NDArray[numpy.float64],
    others_before: NDArray[numpy.int32],
    others_published: NDArray[numpy.int32],
    codes_of_others: NDArray[numpy.int32],
    wide_rows: Sequence[NDArray[numpy.int32]],
    wide_tables: NDArray[numpy.int32],
    wide: float,
    start: NDArray[numpy.int32],
    pairs: bool,
    few: float,
    sums: float,
    hot: float,
    cooling: int,
    sweeps: int,
    watch: Watch,
) -> NDArray[numpy.int32]:
    """
    Which of its candidates each group publishes, so that tables of counts and sums of numbers
    by category stay as in the source: (groups, attributes) places among the candidates of the
    group, -1 where it has none.
    """

def nearest_combinations(
    rows: NDArray[numpy.int32],
    shared: int,
    first: NDArray[numpy.int64],
    prices: Sequence[NDArray[numpy.float64]],
    watch: Watch,
) -> NDArray[numpy.int32]:
    """
    The combination of codes that costs each group least: one of the first `shared` rows, or one
    of its own, which follow group by group. `prices`: by column, (groups, codes).
    """

def nearest_targets(
    points: NDArray[numpy.float64], targets: int, length: int, threads: int, watch: Watch
) -> NDArray[numpy.int32]:
    """
    The first points are targets, the others queries: for each query the nearest targets,
    nearest first, and -1 where there are no more.
    """

def rivals(
    points: NDArray[numpy.float64],
    weights: NDArray[numpy.int64],
    own: NDArray[numpy.int32],
    slack: float,
    least: float,
    threads: int,
    watch: Watch,
) -> NDArray[numpy.int64]:
    """
    As many targets as weights, the other points are queries: for each query the weight of all
    targets as near as its own, that one included; 0 if one is nearer.
    """

class Extremes(enum.Enum):
    """Which records form the first two groups of k-Ward."""

    VALUES = 0
    """The first and the last in the order of given values."""

    DISTANCE = 1
    """Around the two most distant, lower row first."""

    DISTANCE_SWAP = 2
    """The same, higher row first."""

    DISTANCE_DRAWN = 3
    """The same, higher row first where the two drew different numbers."""

def v_mdav(
    points: NDArray[numpy.float64],
    k: int,
    gamma: float,
    watch: Watch,
    engine: Engine = Engine.AUTO,
    numbering: Numbering = Numbering.APPEARANCE,
) -> NDArray[numpy.int32]:
    """
    MDAV with groups that may take further near records, the more readily the larger gamma.
    """

def mst_cut(points: NDArray[numpy.float64], k: int, watch: Watch) -> NDArray[numpy.int32]:
    """
    The parts of the minimum spanning tree that remain when its long edges are cut.
    """

def k_ward(
    points: NDArray[numpy.float64],
    values: NDArray[numpy.float64],
    extremes: Extremes,
    drawn: NDArray[numpy.int32],
    k: int,
    watch: Watch,
) -> NDArray[numpy.int32]:
    """
    Ward's joining from two groups at the extremes, in parts of fewer and fewer records.
    """

def genetic(
    points: NDArray[numpy.float64],
    order: NDArray[numpy.int32],
    k: int,
    generations: int,
    seed: int,
    watch: Watch,
) -> NDArray[numpy.int32]:
    """A genetic search over the cuts of an order."""

def genetic_groups(
    points: NDArray[numpy.float64], k: int, generations: int, seed: int, watch: Watch
) -> NDArray[numpy.int32]:
    """A genetic search over the groups of all records."""
