"""Measures of risk by name, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Callable

from microagg.measure.attribute_disclosure import closeness, confidential_range, diversity, homogeneous
from microagg.measure.catalogue import Measure
from microagg.measure.intervals import interval_rank, interval_sd, interval_sd_masked, outlier_interval
from microagg.measure.key_confidential import key_confidential
from microagg.measure.linkage import (
    linkage_distance,
    linkage_groups,
    linkage_noisy,
    linkage_subsets,
    outlier_linkage,
)
from microagg.measure.pair import Finding, Pair
from microagg.measure.probabilistic_linkage import linkage_probabilistic
from microagg.measure.risk import dominance, k_anonymity, true_values

VLDBJ06 = (
    "Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz, Sebé: Efficient multivariate data-oriented "
    "microaggregation, The VLDB Journal 15 (2006), section 3"
)
DT01 = (
    "Domingo-Ferrer, Torra: A quantitative comparison of disclosure control methods for microdata, in: "
    "Confidentiality, Disclosure and Data Access (2001)"
)
TDF03 = (
    "Torra, Domingo-Ferrer: Record linkage methods for multidatabase data mining, in: Information Fusion "
    "in Data Mining (2003)"
)
OUTLIERS = (
    "Mateo-Sanz, Sebé, Domingo-Ferrer: Outlier protection in continuous microdata masking, in: Privacy in "
    "Statistical Databases, LNCS 3050 (2004)"
)
SHARE = "0 to 1, 0 is the safest"


def _risk(
    title: str,
    definition: str,
    formula: str,
    unit: str,
    limits: str,
    higher: str,
    reference: str,
    compute: Callable[[Pair], Finding],
) -> Measure:
    return Measure("risk", title, definition, formula, unit, limits, higher, reference, compute)


RISK: dict[str, Measure] = {
    "k_anonymity": _risk(
        "k-anonymity",
        "The smallest number of records that share their stratum and all masked values.",
        "min over classes c of |c|",
        "records",
        "1 to n; at least k was promised",
        "better: every record hides among more",
        "Samarati, Sweeney: Protecting privacy when disclosing information (1998)",
        k_anonymity,
    ),
    "linkage_distance": _risk(
        "Distance-based record linkage",
        "The share of records that an intruder who knows all original values links to their own masked "
        "record by taking the nearest one; equally near ones share the hit.",
        "(1/n) Σ_i [y_i among the nearest to x_i] / (number of masked records as near as y_i), d² = Σ_j "
        "((x_ij − y_lj)/s_j)²",
        "share",
        "0 to 1; 1/k if every record is nearest to its own group of k",
        "more records can be re-identified",
        TDF03,
        linkage_distance,
    ),
    "linkage_groups": _risk(
        "Linkage to the right group",
        "The share of records whose nearest masked record belongs to their own group.",
        "(1/n) Σ_i (masked records as near as y_i and of its group) / (masked records as near as y_i), 0 "
        "if one is nearer",
        "share",
        SHARE,
        "an intruder finds the group more often, and what its records have in common",
        TDF03,
        linkage_groups,
    ),
    "linkage_subsets": _risk(
        "Linkage with some keys only",
        "The largest share of records that an intruder links who knows a few keys only, over all choices "
        "of these keys.",
        "max over sets S of keys, |S| ≤ 3, of linkage_distance with the columns of S only",
        "share",
        SHARE,
        "more records can be re-identified by a few keys",
        VLDBJ06,
        linkage_subsets,
    ),
    "linkage_noisy": _risk(
        "Linkage with noisy knowledge",
        "The share of records that an intruder links whose values are off by normal noise of a tenth of a "
        "standard deviation.",
        "linkage_distance of x_ij + 0.1 s_j ε_ij in place of x_ij, ε standard normal with a fixed seed",
        "share",
        SHARE,
        "more records can be re-identified even by inexact knowledge",
        "Own scenario, one of those that differ from what was masked for: " + VLDBJ06,
        linkage_noisy,
    ),
    "linkage_probabilistic": _risk(
        "Probabilistic record linkage",
        "The share of records whose own masked record has the largest weight of agreement, weights being "
        "estimated from the two files alone; equal weights share the hit.",
        "weight = Σ_j log(m_j(a_j)/u_j(a_j)), a_j: how near column j agrees; u from random pairs, m by EM "
        "over the 20 nearest distinct masked records of each original",
        "share",
        SHARE,
        "more records can be re-identified",
        "Fellegi, Sunter: A theory for record linkage, Journal of the American Statistical Association 64 "
        "(1969)",
        linkage_probabilistic,
    ),
    "outlier_linkage": _risk(
        "Linkage of outliers",
        "The share that is linked of the most extreme 1 % of records, by their standardised distance from "
        "the mean.",
        "mean of linkage_distance's hits over the ⌈n/100⌉ records with the largest Σ_j ((x_ij − x̄_j)/s_j)²",
        "share",
        SHARE,
        "the most exposed records are re-identified more often",
        OUTLIERS,
        outlier_linkage,
    ),
    "interval_sd": _risk(
        "Interval disclosure, original standard deviations",
        "The share of records whose original values all lie within 5 % of a standard deviation of the "
        "released ones.",
        "(1/n) Σ_i [|x_ij − y_ij| ≤ 0.05 s_j for all j], s_j: standard deviation of the original",
        "share",
        SHARE,
        "released values give more original values away",
        VLDBJ06 + "; " + DT01,
        interval_sd,
    ),
    "interval_sd_masked": _risk(
        "Interval disclosure, masked standard deviations",
        "The same with the standard deviations of the masked columns, which an intruder can compute.",
        "(1/n) Σ_i [|x_ij − y_ij| ≤ 0.05 s'_j for all j], s'_j: standard deviation of the masked column "
        "(n − 1)",
        "share",
        SHARE,
        "released values give more original values away",
        "Templ: Statistical Disclosure Control for Microdata (2017); sdcMicro's dRisk since version 5.6.0, "
        "which up to 5.3.0 allowed one column outside",
        interval_sd_masked,
    ),
    "interval_rank": _risk(
        "Interval disclosure, ranks",
        "The share of original values that lie between the masked values ranked p % below and above their "
        "own masked value, averaged over p = 1 to 10 and over the columns.",
        "mean over p and j of (1/n) Σ_i [y_(r − pn/100),j ≤ x_ij ≤ y_(r + pn/100),j], r: rank of y_ij",
        "share",
        SHARE,
        "released values give more original values away",
        DT01,
        interval_rank,
    ),
    "outlier_interval": _risk(
        "Interval disclosure of outliers",
        "The same as interval_sd of the most extreme 1 % of records, by their standardised distance from "
        "the mean.",
        "interval_sd over the ⌈n/100⌉ records with the largest Σ_j ((x_ij − x̄_j)/s_j)²",
        "share",
        SHARE,
        "the most exposed records give more away",
        OUTLIERS,
        outlier_interval,
    ),
    "true_values": _risk(
        "True values released",
        "The number of records that are released with all of their own original values.",
        "Σ_i [y_ij = x_ij for all j]",
        "records",
        "0 to n, 0 is the safest",
        "more records are released unprotected",
        "Own count; it happens where all records of a group are equal",
        true_values,
    ),
    "diversity": _risk(
        "Distinct l-diversity",
        "The smallest number of different values of a confidential column in a class.",
        "min over classes c and confidential columns of |{values in c}|",
        "values",
        "1 to n; 1 means that some class gives its value away",
        "better: a class leaves more values possible",
        "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam: l-diversity, ACM TKDD 1 (2007)",
        diversity,
    ),
    "closeness": _risk(
        "t-closeness",
        "The largest earth mover's distance between the distribution of a confidential column in a class "
        "and in the file.",
        "max over classes of Σ_i |P_i − Q_i| / (m − 1) for numbers (P, Q cumulative shares of the m "
        "values), ½ Σ_i |p_i − q_i| for others",
        "distance",
        "0 to 1, 0 is the safest",
        "knowing the class tells more about the confidential value",
        "Li, Li, Venkatasubramanian: t-closeness, ICDE (2007)",
        closeness,
    ),
    "confidential_range": _risk(
        "Range of confidential values",
        "The smallest range of a confidential number in a class, as a share of its range in the file.",
        "min over classes c of (max_c z − min_c z) / (max z − min z)",
        "share",
        "0 to 1; 0 means that some class gives its value away",
        "better: a class leaves a wider range possible",
        "The same for numbers that are nearly constant in a class: " + VLDBJ06,
        confidential_range,
    ),
    "homogeneous": _risk(
        "Homogeneous classes",
        "The number of classes in which a confidential column has one value only.",
        "Σ over classes c of [some confidential column is constant in c]",
        "classes",
        "0 to the number of classes, 0 is the safest",
        "more classes give a confidential value away for certain",
        VLDBJ06,
        homogeneous,
    ),
    "key_confidential": _risk(
        "Columns that follow from the keys",
        "The largest share of records that an intruder picks out of their class by predicting an "
        "untouched column from the original keys and taking the record with the nearest value.",
        "max over untouched columns z of (1/n) Σ_i [z_i is nearest to ẑ_i in the class of i] / (number as "
        "near), ẑ: least squares on the keys",
        "share",
        "0 to 1; chance gives one over the mean class size",
        "untouched columns undo more of the protection",
        VLDBJ06,
        key_confidential,
    ),
    "dominance": _risk(
        "Dominance",
        "The largest share that one record has in its group's total of a column.",
        "max over groups and columns of max_i w_i|x_i| / Σ_i w_i|x_i|; a total fails the p %-rule if it "
        "exceeds its two largest terms by less than p % of the largest",
        "share",
        "1/n to 1",
        "a published mean tells more about one respondent",
        "Hundepool and others: Statistical Disclosure Control (2012), on the p %-rule",
        dominance,
    ),
}
