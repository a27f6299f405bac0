"""A batch that runs in a process of its own, started and watched by a task."""

from __future__ import annotations

import logging
import math
import os
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from airflow.providers.common.compat.sdk import AirflowException

from spark_joinery.airflow.credentials import without_credentials
from spark_joinery.airflow.target import SparkTarget
from spark_joinery.batch import Batch, BatchFolder, Progress
from spark_joinery.cause import refusal

log = logging.getLogger(__name__)

_POLL_S = 0.25
# The program checks twice a second whether it is cancelled. Both limits together are less than ten seconds, in which
# Spark has to be gone.
_CANCEL_S = 4.0
_TERMINATE_S = 3.0


class SparkApplication:
    """
    A batch and the process group that runs it.

    :param target: where Spark runs
    :param folder: of the batch
    """

    def __init__(self, target: SparkTarget, folder: BatchFolder) -> None:
        self.folder = folder
        self._target = target
        self._process: subprocess.Popen[bytes] | None = None

    @classmethod
    def start(cls, target: SparkTarget, batch: Batch, run_dir: str | None = None) -> SparkApplication:
        """
        Start a batch.

        :param target: where Spark runs
        :param batch: what to do; the settings of the target are added to its own
        :param run_dir: directory for the batch's folder; default: a temporary one
        :return: the running application
        :raises AirflowException: if the folder cannot be made
        """
        parent = Path(run_dir or tempfile.gettempdir())
        try:
            folder = BatchFolder.create(parent / f"joinery-{uuid.uuid4().hex}", batch)
        except OSError as error:
            raise AirflowException(
                f"the directory for runs, {parent}, cannot be written ({refusal(error)}): give the worker's user the "
                "right to, or name another one ('run_dir' in the connection's extra)"
            ) from error
        application = cls(target, folder)
        try:
            target.prepare(folder)
            application._run(target.command(folder))
        except BaseException:  # a time-out of Airflow's is no Exception
            application.cancel()
            folder.remove()
            raise
        return application

    def _run(self, command: list[str]) -> None:
        log.info("Starting %s", " ".join(command))
        with self.folder.log.open("wb") as output:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=self._target.environment(),
                # a group of its own, so that all of Spark's processes can be ended together
                start_new_session=True,
            )

    def wait_until_alive(self) -> None:
        """
        Wait until the program runs, which may take long in a cluster's queue.

        :raises AirflowException: if it ended before
        """
        while not self.folder.last_heartbeat() and not self._has_exited():
            self.folder.look_after()
            time.sleep(_POLL_S)
        if not self.folder.last_heartbeat():
            raise self._lost()

    def wait_for_spark(self, limit_s: float) -> Progress:
        """
        Wait for a while until Spark is there.

        :param limit_s: seconds after which the wait ends
        :return: the program's progress
        """
        deadline = time.monotonic() + limit_s
        while True:
            self.folder.look_after()
            progress = self.folder.progress()
            if progress.state != "starting" or self._has_exited() or time.monotonic() > deadline:
                return progress
            time.sleep(_POLL_S)

    def wait(
        self,
        on_start: Callable[[Progress], None] = lambda progress: None,
        on_result: Callable[[dict[str, Any]], None] = lambda result: None,
        limit_s: float = math.inf,
    ) -> Progress:
        """
        Wait until the program has ended.

        :param on_start: called when Spark is there
        :param on_result: called with each result as soon as it is there
        :param limit_s: seconds after which the program is cancelled
        :return: its last progress, with the state "done" or "failed"
        :raises AirflowException: if it was cancelled, or ended before its work was done
        """
        seen, deadline, started = 0, time.monotonic() + limit_s, False
        while True:
            exited = self._has_exited()
            self.folder.look_after()
            progress = self.folder.progress()
            if progress.spark and not started:
                started = True
                log.info("Spark %s runs as %s", progress.spark, progress.application_id or "a client of a server")
                on_start(progress)
            for result in progress.results[seen:]:
                on_result(result)
            seen = len(progress.results)
            if exited:
                break
            if time.monotonic() > deadline:
                self.cancel()
                raise AirflowException(f"Spark did not answer within {limit_s:.0f} s\n{self._shown_log()}")
            time.sleep(_POLL_S)
        # a program whose JVM was killed reports that it failed, but not why
        if progress.state == "done" or (progress.state == "failed" and not self._was_killed()):
            return progress
        raise self._lost()

    def cancel(self) -> None:
        """End the program and all processes that it started, within seven seconds."""
        self.folder.cancel()
        if self._process is None or self._ended_within(_CANCEL_S):
            return
        self._signal(signal.SIGTERM)
        if not self._ended_within(_TERMINATE_S):
            self._signal(signal.SIGKILL)
            self._process.wait()

    def _has_exited(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def _was_killed(self) -> bool:
        """Popen gives the negative number of the signal that ended a process."""
        return self._process is not None and (self._process.returncode or 0) < 0

    def _ended_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while not self._has_exited():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.1)
        return True

    def _signal(self, number: int) -> None:
        assert self._process is not None
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            log.info("The processes of Spark have ended already")

    def _lost(self) -> AirflowException:
        """The error of a program that has ended before its work was done."""
        progress = self.folder.progress()
        if progress.state == "cancelled":
            return AirflowException(f"The refresh was ended: {progress.error}")
        code = self._process.returncode if self._process else None
        return AirflowException(
            f"Spark has ended before its work was done (exit code {code}). The end of its log:\n{self._shown_log()}"
        )

    def _shown_log(self) -> str:
        return without_credentials(self.folder.log_tail())
