"""Measures of risk by name; `risk.toml` describes them."""

from __future__ import annotations

from microagg.measure import attribute_disclosure, intervals, linkage, risk
from microagg.measure.catalogue import described_measures
from microagg.measure.key_confidential import key_confidential
from microagg.measure.probabilistic_linkage import linkage_probabilistic

RISK = described_measures(
    "risk",
    risk.k_anonymity,
    linkage.linkage_distance,
    linkage.linkage_groups,
    linkage.linkage_subsets,
    linkage.linkage_noisy,
    linkage_probabilistic,
    linkage.outlier_linkage,
    intervals.interval_sd,
    intervals.interval_sd_masked,
    intervals.interval_rank,
    intervals.outlier_interval,
    risk.true_values,
    attribute_disclosure.attribute_disclosure,
    attribute_disclosure.diversity,
    attribute_disclosure.closeness,
    attribute_disclosure.confidential_range,
    attribute_disclosure.homogeneous,
    key_confidential,
    risk.dominance,
)
