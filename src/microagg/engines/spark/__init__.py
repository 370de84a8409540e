"""`protect` on Apache Spark, for data of any size, with the same options, refusals and verdict."""


def is_spark_frame(data: object) -> bool:
    """Whether something is a data frame of Spark; does not import it."""
    return any(
        kind.__module__.startswith("pyspark.sql") and kind.__name__ == "DataFrame"
        for kind in type(data).__mro__
    )
