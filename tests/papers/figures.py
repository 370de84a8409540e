"""The papers' figures (`tables.toml`): how they are kept, and how each is computed.

Shared by the tests and by `python -m benchmarks.papers`, so that both mean the same thing by a figure.

A `[[table]]` holds the figures of one published table for one data set and one measure:

    paper, table    where it was printed
    data            a key of DATA
    measure         a key of MEASURES; "loss" if absent
    against         a method; what is printed is the loss beyond that method's loss
    base            that method's loss in the text, to count from instead of ours
    digits          decimals of what is printed, where further ones are only filled up with zeros
    stand_in        whose place the data take, where the paper's own cannot be had
    note            what a reader should know
    why             a reason for every figure of the table
    cost            "slow" leaves the figures to the long campaign, "slowest" to all of it and not to its
                    sample, "recorded" to `benchmarks.papers --recorded` (a figure may have its own)
    figures         method, k, published, ours; pick, reads and why where needed

A setting `*` in a method stands for all of its values (gamma: 0, 0.1, … 2; seed: 0 to 29); `pick` says
whether the one with the least or the most information loss is meant. A number after an @ is a seed.
`published` keeps the printed decimals, `ours` has six, or is "pending" until `--record` fills it in. `why`
starts with one of REASONS.

A figure may stand twice in its table: with the method as it is by default, and, with `reads` naming that
method, with a setting that reads the paper otherwise. It counts once, with what agrees best.

A `[[relation]]` is a statement in words: at every k of `k`, each method of `left` loses less than
(`is = "below"`), no more than ("never above") or more than ("above") each method of `right`, or the losses
of its settings `*` spread less ("narrower"). `fails` lists the k at which it does not hold for us.

`[[recomputed]]` has values from independent programs, to the decimals given.
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import json
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import microagg
from microagg import datasets
from microagg.errors import DataError, SettingsError
from microagg.methods.catalogue import ALIASES, METHODS
from microagg.methods.recipe import stage_of
from microagg.methods.run import Run
from microagg.methods.stage import one_group, solve
from microagg.model import Problem

FILE = Path(__file__).with_name("tables.toml")
REASONS = ("misprint", "ties", "undocumented choice", "our choice", "other data", "open")
PENDING = "pending"
LOSS_TOLERANCE = Decimal("0.01")
EQUAL = "equal to the printed digit"
NEAR = "within 0.01"
APART = "apart"
COUNTS = ("optima", "rounds")
SEEDS = 30

Entry = dict[str, Any]


class NotThere(Exception):  # noqa: N818 (a state of the work, not an error)
    """A method, a setting, a measure or a data set that this version does not have."""


# --- data -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Data:
    """One data set, or several that a figure is taken over. Sets are numbered from 1."""

    make: Callable[[int], Any]
    about: str
    count: int = 1
    reference: bool = False
    """Read from the reference files, which are not shipped."""
    packages: tuple[str, ...] = ()
    """That it is read from; none of them is needed otherwise."""

    def lacks(self) -> str:
        """What is not here and how to get it; nothing if the data can be had."""
        if self.reference and not reference_files_are_here():
            return "the reference data sets are not here: set MICROAGG_DATA to their folder"
        missing = [name for name in self.packages if importlib.util.find_spec(name) is None]
        if missing:
            return f"{', '.join(missing)} not installed (photographs): pip install 'microagg[all]'"
        return ""


def _eia_measures(_: int) -> Any:
    table = datasets.load("eia")
    return table.select(*(column for column in table.columns if column != "UTILITYID"))


def _normal(p: int) -> Data:
    def make(number: int) -> Any:
        return np.random.default_rng((p, number)).normal(0.0, 5000.0, (11, p))

    return Data(
        make, f"100 sets of 11 records, {p} normal attributes, numpy seeds ({p}, 1) to ({p}, 100)", 100
    )


@dataclass(frozen=True)
class Photograph:
    """A photograph that comes with an installed package; what is not there is not shipped either."""

    package: str
    path: str
    """Inside the package's folder."""
    about: str
    height: int
    width: int = 512

    def grey(self) -> Any:
        """Grey levels of the middle of the picture."""
        from PIL import Image

        spec = importlib.util.find_spec(self.package)
        assert spec is not None
        assert spec.origin is not None
        with Image.open(Path(spec.origin).parent / self.path) as picture:
            levels = np.asarray(picture.convert("L"), dtype=np.float64)
        top, left = (levels.shape[0] - self.height) // 2, (levels.shape[1] - self.width) // 2
        return levels[top : top + self.height, left : left + self.width]

    def in_blocks(self, side: int) -> Data:
        """Its blocks of side × side pixels, one record each, as TFRP07 cuts up Lena and Girl."""
        down, across = self.height // side, self.width // side

        def make(_: int) -> Any:
            blocks = self.grey().reshape(down, side, across, side).swapaxes(1, 2)
            return np.ascontiguousarray(blocks.reshape(-1, side * side))

        return Data(
            make,
            f"{self.about}, the middle {self.width} × {self.height} pixels in grey, {side} × {side} "
            f"blocks, {down * across:,} records",
            packages=(self.package, "PIL"),
        )


