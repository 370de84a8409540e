"""Measures of risk by name, in the order in which they are shown."""

from __future__ import annotations

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


RISK: dict[str, Measure] = {
    "k_anonymity": Measure(
        kind="risk",
        title="k-anonymity",
        definition="The smallest number of records that share their stratum and all masked values.",
        formula="min over classes c of |c|",
        unit="records",
        range="1 to n; at least k was promised",
        higher="better: every record hides among more",
        reference="Samarati, Sweeney: Protecting privacy when disclosing information (1998)",
        compute=k_anonymity,
    ),
    "linkage_distance": Measure(
        kind="risk",
        title="Distance-based record linkage",
        definition=(
            "The share of records that an intruder who knows all original values links to their own masked "
            "record by taking the nearest one; equally near ones share the hit."
        ),
        formula=(
            "(1/n) Σ_i [y_i among the nearest to x_i] / (number of masked records as near as y_i), d² = "
            "Σ_j ((x_ij − y_lj)/s_j)²"
        ),
        unit="share",
        range="0 to 1; 1/k if every record is nearest to its own group of k",
        higher="more records can be re-identified",
        reference=TDF03,
        compute=linkage_distance,
    ),
    "linkage_groups": Measure(
        kind="risk",
        title="Linkage to the right group",
        definition="The share of records whose nearest masked record belongs to their own group.",
        formula=(
            "(1/n) Σ_i (masked records as near as y_i and of its group) / (masked records as near as y_i), "
            "0 if one is nearer"
        ),
        unit="share",
        range=SHARE,
        higher="an intruder finds the group more often, and what its records have in common",
        reference=TDF03,
        compute=linkage_groups,
    ),
    "linkage_subsets": Measure(
        kind="risk",
        title="Linkage with some keys only",
        definition=(
            "The largest share of records that an intruder links who knows a few keys only, over all "
            "choices of these keys."
        ),
        formula="max over sets S of keys, |S| ≤ 3, of linkage_distance with the columns of S only",
        unit="share",
        range=SHARE,
        higher="more records can be re-identified by a few keys",
        reference=VLDBJ06,
        compute=linkage_subsets,
    ),
    "linkage_noisy": Measure(
        kind="risk",
        title="Linkage with noisy knowledge",
        definition=(
            "The share of records that an intruder links whose values are off by normal noise of a tenth "
            "of a standard deviation."
        ),
        formula=(
            "linkage_distance of x_ij + 0.1 s_j ε_ij in place of x_ij, ε standard normal with a fixed seed"
        ),
        unit="share",
        range=SHARE,
        higher="more records can be re-identified even by inexact knowledge",
        reference="Own scenario, one of those that differ from what was masked for: " + VLDBJ06,
        compute=linkage_noisy,
    ),
    "linkage_probabilistic": Measure(
        kind="risk",
        title="Probabilistic record linkage",
        definition=(
            "The share of records whose own masked record has the largest weight of agreement, weights "
            "being estimated from the two files alone; equal weights share the hit."
        ),
        formula=(
            "weight = Σ_j log(m_j(a_j)/u_j(a_j)), a_j: how near column j agrees; u from random pairs, m by "
            "EM over the 20 nearest distinct masked records of each original"
        ),
        unit="share",
        range=SHARE,
        higher="more records can be re-identified",
        reference=(
            "Fellegi, Sunter: A theory for record linkage, Journal of the American Statistical Association "
            "64 (1969)"
        ),
        compute=linkage_probabilistic,
    ),
    "outlier_linkage": Measure(
        kind="risk",
        title="Linkage of outliers",
        definition=(
            "The share that is linked of the most extreme 1 % of records, by their standardised distance "
            "from the mean."
        ),
        formula=(
            "mean of linkage_distance's hits over the ⌈n/100⌉ records with the largest Σ_j ((x_ij − "
            "x̄_j)/s_j)²"
        ),
        unit="share",
        range=SHARE,
        higher="the most exposed records are re-identified more often",
        reference=OUTLIERS,
        compute=outlier_linkage,
    ),
    "interval_sd": Measure(
        kind="risk",
        title="Interval disclosure, original standard deviations",
        definition=(
            "The share of records whose original values all lie within 5 % of a standard deviation of the "
            "released ones."
        ),
        formula="(1/n) Σ_i [|x_ij − y_ij| ≤ 0.05 s_j for all j], s_j: standard deviation of the original",
        unit="share",
        range=SHARE,
        higher="released values give more original values away",
        reference=VLDBJ06 + "; " + DT01,
        compute=interval_sd,
    ),
    "interval_sd_masked": Measure(
        kind="risk",
        title="Interval disclosure, masked standard deviations",
        definition=(
            "The same with the standard deviations of the masked columns, which an intruder can compute."
        ),
        formula=(
            "(1/n) Σ_i [|x_ij − y_ij| ≤ 0.05 s'_j for all j], s'_j: standard deviation of the masked "
            "column (n − 1)"
        ),
        unit="share",
        range=SHARE,
        higher="released values give more original values away",
        reference=(
            "Templ: Statistical Disclosure Control for Microdata (2017); sdcMicro's dRisk since version "
            "5.6.0, which up to 5.3.0 allowed one column outside"
        ),
        compute=interval_sd_masked,
    ),
    "interval_rank": Measure(
        kind="risk",
        title="Interval disclosure, ranks",
        definition=(
            "The share of original values that lie between the masked values ranked p % below and above "
            "their own masked value, averaged over p = 1 to 10 and over the columns."
        ),
        formula=(
            "mean over p and j of (1/n) Σ_i [y_(r − pn/100),j ≤ x_ij ≤ y_(r + pn/100),j], r: rank of y_ij"
        ),
        unit="share",
        range=SHARE,
        higher="released values give more original values away",
        reference=DT01,
        compute=interval_rank,
    ),
    "outlier_interval": Measure(
        kind="risk",
        title="Interval disclosure of outliers",
        definition=(
            "The same as interval_sd of the most extreme 1 % of records, by their standardised distance "
            "from the mean."
        ),
        formula="interval_sd over the ⌈n/100⌉ records with the largest Σ_j ((x_ij − x̄_j)/s_j)²",
        unit="share",
        range=SHARE,
        higher="the most exposed records give more away",
        reference=OUTLIERS,
        compute=outlier_interval,
    ),
    "true_values": Measure(
        kind="risk",
        title="True values released",
        definition="The number of records that are released with all of their own original values.",
        formula="Σ_i [y_ij = x_ij for all j]",
        unit="records",
        range="0 to n, 0 is the safest",
        higher="more records are released unprotected",
        reference="Own count; it happens where all records of a group are equal",
        compute=true_values,
    ),
    "diversity": Measure(
        kind="risk",
        title="Distinct l-diversity",
        definition="The smallest number of different values of a confidential column in a class.",
        formula="min over classes c and confidential columns of |{values in c}|",
        unit="values",
        range="1 to n; 1 means that some class gives its value away",
        higher="better: a class leaves more values possible",
        reference="Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam: l-diversity, ACM TKDD 1 (2007)",
        compute=diversity,
    ),
    "closeness": Measure(
        kind="risk",
        title="t-closeness",
        definition=(
            "The largest earth mover's distance between the distribution of a confidential column in a "
            "class and in the file."
        ),
        formula=(
            "max over classes of Σ_i |P_i − Q_i| / (m − 1) for numbers (P, Q cumulative shares of the m "
            "values), ½ Σ_i |p_i − q_i| for others"
        ),
        unit="distance",
        range="0 to 1, 0 is the safest",
        higher="the class reveals more about the confidential value",
        reference="Li, Li, Venkatasubramanian: t-closeness, ICDE (2007)",
        compute=closeness,
    ),
    "confidential_range": Measure(
        kind="risk",
        title="Range of confidential values",
        definition=(
            "The smallest range of a confidential number in a class, as a share of its range in the file."
        ),
        formula="min over classes c of (max_c z − min_c z) / (max z − min z)",
        unit="share",
        range="0 to 1; 0 means that some class gives its value away",
        higher="better: a class leaves a wider range possible",
        reference="The same for numbers that are nearly constant in a class: " + VLDBJ06,
        compute=confidential_range,
    ),
    "homogeneous": Measure(
        kind="risk",
        title="Homogeneous classes",
        definition="The number of classes in which a confidential column has one value only.",
        formula="Σ over classes c of [some confidential column is constant in c]",
        unit="classes",
        range="0 to the number of classes, 0 is the safest",
        higher="more classes give a confidential value away for certain",
        reference=VLDBJ06,
        compute=homogeneous,
    ),
    "key_confidential": Measure(
        kind="risk",
        title="Columns that follow from the keys",
        definition=(
            "The largest share of records that an intruder picks out of their class by predicting an "
            "untouched column from the original keys and taking the record with the nearest value."
        ),
        formula=(
            "max over untouched columns z of (1/n) Σ_i [z_i is nearest to ẑ_i in the class of i] / (number "
            "as near), ẑ: least squares on the keys"
        ),
        unit="share",
        range="0 to 1; chance gives one over the mean class size",
        higher="untouched columns undo more of the protection",
        reference=VLDBJ06,
        compute=key_confidential,
    ),
    "dominance": Measure(
        kind="risk",
        title="Dominance",
        definition="The largest share that one record has in its group's total of a column.",
        formula=(
            "max over groups and columns of max_i w_i|x_i| / Σ_i w_i|x_i|; a total fails the p %-rule if "
            "it exceeds its two largest terms by less than p % of the largest"
        ),
        unit="share",
        range="1/n to 1",
        higher="a published mean reveals more about one respondent",
        reference="Hundepool and others: Statistical Disclosure Control (2012), on the p %-rule",
        compute=dominance,
    ),
}
