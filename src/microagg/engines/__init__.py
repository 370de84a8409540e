"""The whole sentence, from microdata to a verified release."""
