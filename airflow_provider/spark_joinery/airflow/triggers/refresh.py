"""The trigger that waits for a refresh."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent

from spark_joinery.batch import BatchFolder
from spark_joinery.cause import refusal


class RefreshTrigger(BaseTrigger):
    """
    Wait until a batch has ended, and end it if its task is killed.

    :param folder: of the batch, in a directory that the triggerer shares with the driver
    :param poll_interval: seconds between looks
    :param lost_after: seconds without a sign of life after which the batch counts as lost
    """

    def __init__(self, folder: str, poll_interval: float = 2.0, lost_after: float = 120.0) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.folder = folder
        self.poll_interval = poll_interval
        self.lost_after = lost_after

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """
        Say how to make this trigger again, in another process.

        :return: class path and arguments
        """
        return (
            "spark_joinery.airflow.triggers.refresh.RefreshTrigger",
            {"folder": self.folder, "poll_interval": self.poll_interval, "lost_after": self.lost_after},
        )

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """
        Look until the batch has ended.

        :return: one event: ``folder``, and ``problem``, a text if the batch is lost
        """
        folder = BatchFolder(Path(self.folder))
        beaten_at, seen_at = -1.0, time.monotonic()
        while True:
            try:
                latest, has_ended = await asyncio.to_thread(_look, folder)
            except OSError as error:
                yield self._event(f"{folder.path} cannot be read by the triggerer ({refusal(error)}): {_SHARED}")
                return
            if has_ended:
                yield self._event(None)
                return
            # the time of a change, not of the file: clocks of two machines differ
            if latest != beaten_at:
                beaten_at, seen_at = latest, time.monotonic()
            elif time.monotonic() - seen_at > self.lost_after:
                yield self._event(f"Spark's driver has given no sign of life for {self.lost_after:.0f} s")
                return
            await asyncio.sleep(self.poll_interval)

    async def on_kill(self) -> None:
        """End the batch: somebody has marked its task as failed or successful, or cleared it."""
        self.log.info("The task was ended by a user, and its batch with it")
        await asyncio.to_thread(BatchFolder(Path(self.folder)).cancel)

    def _event(self, problem: str | None) -> TriggerEvent:
        return TriggerEvent({"folder": self.folder, "problem": problem})  # type: ignore[no-untyped-call]


_SHARED = "'run_dir' of the Joinery connection has to be a directory that workers, drivers and triggerers share"


def _look(folder: BatchFolder) -> tuple[float, bool]:
    """When the batch has last shown that it is alive, and whether it has ended."""
    folder.look_after()
    return folder.beaten_at(), folder.progress().has_ended
