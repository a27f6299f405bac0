"""The sensor that waits for artifacts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from datetime import timedelta
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from airflow.providers.common.compat.sdk import AirflowException, AirflowFailException, BaseSensorOperator, conf

from spark_joinery.airflow.credentials import without_credentials
from spark_joinery.airflow.freshness import ArtifactKey, problems_of
from spark_joinery.airflow.hooks.joinery import JoineryHook
from spark_joinery.airflow.selection import check_kinds, named, selected
from spark_joinery.airflow.triggers.freshness import FreshnessTrigger
from spark_joinery.metadata import Kind

if TYPE_CHECKING:
    from airflow.providers.common.compat.sdk import Context


class ArtifactFreshnessSensor(BaseSensorOperator):
    """
    Wait until artifacts that a dbt manifest declares are in the store, undamaged, usable and young enough.

    The sensor reads the store with pyarrow and the worker's own credentials, without Spark. It does not check whether
    the source has new files since, as only Spark can tell.

    :param manifest: path or URI of dbt's ``manifest.json`` (templated)
    :param select: dbt unique ids, relation identities or plain names; default: all relations (templated)
    :param kinds: kinds of artifact; default: all
    :param max_age: age up to which an artifact is fresh; default: any
    :param joinery_conn_id: connection of type ``joinery`` with the artifact store
    :param store: directory of the artifact store, in place of the connection's (templated)
    :param deferrable: wait in the triggerer
    :raises AirflowFailException: while the DAG is parsed, if ``kinds`` or ``max_age`` cannot be used
    """

    template_fields: Sequence[str] = ("manifest", "select", "store")
    ui_color = "#e8e6f5"

    def __init__(
        self,
        *,
        manifest: str | PathLike[str],
        select: Sequence[str] = (),
        kinds: Sequence[Kind] = (),
        max_age: timedelta | None = None,
        joinery_conn_id: str = JoineryHook.default_conn_name,
        store: str | None = None,
        deferrable: bool = conf.getboolean("operators", "default_deferrable", fallback=False),
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.manifest = fspath(manifest) if isinstance(manifest, PathLike) else manifest
        self.select = select
        self.kinds = kinds
        self.max_age = max_age
        self.joinery_conn_id = joinery_conn_id
        self.store = store
        self.deferrable = deferrable
        check_kinds(self, kinds)
        if max_age is not None and not (isinstance(max_age, timedelta) and max_age > timedelta()):
            raise AirflowFailException(f"{named(self)}: max_age: expected a timedelta above 0, found {max_age!r}")

    def execute(self, context: Context) -> Any:
        """
        Wait, in the worker or in the triggerer.

        :param context: of the task instance
        :return: None
        :raises AirflowFailException: if the manifest, a name in it or the connection cannot be used
        """
        if not self.deferrable:
            return super().execute(context)
        if not self.poke(context):
            trigger = FreshnessTrigger(
                self._store(),
                [list(astuple(key)) for key in self.keys()],
                self.max_age.total_seconds() if self.max_age else None,
                self.poke_interval,
            )
            timeout = timedelta(seconds=self.timeout) if isinstance(self.timeout, (int, float)) else self.timeout
            self.defer(trigger=trigger, method_name="execute_complete", timeout=timeout)
        return None

    def execute_complete(self, context: Context, event: dict[str, Any]) -> None:
        """
        Finish the task after the trigger has ended.

        :param context: of the task instance
        :param event: of :class:`~spark_joinery.airflow.triggers.freshness.FreshnessTrigger`
        :raises AirflowException: if the store cannot be read
        """
        if event["error"]:
            raise AirflowException(without_credentials(event["error"]))

    def poke(self, context: Context) -> bool:
        """
        Look once.

        :param context: of the task instance
        :return: whether all artifacts are fresh
        :raises AirflowException: if the store cannot be read
        """
        max_age_s = self.max_age.total_seconds() if self.max_age else None
        store = self._store()
        try:
            problems = problems_of(store, self.keys(), max_age_s)
        except OSError as error:
            raise AirflowException(without_credentials(f"the store {store} cannot be read: {error}")) from error
        for key, problem in problems.items():
            self.log.info("%s: %s", key, problem)
        return not problems

    def keys(self) -> list[ArtifactKey]:
        """
        The artifacts to wait for.

        :return: the places of the selected artifacts
        :raises AirflowException: if the manifest cannot be read now
        :raises AirflowFailException: if the manifest, or a name in ``select``, cannot be used
        """
        requests = selected(self, self.manifest, self.select, self.kinds)
        return [ArtifactKey.of(request) for request in requests]

    def _store(self) -> str:
        return JoineryHook(self.joinery_conn_id, store=self.store).store
