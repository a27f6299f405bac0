"""The program that refreshes a batch of artifacts in one Spark application, for a scheduler that watches it.

    spark-submit batch.py FOLDER
    python -m spark_joinery.jobs.batch FOLDER

See `spark_joinery.batch` for the folder. `joinery refresh` does the same for people.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from pyspark.sql import SparkSession

from spark_joinery.batch import Batch, BatchFolder, Progress
from spark_joinery.cause import one_line
from spark_joinery.errors import JoineryError, SparkNotStartedError
from spark_joinery.jobs.metastore import MetastoreLockedError
from spark_joinery.jobs.runner import RefreshResult, refresh
from spark_joinery.jobs.session import build_session, stop_session
from spark_joinery.report.run import page_of_run
from spark_joinery.store import ArtifactStore, StoreError, open_store

log = logging.getLogger(__name__)

# Joinery's own errors before the first artifact that a retry may solve; all others mean a wrong set-up
_MAY_PASS = (MetastoreLockedError, SparkNotStartedError, StoreError)
_POLL_S = 0.5
_HEARTBEAT_S = 2.0
# looks until a missing folder counts as deleted: it is also missing for a moment while a network disk is mounted again
_LOOKS_UNTIL_GONE = 5
CANCELLED = 143


class _Watch(threading.Thread):
    """Shows that the program is alive, and ends it when it is cancelled or no scheduler waits for it any more."""

    def __init__(self, folder: BatchFolder, orphan_after_s: float, end: Callable[[str], None]) -> None:
        super().__init__(name="joinery-watch", daemon=True)
        self._folder = folder
        self._orphan_after_s = orphan_after_s
        self._end = end

    def run(self) -> None:
        seen, seen_at, heartbeat_at, looks_in_vain = -1.0, time.monotonic(), 0.0, 0
        while True:
            now = time.monotonic()
            # a network disk may refuse access for a while: that must not end this thread, which then sees no scheduler
            with contextlib.suppress(OSError):
                looks_in_vain = looks_in_vain + 1 if self._folder.is_gone else 0
                if self._folder.is_cancelled or looks_in_vain >= _LOOKS_UNTIL_GONE:
                    self._end("it was cancelled")
            with contextlib.suppress(OSError):
                # the time at which this process saw a change, as the clocks of two machines differ
                if (latest := self._folder.looked_after_at()) != seen:
                    seen, seen_at = latest, now
            if now - seen_at > self._orphan_after_s:
                self._end(f"no task has waited for it for {self._orphan_after_s:.0f} s")
            if now - heartbeat_at >= _HEARTBEAT_S:
                with contextlib.suppress(OSError):
                    self._folder.send_heartbeat()
                heartbeat_at = now
            time.sleep(_POLL_S)


class _Run:
    """One run of the program."""

    def __init__(self, folder: BatchFolder) -> None:
        self._folder = folder
        self._progress = Progress()
        self._spark: SparkSession | None = None
        self._lock = threading.Lock()

    def run(self, batch: Batch) -> int:
        _Watch(self._folder, batch.orphan_after_s, self._cancelled).start()
        try:
            self._spark = spark = build_session("joinery", batch.confs)
            store = open_store(spark, batch.store)
            loaded = spark.sql("SHOW FUNCTIONS LIKE 'joinery_version'").count() > 0
            context = None if not hasattr(spark, "_jsc") else spark.sparkContext
            self._say(
                state="running",
                application_id=context.applicationId if context else None,
                ui=context.uiWebUrl if context else None,
                spark=spark.version,
                extension=loaded,
                store=store.root,
            )
        except Exception as error:
            # Spark and py4j raise many kinds of errors, from clusters and file systems: the scheduler gets their text
            log.exception("The batch could not be started")
            passes = not isinstance(error, JoineryError) or isinstance(error, _MAY_PASS)
            self._say(state="failed", error=one_line(error), retryable=passes)
            return 2
        results = refresh(
            spark,
            batch.requests,
            store,
            schema=batch.schema,
            full_refresh=batch.full_refresh,
            on_result=self._result,
        )
        if batch.report:
            self._report(spark, store, results, redacted=batch.report == "redacted")
        stop_session(spark)
        self._say(state="done")
        return 1 if any(result.status == "failed" for result in results) else 0

    def _result(self, result: RefreshResult) -> None:
        self._mention(results=(*self._progress.results, asdict(result)))

    def _report(
        self, spark: SparkSession, store: ArtifactStore, results: list[RefreshResult], *, redacted: bool
    ) -> None:
        try:
            page = page_of_run(spark, store, results, redacted=redacted)
            self._folder.write(self._folder.report.name, page)
        except Exception as error:
            # the artifacts are published already, so no error of the page may fail the batch
            log.warning("There is no report", exc_info=True)
            self._mention(report_error=one_line(error))

    def _mention(self, **changes: object) -> None:
        """Report changes, but go on if the folder cannot be written now. The next report contains them, too."""
        with contextlib.suppress(OSError):
            self._say(**changes)

    def _say(self, **changes: object) -> None:
        with self._lock:
            self._progress = replace(self._progress, **changes)  # type: ignore[arg-type]
            self._folder.write_progress(self._progress)

    def _cancelled(self, reason: str) -> None:
        """End the program from the watching thread, even while the main thread waits for Spark."""
        try:
            # the folder may be gone, which must not keep the queries of a server from being interrupted
            self._mention(state="cancelled", error=reason)
            if self._spark is not None and not hasattr(self._spark, "_jsc"):
                # a Spark Connect server would go on with its queries; a classic session's JVM ends with this process
                self._spark.interruptAll()
        finally:
            # an exception cannot end the call into Spark that the main thread is in
            os._exit(CANCELLED)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the batch of a folder.

    Args:
        arguments: The folder; by default from the command line.

    Returns:
        The exit code: 0 if no artifact failed, 1 if one did, 2 if nothing could be started.
    """
    (path,) = sys.argv[1:] if arguments is None else arguments
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("py4j").setLevel(logging.WARNING)
    folder = BatchFolder(Path(path))
    return _Run(folder).run(folder.take_batch())


if __name__ == "__main__":
    sys.exit(main())
