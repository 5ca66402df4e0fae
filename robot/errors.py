"""Errors that a person can act on."""


class BadRequest(ValueError):
    """The request was wrong; the text names the file, the place in it and what was expected. Exit status 2."""
