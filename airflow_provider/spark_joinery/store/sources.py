"""Compare artifacts with their sources as they are now."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeAlias

from spark_joinery.cause import one_line
from spark_joinery.metadata import split_name
from spark_joinery.store.validity import Coverage, SourceNow, Validity, coverage_of, validity_of
from spark_joinery.store.version import ArtifactVersion

log = logging.getLogger(__name__)

Look: TypeAlias = Callable[[str, ArtifactVersion], "SourceNow | None"]


def path_of(relation: str, version: ArtifactVersion) -> str:
    """The path of a source as it was declared, by which it can be reached.

    The identity has scheme and authority in lower case, but a cluster may be configured with another spelling.

    Args:
        relation: Identity of the source, which is a path.
        version: A version of one of its artifacts.

    Returns:
        The path; the identity if the version is of an older release, which did not note it.
    """
    declared = version.description.get("sql_name")
    return split_name(declared)[-1] if declared else relation


class Sources:
    """The sources of some artifacts, each looked at once.

    Args:
        look: Function that returns a source as it is now, or None if it does not exist. It may raise any error of
            Spark, catalogs and file systems. If `look` is None, no source is looked at.
        say: Function that turns an error into a reason. It must not quote data if the reader hides data.
    """

    def __init__(self, look: Look | None, say: Callable[[Exception], str] = one_line) -> None:
        self._look = look
        self._say = say
        self._seen: dict[str, SourceNow | str] = {}

    def compare(self, relation: str, version: ArtifactVersion) -> tuple[Validity, Coverage | None]:
        """Compare a version with its source.

        Args:
            relation: Identity of the source.
            version: The version.

        Returns:
            Whether the jar uses it, or why that is not known; and how many of the source's files it covers, if the
            source is known by files.
        """
        if relation not in self._seen:
            self._seen[relation] = self._seen_now(relation, version)
        seen = self._seen[relation]
        if isinstance(seen, str):
            validity = validity_of(version, None)
            return (Validity(None, seen) if validity.usable is None else validity), None
        coverage = None
        if seen.listing is not None and version.fingerprint["type"] == "files":
            coverage = coverage_of(version.fingerprint, seen.listing)
        return validity_of(version, seen), coverage

    def _seen_now(self, relation: str, version: ArtifactVersion) -> SourceNow | str:
        """The source, or the reason why it is not known."""
        if self._look is None:
            return "the source was not looked at"
        try:
            return self._look(relation, version) or f"{relation} does not exist"
        except Exception as error:
            # the other facts about the artifact are worth having even if its source cannot be read
            log.info("%s cannot be read", relation, exc_info=True)
            return f"the source cannot be read: {self._say(error)}"
