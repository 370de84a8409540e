"""A source and its settings -> problems: numbers, strata, patterns of missing values, common units."""
