# Rscript sdcmicro.R data.csv k masked.csv: prints the version and the CPU seconds of MDAV.
# Exit code 3: the package is not installed.
if (!requireNamespace("sdcMicro", quietly = TRUE)) quit(status = 3)
words <- commandArgs(trailingOnly = TRUE)
data <- read.csv(words[1], header = FALSE)
spent <- system.time(
  masked <- sdcMicro::microaggregation(data, method = "mdav", aggr = as.integer(words[2]))
)
write.table(masked$mx, words[3], sep = ",", row.names = FALSE, col.names = FALSE)
cat(format(packageVersion("sdcMicro")), spent[["user.self"]] + spent[["sys.self"]], "\n")
