"""The browser face, for `microagg serve`: a page on this machine that leads from a file to a release.

Nothing here knows about methods, roles or safety: it asks for words, hands them to the engines in processes
of their own, and shows what they say.
"""
