"""The progress of a batch."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

State = Literal["starting", "running", "done", "failed", "cancelled"]


@dataclass(frozen=True)
class Progress:
    """The progress of a batch, as the batch reports it.

    Attributes:
        state: "starting" until Spark is there, then "running"; "done" when all artifacts were tried; "failed" if none
            could be; "cancelled" by a user, or because its scheduler was gone.
        application_id: Spark's id of the application, if known.
        ui: Address of Spark's UI while it runs, if it has one.
        spark: Version of Spark.
        extension: Whether the session has the Joinery extension.
        store: The artifact store as it was opened.
        results: The fields of a `RefreshResult` for each artifact that was tried.
        report_error: Why there is no report, though one was asked for.
        error: Why it failed, or was cancelled.
        retryable: Whether trying again may help, if it failed.
    """

    state: State = "starting"
    application_id: str | None = None
    ui: str | None = None
    spark: str | None = None
    extension: bool | None = None
    store: str | None = None
    results: tuple[dict[str, Any], ...] = ()
    report_error: str | None = None
    error: str | None = None
    retryable: bool = True

    @property
    def has_ended(self) -> bool:
        """Whether the batch has ended."""
        return self.state in ("done", "failed", "cancelled")

    def to_json(self) -> str:
        """Write the progress as text.

        Returns:
            JSON.
        """
        return json.dumps(asdict(self), default=str)

    @classmethod
    def from_json(cls, text: str) -> Progress:
        """Read what `to_json` has written.

        Args:
            text: The JSON.

        Returns:
            The progress.
        """
        document = json.loads(text)
        return cls(**{**document, "results": tuple(document["results"])})
