"""The work that a scheduler gives one Spark application."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Literal

from spark_joinery.metadata import ArtifactRequest


@dataclass(frozen=True)
class Batch:
    """Artifacts that one Spark application refreshes, one after the other.

    Attributes:
        requests: Artifacts to refresh; an empty list only checks that Spark and the store can be reached.
        store: Folder or URI of the artifact store; None for the conf `spark.joinery.store`.
        schema: Schema in which distributions are registered.
        full_refresh: Read everything, even if little or nothing is new.
        confs: Settings for the session, in addition to the ones that Spark is started with.
        orphan_after_s: The program ends itself if its scheduler has not looked after it for so many seconds.
        report: Write a report into the folder: "redacted", or with "values" of the sources; None for no report.
    """

    requests: list[ArtifactRequest]
    store: str | None = None
    schema: str = "joinery"
    full_refresh: bool = False
    confs: dict[str, str] = field(default_factory=dict)
    orphan_after_s: float = 60.0
    report: Literal["redacted", "values"] | None = None

    def to_json(self) -> str:
        """Write the batch as text.

        Returns:
            JSON, which may hold secrets of `confs`.
        """
        return json.dumps({**asdict(self), "requests": [request.to_dict() for request in self.requests]})

    @classmethod
    def from_json(cls, text: str) -> Batch:
        """Read what `to_json` has written.

        Args:
            text: The JSON.

        Returns:
            The batch.
        """
        document = json.loads(text)
        requests = [ArtifactRequest.from_dict(request) for request in document.pop("requests")]
        return cls(requests, **document)
