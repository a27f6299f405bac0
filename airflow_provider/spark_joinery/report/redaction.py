"""Take the source's values out of a report, before anything is drawn or written."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from spark_joinery.report.model import Distribution, HeavyKey, Outcome, Report, ReportedArtifact

HIDDEN = "…"

# A literal ends at the next quote of its kind if there are no backslashes or comments: their meaning is a setting's.
_TOKEN = re.compile(
    r"""(?P<hidden>'[^']*'|"[^"]*"|(?<![\w`])\.?\d[\w.]*)
      | (?P<shown>`[^`]*`|[^\W\d]\w*|\s+|[^\w\s'"`])""",
    re.VERBOSE,
)
_UNSURE = re.compile(r"\\|--|/\*|\$\$")
# the beginning of an error's message in Spark; the rest may quote rows and conditions
_SPARK_CONDITION = re.compile(r"\[[A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)*\] ")


def redact(report: Report) -> Report:
    """Hide the values of keys and quantiles, and the values in conditions, in paths of partitions and in errors.

    Counts, shares, sizes, times, and the names of relations and columns stay.

    Args:
        report: A report with its values.

    Returns:
        A report that holds none of the source's values.

    Example:
        >>> render(redact(report))
    """
    return replace(
        report,
        store=_path(report.store),
        artifacts=tuple(_artifact(artifact) for artifact in report.artifacts),
        run=tuple(_outcome(outcome) for outcome in report.run),
        redacted=True,
    )


def condition(text: str) -> str:
    """Hide the literals of a SQL condition.

    Args:
        text: Such as "manufacturer = 'CESSNA' AND seats > 4".

    Returns:
        The text with "…" for each literal, or "…" alone if it is not plain which parts are literals.

    Example:
        >>> condition("manufacturer = 'CESSNA' AND seats > 4")
        'manufacturer = … AND seats > …'
    """
    if _UNSURE.search(text):
        return HIDDEN
    found: list[str] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:  # a quote without its end
            return HIDDEN
        found.append(match["shown"] or HIDDEN)
        at = match.end()
    return "".join(found)


def _outcome(outcome: Outcome) -> Outcome:
    reason = outcome.reason
    if reason:
        reason = _error(reason) if outcome.state == "failed" else _path(reason)
    return replace(outcome, relation=_path(outcome.relation), reason=reason)


def _error(message: str) -> str:
    """Keep only Spark's name of an error: any word of its message may be a value."""
    named = _SPARK_CONDITION.match(message)
    return f"{named[0] if named else ''}{HIDDEN} (the task's log has the message)"


def _artifact(artifact: ReportedArtifact) -> ReportedArtifact:
    description: dict[str, Any] = dict(artifact.description)
    if where := artifact.spec.get("where"):
        description["spec"] = {**artifact.spec, "where": condition(str(where))}
    return replace(
        artifact,
        relation=_path(artifact.relation),
        description=description,
        problem=artifact.problem and _path(artifact.problem),
        validity=artifact.validity and replace(artifact.validity, reason=_path(artifact.validity.reason)),
        distribution=artifact.distribution and _distribution(artifact.distribution),
    )


def _distribution(distribution: Distribution) -> Distribution:
    heaviest = tuple(
        _key(key, f"key {number}", distribution.parts) for number, key in enumerate(distribution.heaviest, 1)
    )
    return replace(distribution, key_columns=(", ".join(distribution.key_columns),), heaviest=heaviest)


def _key(key: HeavyKey, name: str, parts: int) -> HeavyKey:
    # equal boundaries are stored once: if some are missing, the positions of the others are not known
    whole = len(key.boundaries) == parts - 1
    positions = tuple(f"{i}/{parts}" if whole else f"boundary {i}" for i in range(1, len(key.boundaries) + 1))
    return replace(key, values=(name,), boundaries=positions)


def _path(text: str) -> str:
    """Hide the values of partitions, as in `/data/flights/carrier=AA`."""
    return re.sub(r"=[^/]*", f"={HIDDEN}", text) if "/" in text else text
