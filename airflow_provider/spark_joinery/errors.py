"""Errors that Joinery raises on purpose: each message names the problem and its remedy."""

from __future__ import annotations

from spark_joinery.text import printable


class JoineryError(Exception):
    """Base class of every error Joinery raises; catch this one to catch them all.

    Messages name relations, columns and files; control characters in these names are escaped.
    """

    def __str__(self) -> str:
        return printable(super().__str__())


class InvalidArgumentError(JoineryError, ValueError):
    """An argument has the wrong type or value."""


class UnsupportedSparkError(JoineryError):
    """No jar is built for this version of Spark."""


class JarNotFoundError(JoineryError):
    """This version of Spark is supported, but its jar is not on the disk."""


class JarNotLoadedError(JoineryError):
    """The Spark session runs without the Joinery extension."""


class SparkNotStartedError(JoineryError):
    """Spark does not start: it finds no Java or no master, or a setting is wrong."""


class JoineryWarning(UserWarning):
    """Something works, but not the way the caller probably expects."""