HOPPER = Photograph(
    "matplotlib",
    "mpl-data/sample_data/grace_hopper.jpg",
    "photograph of Grace Hopper from matplotlib's sample data (public domain)",
    512,
)
FLOWER = Photograph(
    "sklearn",
    "datasets/images/flower.jpg",
    "photograph of a flower from scikit-learn's sample images (CC BY 2.0, flickr.com/photos/vultilion)",
    424,
)


def _seeded(make: Callable[[int], Any], about: str, count: int) -> Data:
    return Data(make, f"{about}, seed{f's 1 to {count}' if count > 1 else ' 1'}", count)


DATA: dict[str, Data] = {
    "sme": Data(lambda _: datasets.sme().select("surface", "employees"), "the keys of the SME example"),
    "tarragona": Data(lambda _: datasets.load("tarragona"), "reference file, 834 × 13", reference=True),
    "census": Data(lambda _: datasets.load("census"), "reference file, 1080 × 13", reference=True),
    "eia": Data(lambda _: datasets.load("eia"), "reference file, 4092 × 11", reference=True),
    "eia-10": Data(_eia_measures, "reference file without UTILITYID, 4092 × 10", reference=True),
    "large-census": _seeded(
        lambda seed: datasets.census_like(10_000, seed), "`census_like`, 10,000 × 13", 1
    ),
    "very-large-census": _seeded(
        lambda seed: datasets.census_like(100_000, seed), "`census_like`, 100,000 × 13", 1
    ),
    "sim-u": _seeded(datasets.sim_u, "`sim_u`, 25 sets", 25),
    "sim-c": _seeded(datasets.sim_c, "`sim_c`, 25 sets", 25),
    "sim-1": _seeded(datasets.sim_1, "`sim_1`, 25 sets", 25),
    "sim-2": _seeded(datasets.sim_2, "`sim_2`, 25 sets", 25),
    "sim-3": _seeded(datasets.sim_3, "`sim_3`, 25 sets", 25),
    "synthetic": _seeded(datasets.synthetic, "`synthetic`, 10,000 × 10", 1),
    "normal-2": _normal(2),
    "normal-3": _normal(3),
    "normal-5": _normal(5),
    "normal-7": _normal(7),
    "hopper-2x2": HOPPER.in_blocks(2),
    "hopper-4x4": HOPPER.in_blocks(4),
    "flower-2x2": FLOWER.in_blocks(2),
    "flower-4x4": FLOWER.in_blocks(4),
}


@cache
def data_set(name: str, number: int = 1) -> Any:
    return DATA[name].make(number)


@cache
def reference_files_are_here() -> bool:
    try:
        datasets.load("census")
    except DataError:
        return False
    return True


# --- runs -------------------------------------------------------------------------------------


