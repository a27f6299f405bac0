"""Refresh of the artifacts that a dbt project declares, or of some of them."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, get_args

from airflow.providers.common.compat.sdk import AirflowException, AirflowFailException, AirflowSkipException, Asset

from spark_joinery.airflow.assets import SCHEME, artifact_asset
from spark_joinery.airflow.operators.application import ApplicationOperator, summary
from spark_joinery.airflow.selection import check_kinds, named, selected
from spark_joinery.metadata import Kind, Stage

if TYPE_CHECKING:
    from airflow.providers.common.compat.sdk import Context

    from spark_joinery.metadata import ArtifactRequest


class JoineryRefreshOperator(ApplicationOperator):
    """
    Refresh the artifacts that a dbt manifest declares under ``meta.joinery``, or some, in one Spark application.

    The manifest is read when the task runs. An artifact that fails does not stop the others: the task fails after all
    were tried. A retry finds the successful ones up to date. Relations that do not exist yet are skipped.

    .. seealso::
        :func:`spark_joinery.airflow.dags.joinery_refresh_dag` creates these tasks around ``dbt build``.

    :param manifest: path or URI of dbt's ``manifest.json`` (templated)
    :param select: dbt unique ids, relation identities or plain names; default: all relations (templated)
    :param kinds: kinds of artifact; default: all
    :param stage: "before_models" for sources only, "after_models" for relations that dbt builds; default: both
    :param kwargs: the arguments of :class:`~spark_joinery.airflow.operators.application.ApplicationOperator`
    :raises AirflowFailException: while the DAG is parsed, if ``kinds`` or ``stage`` cannot be used
    """

    template_fields: Sequence[str] = ("manifest", "select", *ApplicationOperator.template_fields)
    ui_color = "#e8e6f5"

    def __init__(
        self,
        *,
        manifest: str | PathLike[str],
        select: Sequence[str] = (),
        kinds: Sequence[Kind] = (),
        stage: Stage | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.manifest = manifest if not isinstance(manifest, PathLike) else fspath(manifest)
        self.select = select
        self.kinds = kinds
        self.stage = stage
        check_kinds(self, kinds)
        if stage not in (None, *get_args(Stage)):
            choices = " or ".join(f"'{choice}'" for choice in get_args(Stage))
            raise AirflowFailException(f"{named(self)}: stage: expected {choices}, found {stage!r}")

    def requests(self) -> list[ArtifactRequest]:
        """
        The artifacts to refresh.

        :return: the requests of the manifest as it is now
        :raises AirflowException: if the manifest cannot be read now
        :raises AirflowFailException: if the manifest cannot be used, or a name in ``select`` is unknown
        """
        found = selected(self, self.manifest, self.select, self.kinds)
        requests = [request for request in found if self.stage in (None, request.stage)]
        self._name_what_is_gone(requests)
        return requests

    def _name_what_is_gone(self, requests: list[ArtifactRequest]) -> None:
        """Warn of outlets that the manifest no longer declares: they get events, but are not refreshed."""
        outlets = {outlet.name for outlet in self.outlets if isinstance(outlet, Asset) and outlet.group == SCHEME}
        if gone := outlets - {artifact_asset(request).name for request in requests}:
            self.log.warning(
                "%s has changed since the DAG was parsed. Not refreshed, as it no longer declares them so: %s",
                self.manifest,
                ", ".join(sorted(gone)),
            )

    def outcome(self, results: list[dict[str, Any]], context: Context) -> list[dict[str, Any]]:
        """
        Make the task's result.

        :param results: of all artifacts
        :param context: of the task instance
        :return: the fields of :class:`spark_joinery.jobs.RefreshResult` for each artifact
        :raises AirflowSkipException: if none of the relations exists yet
        :raises AirflowFailException: if artifacts failed, and a retry can help none of them
        :raises AirflowException: if artifacts failed
        """
        failed = [result for result in results if result["status"] == "failed"]
        if failed:
            lines = "\n".join(f"  - {summary(result)}" for result in failed)
            text = f"{len(failed)} of {len(results)} artifacts could not be refreshed:\n{lines}"
            raise (AirflowException if any(result["retryable"] for result in failed) else AirflowFailException)(text)
        if all(result["status"] == "skipped" for result in results):
            reasons = "; ".join(f"{result['relation']}: {result['reason']}" for result in results)
            raise AirflowSkipException(reasons or "nothing is declared that this task refreshes")
        return results
