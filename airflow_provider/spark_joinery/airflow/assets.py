"""Relations and artifacts as Airflow's assets, by which other DAGs are scheduled."""

from __future__ import annotations

import string
from urllib.parse import quote

from airflow.providers.common.compat.sdk import Asset

from spark_joinery.metadata import ArtifactRequest

SCHEME = "joinery"


def relation_asset(relation: str) -> Asset:
    """
    The asset of a relation that artifacts are made of.

    :param relation: its identity, see :func:`spark_joinery.metadata.relation_identity`
    :return: an inlet of each task that refreshes an artifact of it

    .. code-block:: python

        BashOperator(task_id="load", bash_command="...", outlets=[relation_asset("spark_catalog.raw.flights")])
    """
    return Asset(name=_ascii(relation), uri=f"{SCHEME}://relation/{_path(relation)}", group=SCHEME)


def artifact_asset(request: ArtifactRequest) -> Asset:
    """
    The asset of an artifact.

    :param request: what the artifact is made of
    :return: an outlet of each task that refreshes it

    .. code-block:: python

        DAG("features", schedule=[artifact_asset(request) for request in declared("target/manifest.json")])
    """
    return Asset(
        name=_ascii(f"{request.kind} of {request.relation} ({request.spec_hash[:8]})"),
        uri=f"{SCHEME}://{request.kind}/{_path(request.relation)}/{request.spec_hash}",
        group=SCHEME,
    )


def _ascii(name: str) -> str:
    """A name that Airflow takes on any database: with MySQL, and before 3.3 with all of them, it wants ASCII."""
    return name if name.isascii() else quote(name, safe=string.printable.replace("%", ""))


def _path(relation: str) -> str:
    return quote(relation, safe="")
