"""Errors that Joinery raises on purpose: each message says what is wrong and what to do about it."""

from __future__ import annotations

from spark_joinery.text import printable


class JoineryError(Exception):
    """Base class of every error Joinery raises; catch this one to catch them all.

    Messages name relations, columns and files: a terminal or log gets their control characters escaped.
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
    """Spark does not start, for want of Java, of a master, or by a setting."""


class JoineryWarning(UserWarning):
    """Something works, but not the way the caller probably expects."""
