"""What a scheduler asks of one Spark application."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Literal

from spark_joinery.metadata import ArtifactRequest


@dataclass(frozen=True)
class Batch:
    """Artifacts that one Spark application refreshes, one after the other.

    Attributes:
        requests: What to refresh; none to see only whether Spark and the store can be reached.
        store: Folder or URI of the artifact store; None for the conf `spark.joinery.store`.
        schema: Schema in which distributions are registered.
        full_refresh: Read everything, also where nothing or little is new.
        confs: Settings for the session, beside those that Spark is started with.
        orphan_after_s: The program ends itself when nobody has looked after it for so long, in seconds.
        report: Write a report on these artifacts into the folder, "redacted" or with "values" of the sources.
    """

    requests: list[ArtifactRequest]
    store: str | None = None
    schema: str = "joinery"
    full_refresh: bool = False
    confs: dict[str, str] = field(default_factory=dict)
    orphan_after_s: float = 60.0
    report: Literal["redacted", "values"] | None = None

    def to_json(self) -> str:
        """Write it down.

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
