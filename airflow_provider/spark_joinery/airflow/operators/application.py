"""The base of all operators that refresh artifacts: start Spark, wait or defer, and return a result."""

from __future__ import annotations

import logging
import time
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from airflow.providers.common.compat.sdk import (
    AirflowException,
    AirflowFailException,
    AirflowSkipException,
    Asset,
    BaseOperator,
    conf,
)

from spark_joinery.airflow.application import SparkApplication
from spark_joinery.airflow.assets import artifact_asset
from spark_joinery.airflow.credentials import without_credentials
from spark_joinery.airflow.hooks.joinery import JoineryHook
from spark_joinery.airflow.links import DriverLogLink, SkewReportLink, SparkUILink
from spark_joinery.airflow.metrics import count
from spark_joinery.airflow.pages import task_path
from spark_joinery.airflow.triggers.refresh import SHARED, RefreshTrigger
from spark_joinery.batch import BatchFolder, Progress
from spark_joinery.cause import refusal

if TYPE_CHECKING:
    from airflow.providers.common.compat.sdk import Context
    from airflow.providers.openlineage.extractors import OperatorLineage

    from spark_joinery.metadata import ArtifactRequest

Trouble = Literal["damaged", "skipped", "never used"]

# a task waits so long for Spark before it defers, to show Spark's UI; a cluster may queue Spark for longer
_SPARK_S = 30.0
# Airflow's time-out of a deferred task would leave Spark running, so the trigger's time-out comes first
_AFTER_TRIGGER = timedelta(minutes=1)


