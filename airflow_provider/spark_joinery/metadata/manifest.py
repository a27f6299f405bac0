"""Read the declared artifacts from dbt's `manifest.json`.

The file is read as plain JSON, not through dbt's classes: the scheduler that reads it often has no dbt installed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

from pydantic import ValidationError

from spark_joinery.cause import refusal
from spark_joinery.errors import JoineryError
from spark_joinery.metadata.identity import RelationNameError
from spark_joinery.metadata.models import JoineryMeta
from spark_joinery.metadata.problems import describe
from spark_joinery.metadata.request import ArtifactRequest, ResourceType

MANIFEST_VERSION = "v12"
DBT_VERSIONS = "dbt-core 1.8 to 1.11"

_BUILT_BY_DBT = ("seed", "snapshot", "model")
_WITHOUT_TABLE = ("view", "ephemeral")


@runtime_checkable
class TextFile(Protocol):
    """A file anywhere, as a path object that can read it: `pathlib.Path`, or Airflow's `ObjectStoragePath`."""

    def read_text(self, encoding: str | None = None) -> str:
        """Read all of it."""


class ManifestError(JoineryError):
    """A `manifest.json` that cannot be used. The message names the file and how to repair it."""


class ManifestNotFoundError(ManifestError):
    """No file there."""


class ManifestNotReadableError(ManifestError):
    """The file system refused; a later try may succeed."""


class ManifestFormatError(ManifestError):
    """Not JSON, not a manifest, or one of a version that is not supported."""


class NothingDeclaredError(ManifestError):
    """No node carries `meta.joinery`."""


class MetaError(ManifestError):
    """Declarations under `meta.joinery` that cannot be used.

    Attributes:
        problems: One line per problem: the node, the key and the expected value.
    """

    def __init__(self, path: object, problems: list[str]) -> None:
        self.problems = problems
        lines = "\n".join(f"  - {problem}" for problem in problems)
        count = f"{len(problems)} problem{'s' if len(problems) > 1 else ''}"
        super().__init__(
            f"{path}: {count} in meta.joinery:\n{lines}\nCorrect the YAML of these nodes, then run `dbt parse` again."
        )


@dataclass(frozen=True)
class Manifest:
    """The artifacts that a dbt project declares.

    Attributes:
        path: The file it was read from.
        project_name: Name of the dbt project.
        requests: Sorted by unique_id; within one node by kind, then in the order of the declarations.
    """

    path: TextFile
    project_name: str
    requests: list[ArtifactRequest]


def read_manifest(path: str | PathLike[str] | TextFile) -> Manifest:
    """Read `manifest.json`.

    Args:
        path: The file, usually `target/manifest.json` of the dbt project; or an object that reads it from elsewhere.

    Returns:
        Its artifact requests. Disabled nodes have none.

    Raises:
        ManifestNotFoundError: If there is no such file.
        ManifestNotReadableError: If the file system refuses.
        ManifestFormatError: If it is not a manifest of version 12.
        NothingDeclaredError: If no node carries `meta.joinery`.
        MetaError: If a declaration has unknown keys or wrong values; it lists all of them.

    Example:
        >>> [r.relation for r in read_manifest("target/manifest.json").requests]  # doctest: +SKIP
        ['spark_catalog.raw.flights']
    """
    path = path if isinstance(path, TextFile) else Path(path)
    document = _load(path)
    requests: list[ArtifactRequest] = []
    problems: list[str] = []
    nodes = {**document["nodes"], **document["sources"]}
    for unique_id in sorted(nodes):
        node = nodes[unique_id]
        if not isinstance(node, dict):
            raise ManifestFormatError(f"{path}: node {unique_id} is not an object. {_PARSE_AGAIN}")
        declared = _declaration(node)
        if declared is not None:
            try:
                requests += _requests(unique_id, node, declared)
            except _NodeError as error:
                problems += (f"{unique_id} ({_where(node)}): {problem}" for problem in error.args)
    if problems:
        raise MetaError(path, problems)
    if not requests:
        raise NothingDeclaredError(
            f"{path}: no source, seed, snapshot or model has `joinery` under `config: meta:`, so there is nothing to "
            "refresh. Declare distributions, bloom_filters or range_indexes there, then run `dbt parse` again."
        )
    return Manifest(path, str(document["metadata"].get("project_name") or ""), requests)


_PARSE_AGAIN = f"Write it again: run `dbt parse` with {DBT_VERSIONS} in the dbt project."