def check_method(method: str) -> None:
    """Raise NotThere unless the catalogue has every name of a recipe."""
    for part in method.split("+"):
        name = part.partition(":")[0]
        if name not in METHODS and name not in ALIASES:
            raise NotThere(f"there is no method {name} yet")


@cache
def run(data: str, number: int, method: str, k: int) -> microagg.Result:
    check_method(method)
    table = data_set(data, number)
    recipe, _, seed = method.partition("@")
    try:
        return microagg.partition(table, k, recipe, seed=int(seed or 0))
    except SettingsError as error:
        raise NotThere(str(error)) from None


def runs(data: str, method: str, k: int) -> list[microagg.Result]:
    """One result for each set of the data."""
    return [run(data, number, method, k) for number in range(1, DATA[data].count + 1)]


def losses(data: str, method: str, k: int) -> list[float]:
    return [result.information_loss for result in runs(data, method, k)]


def variants(data: str, method: str) -> list[str]:
    """`method` with each setting `*` written out; `seed=*`, which is no setting, after an @."""
    head, *settings = method.split(":")
    if "seed=*" in settings:
        settings.remove("seed=*")
        return [
            f"{one}@{seed}" for one in variants(data, ":".join((head, *settings))) for seed in range(SEEDS)
        ]
    choices = []
    for setting in settings:
        key, _, value = setting.partition("=")
        every: tuple[object, ...] = (value,)
        if value == "*":
            every = ("no", "yes")
            if key == "column":
                every = tuple(range(1, len(data_set(data).columns) + 1))
            elif key == "gamma":
                every = tuple(f"{tenths / 10:.1f}" for tenths in range(21))
        choices.append([f"{key}={one}" for one in every])
    return [":".join((head, *chosen)) for chosen in itertools.product(*choices)]


def picked(data: str, method: str, k: int, pick: str | None) -> str:
    found = variants(data, method)
    if len(found) == 1:
        return found[0]
    best = {"best": min, "worst": max}[pick or ""]
    return best(found, key=lambda one: float(np.mean(losses(data, one, k))))


# --- measures ---------------------------------------------------------------------------------


def _ratios(data: str, method: str, k: int) -> list[float]:
    pairs = zip(runs(data, method, k), runs(data, "exhaustive", k), strict=True)
    return [found.sse / best.sse for found, best in pairs]


def _masked(place: int) -> Callable[[str, str, int], list[float]]:
    def measure(data: str, method: str, k: int) -> list[float]:
        masked = run(data, 1, method, k).aggregate(data_set(data))
        return [float(value) for value in masked[:, place]]

    return measure


def _standardised(data: str) -> Any:
    values = np.asarray(data_set(data).values)
    return (values - values.mean(axis=0)) / values.std(axis=0)


def _from_package(name: str) -> Callable[[str, str, int], float]:
    """A measure of CMP98: a function of microagg.measure.loss of standardised and masked data."""

    def measure(data: str, method: str, k: int) -> float:
        try:
            function = getattr(importlib.import_module("microagg.measure.loss"), name)
        except (ModuleNotFoundError, AttributeError):
            raise NotThere(f"there is no microagg.measure.loss.{name} yet") from None
        standardised = _standardised(data)
        return float(function(standardised, run(data, 1, method, k).aggregate(standardised)))

    return measure


def _rounds(data: str, method: str, k: int) -> int:
    """Rounds that improve (ICSM15, Table 2), counted one by one."""
    start, rounds = stage_of(f"{method}:iterations=1").stages
    problem = Problem(np.ascontiguousarray(_standardised(data)), k)
    found = solve(start, problem, one_group(problem), Run(threads=1))
    count = 0
    while (further := solve(rounds, problem, found, Run(threads=1))).sse < found.sse:
        found, count = further, count + 1
    return count