class ApplicationOperator(BaseOperator):
    """
    Refresh artifacts in one Spark application; the base of all operators that do.

    Spark runs where the connection says: embedded, on a cluster by ``spark-submit``, or on a Spark Connect server. It
    ends with the task, even if the task is killed. A retry is safe: artifacts that are up to date stay as they are.

    :param full_refresh: build from the whole relation, even if reading the new rows would do; the parameter
        ``full_refresh`` of the run has the same effect
    :param joinery_conn_id: connection of type ``joinery`` with Spark master and artifact store
    :param store: directory of the artifact store, in place of the connection's (templated)
    :param schema: schema in which distributions are registered, in place of the connection's (templated)
    :param deferrable: free the worker's slot while Spark works; needs ``run_dir`` in the connection
    :param fail_on: fail the task when an artifact was found "damaged" (the refresh repairs it), was "skipped", or is
        "never used" (no query can use it); default: only the log and the report say so
    """

    template_fields: Sequence[str] = ("store", "schema")
    operator_extra_links = (SparkUILink(), SkewReportLink(), DriverLogLink())

    def __init__(
        self,
        *,
        full_refresh: bool = False,
        joinery_conn_id: str = JoineryHook.default_conn_name,
        store: str | None = None,
        schema: str | None = None,
        deferrable: bool = conf.getboolean("operators", "default_deferrable", fallback=False),
        fail_on: Collection[Trouble] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.full_refresh = full_refresh
        self.joinery_conn_id = joinery_conn_id
        self.store = store
        self.schema = schema
        self.deferrable = deferrable
        self.fail_on = fail_on or ()
        if isinstance(fail_on, str) or set(self.fail_on) - set(get_args(Trouble)):
            choices = ", ".join(f"'{trouble}'" for trouble in get_args(Trouble))
            raise AirflowFailException(
                f"{type(self).__name__} '{self.task_id}': fail_on: expected a list of {choices}, found {fail_on!r}"
            )
        self.addresses: dict[str, str] = {}
        self._outcomes: list[tuple[ArtifactRequest, dict[str, Any]]] = []
        self._application: SparkApplication | None = None

    @abstractmethod
    def requests(self) -> list[ArtifactRequest]:
        """
        The artifacts to refresh.

        :return: the requests; templates in them are rendered once the task runs
        :raises AirflowException: if an argument cannot be used; the message names it
        """

    @abstractmethod
    def outcome(self, results: list[dict[str, Any]], context: Context) -> Any:
        """
        Make the task's result from the results of its artifacts.

        :param results: the fields of a :class:`spark_joinery.jobs.RefreshResult` for each artifact
        :param context: of the task instance
        :return: what the task returns
        :raises AirflowException: if an artifact failed
        :raises AirflowSkipException: if nothing could be refreshed yet
        """

    def execute(self, context: Context) -> Any:
        """
        Run the batch.

        :param context: of the task instance
        :return: see :meth:`outcome`
        :raises AirflowFailException: if trying again cannot help
        :raises AirflowException: if Spark or an artifact failed
        """
        started_at = time.time()
        self._outcomes.clear()
        requests = self.requests()
        if not requests:
            # Spark is not needed if there is nothing to refresh
            return self.outcome([], context)
        hook = JoineryHook(self.joinery_conn_id, store=self.store, schema=self.schema)
        stays = self.deferrable and hook.run_dir is not None
        if self.deferrable and not stays:
            self.log.warning(
                "The task keeps its worker slot: to defer, set 'run_dir' in the extra of connection '%s' to a "
                "directory that workers, drivers and triggerers share",
                self.joinery_conn_id,
            )
        full_refresh = self.full_refresh or (context.get("params") or {}).get("full_refresh") is True
        application = self._application = hook.start(requests, full_refresh=full_refresh, stays=stays)
        try:
            if stays:
                application.wait_until_alive()
                progress = application.wait_for_spark(_SPARK_S)
                self._show_ui(progress, context)
            else:
                progress = application.wait(lambda started: self._show_ui(started, context), self._log_result)
        except BaseException as error:  # a time-out of Airflow's is no Exception
            application.cancel()
            if not isinstance(error, AirflowException):  # its message has the log already
                self.log.error("The end of Spark's log:\n%s", _log_of(application.folder))
            self._close(application.folder, context)
            raise
        if stays:
            self._defer(application.folder, started_at)
        return self._ended(progress, application.folder, context)

    def _defer(self, folder: BatchFolder, started_at: float) -> None:
        limit = self.execution_timeout
        trigger = RefreshTrigger(str(folder.path), deadline=started_at + limit.total_seconds() if limit else None)
        timeout = limit + _AFTER_TRIGGER if limit else None
        self.defer(trigger=trigger, method_name="execute_complete", timeout=timeout)

    def execute_complete(self, context: Context, event: dict[str, Any]) -> Any:
        """
        Finish the task after the trigger has found that the batch has ended.

        :param context: of the task instance
        :param event: of :class:`~spark_joinery.airflow.triggers.refresh.RefreshTrigger`
        :return: see :meth:`outcome`
        :raises AirflowException: if Spark, the driver or an artifact failed
        """
        folder = BatchFolder(Path(event["folder"]))
        if event["problem"]:
            folder.cancel()
            driver_log = _log_of(folder)
            self._close(folder, context)
            raise AirflowException(f"{event['problem']}. The end of its log:\n{driver_log}")
        try:
            progress = folder.progress()
        except OSError as error:
            # this may be another worker than the one that started the task
            raise AirflowException(
                f"{folder.path} cannot be read by this worker ({refusal(error)}): {SHARED}"
            ) from error
        for result in progress.results:
            self._log_result(result)
        return self._ended(progress, folder, context)

    def on_kill(self) -> None:
        """End Spark with the task."""
        if self._application:
            self._application.cancel()

    def _ended(self, progress: Progress, folder: BatchFolder, context: Context) -> Any:
        """Make the task's result, and delete the batch's folder; a failed task logs the end of the driver's log."""
        try:
            # the requests of the start: dbt may have written another manifest since
            self._outcomes[:] = zip(folder.requests(), progress.results, strict=False)
            count(progress.results, self.dag_id, self.task_id)
            if progress.report_error:
                self.log.warning("There is no skew report: %s", without_credentials(progress.report_error))
            if progress.state == "cancelled":
                raise AirflowException(f"The refresh was ended: {progress.error}")
            if progress.state == "failed":
                error = without_credentials(f"Spark, or the store, could not be opened: {progress.error}")
                raise (AirflowException if progress.retryable else AirflowFailException)(error)
            outcome = self._checked_outcome(list(progress.results), context)
            self._describe_events(context)
            return outcome
        except AirflowSkipException:
            raise
        except AirflowException:
            self.log.error("The end of Spark's log:\n%s", _log_of(folder))
            raise
        finally:
            self._close(folder, context)

    def _close(self, folder: BatchFolder, context: Context) -> None:
        """Keep the pages of a batch that has ended, and delete its folder."""
        try:
            self._keep_pages(folder, context)
        finally:
            folder.remove()

    def _show_ui(self, progress: Progress, context: Context) -> None:
        """Let the link lead to Spark's UI while Spark runs."""
        if progress.ui:
            self._link({SparkUILink().name: progress.ui}, context)

    def _keep_pages(self, folder: BatchFolder, context: Context) -> None:
        """Copy the report and the driver's log out of the folder, and let the links lead to the copies."""
        # Spark has ended, and another application may get its port
        self._link({SparkUILink().name: ""}, context)
        if "ti" not in context:
            return
        try:
            pages = JoineryHook(self.joinery_conn_id, store=self.store, schema=self.schema).pages
        except AirflowException as error:
            # the connection has changed meanwhile, which must not hide the result of the refresh
            self.log.warning("There are no links: %s", error)
            return
        if pages:
            self._link(pages.keep(folder, task_path(context)), context)

    def _link(self, addresses: dict[str, str], context: Context) -> None:
        self.addresses |= addresses
        if "ti" in context:
            for link in self.operator_extra_links:
                if link.name in addresses:
                    context["ti"].xcom_push(key=link.xcom_key, value=addresses[link.name])

    def _checked_outcome(self, results: list[dict[str, Any]], context: Context) -> Any:
        """Make the task's result, and fail if an artifact is in a state that `fail_on` names."""
        found = [(result, trouble) for result in results for trouble in troubles(result) if trouble in self.fail_on]
        if not found:
            return self.outcome(results, context)
        lines = "\n".join(f"  - {trouble}: {summary(result)}" for result, trouble in found)
        text = f"{len(found)} artifacts need a look, as 'fail_on' asks for:\n{lines}"
        try:
            self.outcome(results, context)
        except AirflowSkipException:
            pass  # `fail_on` wins over the skip
        except AirflowException as error:
            # other artifacts have failed, and a retry may help them
            raise type(error)(f"{error}\n{text}") from None
        raise AirflowFailException(text)

    def get_openlineage_facets_on_complete(self, task_instance: Any) -> OperatorLineage[Any, Any]:
        """
        Name inputs and outputs for OpenLineage; its provider asks after the task has ended, also if it failed.

        :param task_instance: which instance of the task
        :return: relations with their rows, and artifacts with their entries
        """
        from airflow.providers.openlineage.extractors import OperatorLineage

        from spark_joinery.airflow.lineage import inputs_of, outputs_of

        done = [each for each in self._outcomes if each[1]["status"] in ("refreshed", "unchanged")]
        if not done:
            return OperatorLineage()
        hook = JoineryHook(self.joinery_conn_id, store=self.store, schema=self.schema)
        return OperatorLineage(inputs=inputs_of(done, hook.spark_confs()), outputs=outputs_of(done, hook.store))

    def _describe_events(self, context: Context) -> None:
        """Put the result of each artifact into the event of its outlet."""
        events = context.get("outlet_events")
        outlets = {outlet.name: outlet for outlet in self.outlets if isinstance(outlet, Asset)}
        if events is None or not outlets:
            return
        for request, result in self._outcomes:
            if outlet := outlets.get(artifact_asset(request).name):
                events[outlet].extra = {name: result[name] for name in ("status", "mode", "rows", "version")}

    def _log_result(self, result: dict[str, Any]) -> None:
        level = logging.WARNING if result["reason"] or result["unused"] else logging.INFO
        self.log.log(logging.ERROR if result["status"] == "failed" else level, "%s", summary(result))


def summary(result: dict[str, Any]) -> str:
    """
    Put a result into one line.

    :param result: the fields of a :class:`spark_joinery.jobs.RefreshResult`
    :return: for the task's log
    """
    artifact = f"{result['kind']} of {result['relation']}"
    if result["status"] in ("failed", "skipped"):
        return f"{artifact}: {without_credentials(result['reason'] or '')}"
    counts = {"rows": result["rows"], "keys": result["keys"], "hot keys": result["hot_keys"]}
    details = [f"{count:,} {name}" for name, count in counts.items() if count is not None]
    details += [f"{result['seconds']:.1f} s", f"version {result['version']}"]
    how = f" ({result['mode']})" if result["mode"] else ""
    why = f"; all was read, because {result['reason']}" if result["reason"] else ""
    unused = f"; no query uses it: {result['unused']}" if result["unused"] else ""
    return f"{artifact}: {result['status']}{how}, {', '.join(details)}{why}{unused}"


def troubles(result: Mapping[str, Any]) -> list[Trouble]:
    """
    Find the reasons to look at an artifact whose refresh did not fail.

    :param result: the fields of a :class:`spark_joinery.jobs.RefreshResult`
    :return: values that ``fail_on`` may name
    """
    found: dict[Trouble, bool] = {
        "damaged": result["was_damaged"],
        "skipped": result["status"] == "skipped",
        "never used": result["unused"] is not None,
    }
    return [trouble for trouble, there in found.items() if there]


def _log_of(folder: BatchFolder) -> str:
    return without_credentials(folder.log_tail())
