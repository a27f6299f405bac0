"""What the operators of all kinds of artifact share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowException, AirflowSkipException
from pydantic import ValidationError

from spark_joinery.airflow.hooks.joinery import JoineryHook
from spark_joinery.metadata import ArtifactRequest, RelationNameError
from spark_joinery.metadata.problems import problem

if TYPE_CHECKING:
    from airflow.sdk import Context

    from spark_joinery.jobs import RefreshResult
    from spark_joinery.metadata import Spec


class RefreshOperator(BaseOperator):
    """
    Refresh one artifact of one relation; the base of an operator for each kind.

    With a local master, Spark runs in the process of the task, one JVM per task, and ends with it. An artifact whose
    source did not change is left as it is, and the task succeeds; a relation that does not exist yet skips the task.

    :param relation: name of the table as in SQL, ``[catalog.]schema.table`` (templated)
    :param full_refresh: build from the whole relation, also where reading what is new would do
    :param joinery_conn_id: connection of type ``joinery`` with Spark master and artifact store
    :param store: directory of the artifact store, in place of the connection's (templated)
    :param schema: schema in which the artifact is registered, in place of the connection's (templated)
    """

    template_fields: Sequence[str] = ("relation", "store", "schema")

    def __init__(
        self,
        *,
        relation: str,
        full_refresh: bool = False,
        joinery_conn_id: str = JoineryHook.default_conn_name,
        store: str | None = None,
        schema: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.relation = relation
        self.full_refresh = full_refresh
        self.joinery_conn_id = joinery_conn_id
        self.store = store
        self.schema = schema
        self._hook: JoineryHook | None = None

    @abstractmethod
    def spec(self) -> Spec:
        """
        What to compute.

        :return: the specification, from the operator's arguments
        :raises pydantic.ValidationError: if they do not make one
        """

    def request(self) -> ArtifactRequest:
        """
        What the job is asked to do.

        :return: the request, templates filled in where they are already rendered
        :raises AirflowException: if an argument cannot be used; the message names it
        """
        if not isinstance(self.relation, str):
            raise self._refusal([f"relation: expected the name of a table, found {self.relation!r}"])
        try:
            return ArtifactRequest.of_table(self.relation, self.spec())
        except ValidationError as error:
            raise self._refusal(_problems(error)) from None
        except RelationNameError as error:
            raise self._refusal([f"relation: {error}"]) from None

    def check_arguments(self) -> None:
        """
        Refuse what cannot be used while the DAG is parsed; values known only to a run are left to it.

        Called at the end of each operator's ``__init__``.

        :raises AirflowException: the DAG's import error, which names the arguments
        """
        try:
            self.spec()
        except ValidationError as error:
            if problems := _problems(error, skip_late=True):
                raise self._refusal(problems) from None
            return
        if not _is_late(self.relation):
            self.request()

    def execute(self, context: Context) -> dict[str, Any]:
        """
        Run the job.

        :param context: of the task instance
        :return: the fields of :class:`spark_joinery.jobs.RefreshResult`
        :raises AirflowSkipException: if the relation does not exist yet
        """
        # local, because the scheduler reads DAG files without needing Spark
        from spark_joinery.jobs import refresh_artifact

        request = self.request()
        self._hook = JoineryHook(self.joinery_conn_id, store=self.store, schema=self.schema)
        with self._hook as hook:
            result = refresh_artifact(
                hook.get_conn(), request, hook.get_store(), schema=hook.schema, full_refresh=self.full_refresh
            )
        if result.status == "skipped":
            raise AirflowSkipException(f"{request.relation}: {result.reason}")
        if result.status == "failed":
            raise AirflowException(f"{request.relation}: {result.reason}")
        self.log.info("%s", _summary(result))
        return asdict(result)

    def on_kill(self) -> None:
        """End Spark with the task."""
        if self._hook:
            self._hook.kill()

    def _refusal(self, problems: list[str]) -> AirflowException:
        return AirflowException(f"{type(self).__name__} '{self.task_id}': {'; '.join(problems)}")


def as_list(value: Sequence[str]) -> list[str]:
    """
    Take column names as a DAG file may write them.

    :param value: a list or tuple; a text is no sequence of columns, and is left for the specification to refuse
    :return: a list
    """
    return list(value) if isinstance(value, tuple) else value  # type: ignore[return-value]


def _problems(error: ValidationError, skip_late: bool = False) -> list[str]:
    """
    Name the arguments that do not make a specification.

    :param error: from the specification
    :param skip_late: leave out those that a template may still mend
    :return: one text per problem
    """
    found = []
    for e in error.errors():
        if not (skip_late and _is_late(e["input"])):
            # ("hot", "min_rows") of the specification is the argument hot_min_rows; ("keys", 0) is keys
            argument = "_".join(part for part in e["loc"] if isinstance(part, str))
            found.append(f"{argument}: {problem(e)}" if argument else problem(e))
    return found


def _is_late(value: object) -> bool:
    """
    Tell whether a value is known only when the task runs.

    :param value: of an argument
    :return: whether it is, or holds, a Jinja template or the output of another task
    """
    if isinstance(value, str):
        return "{{" in value or "{%" in value
    if isinstance(value, (list, tuple)):
        return any(map(_is_late, value))
    if isinstance(value, dict):
        return any(map(_is_late, value.values()))
    # the output of another task; Airflow's common base class of such values is private
    return hasattr(value, "resolve")


def _summary(result: RefreshResult) -> str:
    """
    Put a result into one line.

    :param result: of a job that succeeded
    :return: for the task's log
    """
    counts = {"rows": result.rows, "keys": result.keys, "hot keys": result.hot_keys}
    details = [f"{count:,} {name}" for name, count in counts.items() if count is not None]
    how = f" ({result.mode})" if result.mode else ""
    return f"{result.kind} of {result.relation}: {result.status}{how}, " + ", ".join(
        [*details, f"{result.seconds:.1f} s", f"version {result.version}"]
    )
