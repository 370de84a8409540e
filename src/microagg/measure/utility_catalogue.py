"""The measures of utility, in the order in which they are shown.

In formulas x is the original and y the masked table, s_j the standard deviation of column j of the
original, n the number of records and p that of the columns; r is a correlation, e an eigenvalue, λ₁ the
largest one.
All leave out cells that are missing before or after, and columns that are constant in the original.
"""

from __future__ import annotations

from microagg.measure import deviations, moments
from microagg.measure.catalogue import Measure
from microagg.measure.probabilistic import pil
from microagg.measure.propensity import propensity

_CMP98 = "Mateo-Sanz and Domingo-Ferrer (1998), A comparative study of microaggregation methods"
_VLDBJ06 = "Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz and Sebé (2006), VLDB Journal 15"
_MOMENTS = "Domingo-Ferrer, Mateo-Sanz and Torra (2001), Comparing SDC methods for microdata"
_PAIRS = "0 to 2, 0 is the best"
_PERCENT = "0 % upwards, 0 % is the best"

UTILITY: dict[str, Measure] = {
    "il": Measure(
        kind="utility",
        title="Information loss",
        definition="How much of the variability of the standardised columns was lost inside the groups.",
        formula=(
            "IL = 100 · SSE / SST, SSE = Σ_ij ((x_ij − y_ij) / s_j)², SST = Σ_ij ((x_ij − x̄_j) / s_j)²"
        ),
        unit="%",
        range="0 to 100 % for group means, 0 % is the best; more is possible for other masking",
        higher="more detail was lost",
        reference=_VLDBJ06,
        compute=deviations.il,
    ),
    "il_subsets": Measure(
        kind="utility",
        title="Information loss by subset",
        definition="Information loss of the columns that were masked together; the value is the largest.",
        formula="max over subsets S of 100 · SSE_S / SST_S, summed over the columns of S",
        unit="%",
        range="0 to 100 % for group means, 0 % is the best",
        higher="some subset of columns lost more detail",
        reference=_VLDBJ06,
        compute=deviations.il_subsets,
    ),
    "il_strata": Measure(
        kind="utility",
        title="Information loss by stratum",
        definition="What share of each stratum's own variability was lost; the value is the largest.",
        formula="max over strata h of 100 · SSE_h / SST_h, SST_h around the means of the stratum",
        unit="%",
        range="0 to 100 % for means of groups inside strata, 0 % is the best",
        higher="analyses of some stratum by itself lost more detail",
        reference="IL, VLDBJ06, taken within strata",
        compute=deviations.il_strata,
    ),
    "il1s": Measure(
        kind="utility",
        title="IL1s, mean",
        definition="How far a cell has moved on average, in standard deviations times √2.",
        formula="IL1s = 1/(np) · Σ_ij |x_ij − y_ij| / (√2 s_j), s_j with divisor n − 1",
        unit="",
        range="0 upwards, 0 is the best; about 0.8 if each cell were another record's and normal",
        higher="cells have moved farther",
        reference="Yancey, Winkler and Creecy (2002), LNCS 2316",
        compute=deviations.il1s,
    ),
    "il1s_sum": Measure(
        kind="utility",
        title="IL1s, sum",
        definition="IL1s summed over all cells, as sdcMicro prints it.",
        formula="Σ_ij |x_ij − y_ij| / (√2 s_j)",
        unit="",
        range="0 upwards, 0 is the best; grows with the number of cells",
        higher="cells have moved farther, or there are more of them",
        reference="sdcMicro, dUtility",
        compute=deviations.il1s_sum,
    ),
    "eigenvalues": Measure(
        kind="utility",
        title="Change of eigenvalues",
        definition="How much the variances of the principal components have changed, relative to before.",
        formula="Σ_j |e_j − e'_j| / e_j over the sorted eigenvalues of the correlation matrices",
        unit="",
        range="0 upwards, 0 is the best",
        higher="the structure of correlations has changed more",
        reference="sdcMicro, dUtility",
        compute=moments.eigenvalues,
    ),
    "means": Measure(
        kind="utility",
        title="Change of means",
        definition="Mean absolute change of the columns' means, in percent of their standard deviations.",
        formula="100/p · Σ_j |ȳ_j − x̄_j| / s_j; by column with sign",
        unit="%",
        range=f"{_PERCENT}; group means keep means but for rounding",
        higher="means have moved farther",
        reference=_MOMENTS,
        compute=moments.means,
    ),
    "variances": Measure(
        kind="utility",
        title="Change of variances",
        definition="Mean absolute change of the columns' variances, in percent of the original ones.",
        formula="100/p · Σ_j |s²(y_j) − s²(x_j)| / s²(x_j); by column with sign",
        unit="%",
        range=f"{_PERCENT}; for group means at most 100 %, and variances only fall",
        higher="variances, standard errors and tests are farther off",
        reference=_MOMENTS,
        compute=moments.variances,
    ),
    "quantiles": Measure(
        kind="utility",
        title="Change of quantiles",
        definition="Mean absolute change of the quantiles, in percent of the columns' standard deviations.",
        formula="100/(19p) · Σ_j Σ_q |Q_q(y_j) − Q_q(x_j)| / s_j, q = 5 %, 10 %, …, 95 %",
        unit="%",
        range=_PERCENT,
        higher="the columns' distributions have changed more",
        reference=_MOMENTS,
        compute=moments.quantiles,
    ),
    "covariances": Measure(
        kind="utility",
        title="Change of covariances",
        definition="Mean absolute change of covariances, in percent of products of standard deviations.",
        formula="100 · mean over i < j of |cov(y_i, y_j) − cov(x_i, x_j)| / (s_i s_j)",
        unit="%",
        range=_PERCENT,
        higher="covariances have changed more",
        reference=_MOMENTS,
        compute=moments.covariances,
    ),
    "correlations": Measure(
        kind="utility",
        title="Change of correlations",
        definition="Mean absolute change of Pearson's correlation over all pairs of columns.",
        formula="mean over i < j of |r(y_i, y_j) − r(x_i, x_j)|",
        unit="",
        range=_PAIRS,
        higher="columns are related less as they were; group means tend to raise correlations",
        reference=_CMP98,
        compute=moments.correlations,
    ),
    "rank_correlations": Measure(
        kind="utility",
        title="Change of rank correlations",
        definition="Mean absolute change of Spearman's correlation over all pairs of columns.",
        formula="mean over i < j of |ρ(y_i, y_j) − ρ(x_i, x_j)|, ρ: r of mean ranks",
        unit="",
        range=_PAIRS,
        higher="the columns' orders are related less as they were",
        reference="Spearman (1904); the change as for Pearson's r in CMP98",
        compute=moments.rank_correlations,
    ),
    "mean_deviation": Measure(
        kind="utility",
        title="Mean standard deviation",
        definition="The columns' mean standard deviation after masking, each original one being 1.",
        formula="1/p · Σ_j s(y_j) / s(x_j)",
        unit="",
        range="0 to 1 for group means, 1 is the best",
        higher="more of the spread was kept",
        reference=_CMP98,
        compute=moments.mean_deviation,
    ),
    "fpc_correlation": Measure(
        kind="utility",
        title="ΔR, correlation with the first component",
        definition="Mean change of the columns' correlations with the first principal component.",
        formula="100/p · Σ_j |R'_j − R_j| / |R_j|, R_j = a_j √λ₁, a the unit vector of the component",
        unit="%",
        range=_PERCENT,
        higher="the first component means something else",
        reference=_CMP98,
        compute=moments.fpc_correlation,
    ),
    "fpc_weight": Measure(
        kind="utility",
        title="ΔW, weight in the first component",
        definition="Mean change of the columns' weights in the first principal component.",
        formula="100/p · Σ_j |W'_j − W_j| / |W_j|, W_j = a_j / √λ₁, a the unit vector of the component",
        unit="%",
        range=_PERCENT,
        higher="the first component is made up differently",
        reference=_CMP98,
        compute=moments.fpc_weight,
    ),
    "fpc_share": Measure(
        kind="utility",
        title="%FPC, share of the first component",
        definition="Share of the masked table's variability that its first principal component explains.",
        formula="100 · λ₁ / p of the correlation matrix of y",
        unit="%",
        range="100/p to 100 %; the original's share, among the parts, is the best",
        higher="the masked table has fewer dimensions; masking tends to raise it",
        reference=_CMP98,
        compute=moments.fpc_share,
    ),
    "correlation_change_deviation": Measure(
        kind="utility",
        title="Standard deviation of |Δr|",
        definition="How unequal the changes of the correlations are over all pairs of columns.",
        formula="sample standard deviation over i < j of |r(y_i, y_j) − r(x_i, x_j)|",
        unit="",
        range="0 to √2, 0 is the best",
        higher="some correlations have changed much more than others",
        reference=_CMP98,
        compute=moments.correlation_change_deviation,
    ),
    "pil": Measure(
        kind="utility",
        title="Probabilistic information loss",
        definition=(
            "Probability that a sample as large as the table would differ less from the original than the "
            "masked table does, averaged over quantiles, means, variances, covariances and correlations."
        ),
        formula="100 · mean of P(|Z| ≤ |θ' − θ| / √Var(θ)), Z standard normal, θ a statistic of x, θ' of y",
        unit="%",
        range="0 to 100 %, 0 % is the best; for the same change it is higher the more records there are",
        higher="statistics differ by more than sampling would explain",
        reference="Mateo-Sanz, Domingo-Ferrer and Sebé (2005), Data Mining and Knowledge Discovery 11",
        compute=pil,
    ),
    "propensity": Measure(
        kind="utility",
        title="Propensity score ratio (pMSE)",
        definition=(
            "How well a logistic regression separates masked from original records, relative to chance."
        ),
        formula="[1/N · Σ (p_i − 1/2)²] / [(t − 1)(1 − c)² c / N], c = 1/2, t terms, N records in all",
        unit="",
        range="0 upwards, 0 for identical tables; 1 is expected of random draws from the original",
        higher="masked records are easier to distinguish from original ones",
        reference="Snoke, Raab, Nowok, Dibben and Slavković (2018), J. R. Statist. Soc. A 181",
        compute=propensity,
    ),
}