def _load(path: TextFile) -> dict[str, Any]:
    """Read the file, and check that it is a manifest of the right version."""
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise ManifestNotFoundError(
            f"{path}: no such file. `dbt parse` writes it to the target directory of the dbt project."
            f"{_where_from(path)}"
        ) from None
    except IsADirectoryError:
        raise ManifestNotFoundError(f"{path}: a directory, expected the file manifest.json in it.") from None
    except UnicodeDecodeError as error:
        raise ManifestFormatError(f"{path}: not JSON ({error}). {_PARSE_AGAIN}") from error
    except Exception as error:  # libraries of object stores have errors of their own, also for faults that pass
        raise ManifestNotReadableError(f"{path}: cannot be read: {refusal(error).rstrip('.')}.") from error
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ManifestFormatError(f"{path}: not JSON ({error}). {_PARSE_AGAIN}") from error

    metadata = document.get("metadata") if isinstance(document, dict) else None
    schema = metadata.get("dbt_schema_version") if isinstance(metadata, dict) else None
    if not isinstance(metadata, dict) or not isinstance(schema, str):
        raise ManifestFormatError(
            f"{path}: JSON, but no dbt manifest: metadata.dbt_schema_version is missing. {_PARSE_AGAIN}"
        )
    match = re.search(r"/manifest/(v\d+)\.json$", schema)
    if not match or match[1] != MANIFEST_VERSION:
        raise ManifestFormatError(
            f"{path}: metadata.dbt_schema_version is '{schema}' (written by dbt {metadata.get('dbt_version', '?')}), "
            f"expected manifest version {MANIFEST_VERSION}. {_PARSE_AGAIN}"
        )
    for key in ("nodes", "sources"):
        if not isinstance(document.get(key), dict):
            raise ManifestFormatError(f"{path}: '{key}' is missing or not an object. {_PARSE_AGAIN}")
    return cast("dict[str, Any]", document)


def _where_from(path: object) -> str:
    """Name the folder of a relative path: users do not see the working directory of a scheduler's processes."""
    if not isinstance(path, Path) or path.is_absolute():
        return ""
    return f" The path is relative, and was looked for below {Path.cwd()}: give an absolute one."


def _declaration(node: dict[str, Any]) -> Any:
    """The value of `meta.joinery`; dbt 1.11 puts meta under config, with a copy in the node for older readers."""
    for holder in (node.get("config"), node):
        meta = holder.get("meta") if isinstance(holder, dict) else None
        if isinstance(meta, dict) and "joinery" in meta:
            return meta["joinery"] if meta["joinery"] is not None else {}
    return None


def _where(node: dict[str, Any]) -> str:
    """The file of the project that most likely holds the declaration."""
    return str(node.get("patch_path") or node.get("original_file_path") or "file unknown").split("://")[-1]


class _NodeError(Exception):
    """Problems of one node, one argument each."""


def _requests(unique_id: str, node: dict[str, Any], declared: Any) -> list[ArtifactRequest]:
    """Check one node and its declaration."""
    resource_type = node.get("resource_type")
    if resource_type != "source" and resource_type not in _BUILT_BY_DBT:
        raise _NodeError(f"meta.joinery: on a {resource_type}, expected on a source, seed, snapshot or table model")
    config = node.get("config")
    materialized = config.get("materialized") if isinstance(config, dict) else None
    if resource_type == "model" and materialized in _WITHOUT_TABLE:
        raise _NodeError(
            f"meta.joinery: the model is materialized as {materialized}, expected a table; declare it on the tables "
            "that the model reads, or set materialized: table"
        )
    try:
        meta = JoineryMeta.model_validate(declared)
    except ValidationError as error:
        raise _NodeError(*describe(error)) from None
    version = node.get("version")
    try:
        return [
            ArtifactRequest.of_table(
                _sql_name(node),
                spec,
                resource_type=cast("ResourceType", resource_type),
                unique_id=unique_id,
                model_version="" if version is None else str(version),
            )
            for spec in meta.specs()
        ]
    except RelationNameError as error:
        raise _NodeError(f"relation_name: {error}") from None


def _sql_name(node: dict[str, Any]) -> str:
    """The name that dbt writes into SQL, and that Spark resolves."""
    name = node.get("relation_name")
    if not isinstance(name, str):
        raise RelationNameError("missing, so the node has no table")
    return name
