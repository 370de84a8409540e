"""The whole sentence on Apache Spark: the same words, refusals and verdict for data of any size."""
