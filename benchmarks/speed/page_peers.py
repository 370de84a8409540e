"""The sections of docs/speed.md about other packages."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.markdown import NOT_RUN, grid
from benchmarks.speed.cells import cells, lines_of, shown, times
from benchmarks.speed.jobs.peers import OUR_METHODS
from benchmarks.speed.store import Line, Results


def peers(results: Results) -> str:
    """All of them."""
    sections = (microagg1d, k_means_constrained, scikit_learn, sdcmicro)
    title = (
        "## Against peers\n\n![Times faster than each peer, where ours loses no more](speed/peers.svg)\n"
    )
    return "\n".join((title, *(section(results) for section in sections)))


def microagg1d(results: Results) -> str:
    rows = [
        [
            f"{case['n']:,}",
            str(case["k"]),
            *cells(line, "theirs", "kernel"),
            times(line and line["theirs"], line and line["kernel"]),
            *cells(line, "cpu"),
            times(line and line["theirs"], line and line["cpu"]),
            NOT_RUN if line is None else f"{line['sse_share']:.4f}",
        ]
        for case, line in lines_of(results, "microagg1d")
    ]
    headings = ("n", "k", "microagg1d", "kernel", "ratio", "partition()", "ratio", "SSE, ours / theirs")
    return (
        f"### microagg1d{version(results, 'microagg1d')}: one attribute\n\n"
        "Its default method computes labels from values. Our kernel does the same and also gives the\n"
        "cost; `partition()` adds scaling and checks.\n\n" + grid(headings, rows, words=0)
    )


def version(results: Results, part: str) -> str:
    """The version of the peer, as far as known."""
    known = {line["version"] for _, line in lines_of(results, part) if line is not None}
    return f" {', '.join(sorted(known))}" if known else ""


def our_rows(line: Line | None) -> Iterator[list[str]]:
    """Our methods beside a clustering of the same data: seconds, how many times faster, loss."""
    for method in OUR_METHODS:
        seconds = None if line is None else line[method]
        loss = None if line is None else line[f"{method}_il"]
        yield [f"`{method}`", shown(seconds), times(line and line["theirs"], seconds), shown(loss)]


def k_means_constrained(results: Results) -> str:
    text = [
        f"### k-means-constrained{version(results, 'k-means-constrained')}\n",
        "Clusters of k to 2k−1 records by minimum-cost flow, one start.\n",
    ]
    for case, line in lines_of(results, "k-means-constrained"):
        theirs = ["k-means-constrained", *cells(line, "theirs"), "", *cells(line, "their_il")]
        headings = (f"{case['n']:,} records, k = {case['k']}", "CPU s", "times faster", "loss %")
        text.append(grid(headings, [theirs, *our_rows(line)]))
    return "\n".join(text)


def scikit_learn(results: Results) -> str:
    rows = [
        [
            f"{case['n']:,}",
            *cells(line, "theirs", "their_brute", "exact"),
            times(line and min(line["theirs"], line["their_brute"]), line and line["exact"]),
            *cells(line, "cpu"),
            NOT_RUN if line is None else f"{100 * line['cpu_share']:.1f} %",
        ]
        for case, line in lines_of(results, "scikit-learn")
    ]
    headings = (
        "n", "NearestNeighbors", "its brute force", "exact lists", "times faster", "lists of searches",
        "of them right",
    )  # fmt: skip
    text = [
        f"### scikit-learn{version(results, 'scikit-learn')}\n",
        "Lists of the 20 nearest records.\n",
        grid(headings, rows, words=0),
    ]
    for case, line in lines_of(results, "k-means"):
        theirs = ["KMeans", *cells(line, "theirs"), "", *cells(line, "their_il")]
        headings = (
            f"{case['n']:,} records, {case['n'] // case['k']:,} clusters",
            "CPU s",
            "times faster",
            "loss %",
        )
        text.append(grid(headings, [theirs, *our_rows(line)]))
        if line is not None:
            text.append(
                f"KMeans does another task: {line['too_small']:,} of its {line['clusters']:,} clusters\n"
                f"have fewer than k = {case['k']} records, the smallest {line['smallest']}.\n"
            )
    return "\n".join(text)


def sdcmicro(results: Results) -> str:
    rows = []
    for case, line in lines_of(results, "sdcmicro"):
        first = [f"{case['n']:,}", str(case["k"])]
        if line is None:
            rows.append([*first, results.reason("sdcmicro", **case), "", "", "", ""])
        else:
            ratio = times(line["theirs"], line["cpu"])
            rows.append([*first, *cells(line, "theirs", "cpu"), ratio, *cells(line, "their_il", "il")])
    headings = ("n", "k", "sdcMicro", "partition()", "ratio", "loss %, sdcMicro", "ours")
    return f"### sdcMicro{version(results, 'sdcmicro')}: MDAV\n\n" + grid(headings, rows, words=0)
