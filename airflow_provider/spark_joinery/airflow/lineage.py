"""Describe a refresh to OpenLineage. This module is only imported for its provider, which brings the client."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from openlineage.client.event_v2 import InputDataset, OutputDataset
from openlineage.client.facet_v2 import (
    dataset_version_dataset,
    input_statistics_input_dataset,
    output_statistics_output_dataset,
)

from spark_joinery.metadata import split_name
from spark_joinery.metadata.identity import SESSION_CATALOG
from spark_joinery.store import artifact_folder

if TYPE_CHECKING:
    from spark_joinery.metadata import ArtifactRequest

_METASTORES = ("spark.hadoop.hive.metastore.uris", "spark.hive.metastore.uris", "hive.metastore.uris")


def inputs_of(
    outcomes: Iterable[tuple[ArtifactRequest, Mapping[str, Any]]], confs: Mapping[str, str]
) -> list[InputDataset]:
    """
    Name the relations that were read.

    :param outcomes: each request with its result
    :param confs: Spark settings, which name the metastore
    :return: a dataset per relation, with its rows
    """
    rows = {request.relation: result["rows"] for request, result in outcomes}
    return [
        InputDataset(
            *relation_name(relation, confs),
            inputFacets={
                "inputStatistics": input_statistics_input_dataset.InputStatisticsInputDatasetFacet(rowCount=count)
            },
        )
        for relation, count in rows.items()
    ]


def outputs_of(outcomes: Iterable[tuple[ArtifactRequest, Mapping[str, Any]]], store: str) -> list[OutputDataset]:
    """
    Name the artifacts that are up to date.

    :param outcomes: each request with its result
    :param store: root of the artifact store
    :return: a dataset per artifact, with its version, and its entries if they were written
    """
    return [_output(request, result, store) for request, result in outcomes]


def _output(request: ArtifactRequest, result: Mapping[str, Any], store: str) -> OutputDataset:
    namespace, root = _location(store)
    folder = artifact_folder(request.kind, request.relation, request.spec_hash)
    # a distribution and a filter have an entry per key, a range index one per row
    entries = result["rows"] if request.kind == "range_index" else result["keys"]
    written = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(rowCount=entries)
    version = dataset_version_dataset.DatasetVersionDatasetFacet(datasetVersion=result["version"])
    return OutputDataset(
        namespace,
        f"{root.rstrip('/')}/{folder}",
        facets={"version": version},
        outputFacets={"outputStatistics": written} if result["status"] == "refreshed" else {},
    )


def relation_name(relation: str, confs: Mapping[str, str]) -> tuple[str, str]:
    """
    Name a relation as OpenLineage's naming rules do.

    :param relation: its identity
    :param confs: Spark settings
    :return: namespace and name: the place of files, or the metastore and the name of a table
    """
    if ":/" in relation and not relation.startswith("`"):
        return _location(relation)
    parts = split_name(relation)
    name = ".".join(parts[1:] if parts[0] == SESSION_CATALOG else parts)
    for key in _METASTORES:
        if server := urlsplit(confs.get(key, "").split(",")[0].strip()).netloc:
            return f"hive://{server}", name
    return "spark", name


def _location(uri: str) -> tuple[str, str]:
    """Namespace and name of files, without credentials."""
    parts = urlsplit(uri)
    if parts.scheme in ("", "file"):
        return "file", parts.path
    scheme = "s3" if parts.scheme in ("s3a", "s3n") else parts.scheme
    return f"{scheme}://{parts.netloc.rpartition('@')[2]}", parts.path
