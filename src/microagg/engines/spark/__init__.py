"""`protect` on Apache Spark, for data of any size, with the same options, refusals and verdict."""
