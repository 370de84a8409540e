"""The browser face, for `microagg serve`: pages on this machine that lead from a file to a release.

Nothing here knows about methods, roles or safety: it asks for settings, hands them to the engines in
processes of their own, and shows their answers.
"""
