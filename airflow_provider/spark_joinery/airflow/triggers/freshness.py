"""The trigger that waits for artifacts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent

from spark_joinery.airflow.freshness import ArtifactKey, problems_of


class FreshnessTrigger(BaseTrigger):
    """
    Wait until artifacts are there and young enough.

    :param store: directory of the store
    :param artifacts: kind, relation and hash of the specification of each
    :param max_age_s: age in seconds up to which an artifact is fresh; None for any age
    :param poke_interval: seconds between looks
    """

    def __init__(
        self, store: str, artifacts: list[list[str]], max_age_s: float | None = None, poke_interval: float = 60.0
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.store = store
        self.artifacts = artifacts
        self.max_age_s = max_age_s
        self.poke_interval = poke_interval

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """
        Say how to make this trigger again, in another process.

        :return: class path and arguments
        """
        return (
            "spark_joinery.airflow.triggers.freshness.FreshnessTrigger",
            {
                "store": self.store,
                "artifacts": self.artifacts,
                "max_age_s": self.max_age_s,
                "poke_interval": self.poke_interval,
            },
        )

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """
        Look until all artifacts are fresh.

        :return: one event: ``error``, a text if the store cannot be read
        """
        keys = [ArtifactKey(*artifact) for artifact in self.artifacts]
        while True:
            try:
                problems = await asyncio.to_thread(problems_of, self.store, keys, self.max_age_s)
            except OSError as error:
                yield TriggerEvent({"error": f"the store {self.store} cannot be read: {error}"})  # type: ignore[no-untyped-call]
                return
            if not problems:
                yield TriggerEvent({"error": None})  # type: ignore[no-untyped-call]
                return
            self.log.info("Waiting for %s", "; ".join(f"{key}: {problem}" for key, problem in problems.items()))
            await asyncio.sleep(self.poke_interval)
