"""The trigger that waits for a refresh."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent

from spark_joinery.batch import BatchFolder
from spark_joinery.cause import refusal


class RefreshTrigger(BaseTrigger):
    """
    Wait until a batch has ended, and end it if its task is killed, or its time is over.

    Airflow's own time-out of a deferred task notifies neither the trigger nor the operator.

    :param folder: of the batch, in a directory that the triggerer shares with the driver
    :param poll_interval: seconds between looks
    :param lost_after: seconds without a sign of life after which the batch counts as lost
    :param deadline: moment at which the batch is ended, in seconds since 1970; default: never
    """

    def __init__(
        self, folder: str, poll_interval: float = 2.0, lost_after: float = 120.0, deadline: float | None = None
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.folder = folder
        self.poll_interval = poll_interval
        self.lost_after = lost_after
        self.deadline = deadline

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """
        Say how to make this trigger again, in another process.

        :return: class path and arguments
        """
        return (
            "spark_joinery.airflow.triggers.refresh.RefreshTrigger",
            {
                "folder": self.folder,
                "poll_interval": self.poll_interval,
                "lost_after": self.lost_after,
                "deadline": self.deadline,
            },
        )

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """
        Look until the batch has ended.

        :return: one event: ``folder``, and ``problem``: None, or a text if the batch is lost or ran out of time
        """
        folder = BatchFolder(Path(self.folder))
        heartbeat, seen_at = -1.0, time.monotonic()
        while True:
            try:
                latest, has_ended = await asyncio.to_thread(_look, folder)
            except OSError as error:
                yield self._event(f"{folder.path} cannot be read by the triggerer ({refusal(error)}): {SHARED}")
                return
            if has_ended:
                yield self._event(None)
                return
            # measured by this process's clock, not by the file's time: clocks of two machines differ
            if latest != heartbeat:
                heartbeat, seen_at = latest, time.monotonic()
            elif time.monotonic() - seen_at > self.lost_after:
                yield self._event(f"Spark's driver has given no sign of life for {self.lost_after:.0f} s")
                return
            if self.deadline is not None and time.time() > self.deadline:
                yield self._event(await asyncio.to_thread(_end, folder))
                return
            await asyncio.sleep(self.poll_interval)

    async def on_kill(self) -> None:
        """End the batch, as a user has marked its task as failed or successful, or cleared it."""
        self.log.info("The task was ended by a user, and its batch with it")
        await asyncio.to_thread(BatchFolder(Path(self.folder)).cancel)

    def _event(self, problem: str | None) -> TriggerEvent:
        return TriggerEvent({"folder": self.folder, "problem": problem})  # type: ignore[no-untyped-call]


# the program looks for a cancellation twice a second
_CANCEL_S = 5.0
_CANCEL_POLL_S = 0.1
SHARED = "'run_dir' of the Joinery connection has to be a directory that workers, drivers and triggerers share"


def _look(folder: BatchFolder) -> tuple[float, bool]:
    """The time of the last heartbeat, and whether the batch has ended."""
    folder.look_after()
    return folder.last_heartbeat(), folder.progress().has_ended


def _end(folder: BatchFolder) -> str:
    """Cancel a batch whose time is over, and wait for its end, so that a retry does not run at the same time."""
    # if the disk refuses, the operator tries once more
    with contextlib.suppress(OSError):
        folder.cancel()
        given_up_at = time.monotonic() + _CANCEL_S
        while not folder.progress().has_ended and time.monotonic() < given_up_at:
            time.sleep(_CANCEL_POLL_S)
    return (
        "The refresh took longer than 'execution_timeout' ('refresh_timeout' of the nightly DAG) allows, and was ended"
    )