MEASURES: dict[str, Callable[[str, str, int], Any]] = {
    "loss": lambda *which: float(np.mean(losses(*which))),
    "loss deviation": lambda *which: float(np.std(losses(*which), ddof=1)),
    "sse": lambda *which: float(np.mean([result.sse for result in runs(*which)])),
    "optima": lambda *which: sum(ratio <= 1 + 1e-9 for ratio in _ratios(*which)),
    "largest ratio": lambda *which: max(_ratios(*which)),
    "mean ratio": lambda *which: float(np.mean(_ratios(*which))),
    "ratio deviation": lambda *which: float(np.std(_ratios(*which), ddof=1)),
    "rounds": _rounds,
    "masked surface": _masked(0),
    "masked employees": _masked(1),
    "mean deviation": _from_package("mean_deviation"),
    "fpc correlation change": _from_package("fpc_correlation_change"),
    "fpc weight change": _from_package("fpc_weight_change"),
    "fpc share": _from_package("fpc_share"),
    "mean correlation change": _from_package("mean_correlation_change"),
    "correlation change deviation": _from_package("correlation_change_deviation"),
}
TITLES = {
    "loss": "information loss in percent",
    "loss deviation": "standard deviation of the information loss over the sets",
    "sse": "within-groups sum of squares",
    "optima": "sets for which the optimum is found",
    "largest ratio": "largest SSE / optimal SSE",
    "mean ratio": "mean SSE / optimal SSE",
    "ratio deviation": "standard deviation of SSE / optimal SSE",
    "rounds": "rounds with improvements",
    "masked surface": "surface as published",
    "masked employees": "employees as published",
    "mean deviation": "mean standard deviation of the masked attributes",
    "fpc correlation change": "change in correlation with the first principal component, percent",
    "fpc weight change": "change in weight on the first principal component, percent",
    "fpc share": "share of the first principal component, percent",
    "mean correlation change": "mean change of the correlations",
    "correlation change deviation": "standard deviation of the change of the correlations",
}


def compute(table: Entry, figure: Entry) -> Any:
    """What we get for a figure, as it is recorded: a Decimal with six places, a whole number, or a list."""
    data, k = table["data"], figure["k"]
    method = picked(data, figure["method"], k, figure.get("pick"))
    value = MEASURES[table.get("measure", "loss")](data, method, k)
    if "base" in table:
        value -= float(table["base"])
    elif "against" in table:
        value -= MEASURES["loss"](data, table["against"], k)
    return _recorded(value)


def _recorded(value: Any) -> Any:
    if isinstance(value, list):
        return [_recorded(one) for one in value]
    return value if isinstance(value, int) else Decimal(f"{value:.6f}")


_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "below": lambda left, right: left < right,
    "never above": lambda left, right: left <= right,
    "above": lambda left, right: left > right,
}


def failing(relation: Entry) -> list[int]:
    """The k at which a relation does not hold for us."""
    data = relation["data"]
    narrower = relation["is"] == "narrower"
    holds = _COMPARE["below" if narrower else relation["is"]]

    def loss(method: str, k: int) -> float:
        if narrower:
            every = [float(np.mean(losses(data, one, k))) for one in variants(data, method)]
            return max(every) - min(every)
        return float(np.mean(losses(data, picked(data, method, k, "best"), k)))

    return [
        k
        for k in relation["k"]
        if not all(
            holds(loss(left, k), loss(right, k)) for left in relation["left"] for right in relation["right"]
        )
    ]


# --- beside each other ------------------------------------------------------------------------


def rounding(table: Entry, published: Any) -> Decimal:
    """How far ours may lie from a printed value and be equal to its last digit: nothing for a count, half a
    unit of that digit for anything else.
    """
    if table.get("measure") in COUNTS:
        return Decimal(0)
    exponent = Decimal(published).as_tuple().exponent
    return Decimal(5).scaleb(max(exponent, -table["digits"] if "digits" in table else exponent) - 1)


def tolerance(table: Entry, published: Any) -> Decimal:
    """How far ours may lie without a reason: for an information loss, 0.01 points if that is more."""
    half = rounding(table, published)
    return max(half, LOSS_TOLERANCE) if table.get("measure", "loss") == "loss" else half


def agreement_of(table: Entry, published: Any, ours: Any) -> str:
    """EQUAL, NEAR or APART."""
    gap = abs(ours - published)
    if gap <= rounding(table, published):
        return EQUAL
    return NEAR if gap <= tolerance(table, published) else APART


def pairs(figure: Entry) -> Iterator[tuple[Any, Any]]:
    """(published, ours), one or, where lists were printed, several."""
    if isinstance(figure["published"], list):
        yield from zip(figure["published"], figure["ours"], strict=True)
    else:
        yield figure["published"], figure["ours"]


def agreement(table: Entry, figure: Entry) -> str:
    """Of a figure, where lists were printed that of the farthest pair."""
    ranks = (EQUAL, NEAR, APART)
    return max((agreement_of(table, *pair) for pair in pairs(figure)), key=ranks.index)


def readings(table: Entry, figure: Entry) -> list[Entry]:
    """The same printed figure under settings that read the paper otherwise."""
    return [
        other
        for other in table["figures"]
        if other.get("reads") == figure["method"]
        and all(other.get(key) == figure.get(key) for key in ("k", "pick", "published"))
    ]


def best_agreement(table: Entry, figure: Entry) -> str:
    """Of a figure and its readings."""
    ranks = (EQUAL, NEAR, APART)
    found = (agreement(table, one) for one in (figure, *readings(table, figure)) if one["ours"] != PENDING)
    return min(found, key=ranks.index)


def reason(table: Entry, figure: Entry) -> str:
    return figure.get("why") or table.get("why", "")


def cost(table: Entry, figure: Entry) -> str:
    return str(figure.get("cost", table.get("cost", "fast")))


# --- the file ---------------------------------------------------------------------------------

_TABLE_KEYS = (
    "paper", "table", "data", "measure", "against", "base", "digits", "stand_in", "note", "why", "cost",
)  # fmt: skip
_FIGURE_KEYS = ("method", "k", "pick", "reads", "published", "ours", "why", "cost")
_RELATION_KEYS = (
    "paper", "table", "data", "claim", "left", "is", "right", "k", "fails", "why", "stand_in", "cost",
)  # fmt: skip


def parse(text: str) -> Entry:
    """Numbers with a point keep their decimals."""
    return tomllib.loads(text, parse_float=Decimal)


def load() -> Entry:
    return parse(FILE.read_text(encoding="utf-8"))


def dump(document: Entry, header: str) -> str:
    """The one layout of the file: a figure per line, keys in a fixed order, no comment but the header."""
    blocks = [header.rstrip("\n")]
    for table in document["table"]:
        lines = ["[[table]]", *_pairs_of(table, _TABLE_KEYS, besides={"figures"}), "figures = ["]
        for figure in table["figures"]:
            lines.append(f"  {{ {', '.join(_pairs_of(figure, _FIGURE_KEYS))} }},")
        blocks.append("\n".join([*lines, "]"]))
    for relation in document["relation"]:
        blocks.append("\n".join(["[[relation]]", *_pairs_of(relation, _RELATION_KEYS)]))
    for table in document["recomputed"]:
        lines = ["[[recomputed]]"]
        for key, value in table.items():
            lines.append(f"{key} = {_value(value)}")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def header_of(text: str) -> str:
    return text.partition("\n[[")[0]


def save(document: Entry) -> None:
    text = dump(document, header_of(FILE.read_text(encoding="utf-8")))
    FILE.write_text(text, encoding="utf-8")


def _pairs_of(
    entry: Entry, keys: tuple[str, ...], besides: frozenset[str] | set[str] = frozenset()
) -> list[str]:
    unknown = entry.keys() - set(keys) - besides
    if unknown:
        raise KeyError(f"tables.toml has no key {', '.join(sorted(unknown))}")
    return [f"{key} = {_value(entry[key])}" for key in keys if key in entry]


def _value(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_value(one)}' for key, one in value.items())} }}"
    return str(value)
