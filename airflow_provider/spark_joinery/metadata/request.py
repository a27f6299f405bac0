"""One artifact to refresh: its relation and its specification."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, cast

from spark_joinery.metadata.identity import (
    FILE_FORMATS,
    SESSION_CATALOG,
    RelationNameError,
    distribution_table_name,
    quote_name,
    relation_identity,
    spec_hash,
    split_name,
)
from spark_joinery.metadata.models import KIND_OF_SPEC, DistributionSpec, Kind, Spec

ResourceType = Literal["source", "seed", "snapshot", "model"]
Stage = Literal["before_models", "after_models"]


@dataclass(frozen=True)
class ArtifactRequest:
    """An artifact that somebody asked for.

    Attributes:
        relation: Identity of the relation, see `relation_identity`.
        sql_name: Quoted name for `spark.table` and SQL.
        spec: The specification of the artifact.
        resource_type: The type of the relation in dbt; "source" if dbt does not know it.
        unique_id: The node's id in the manifest, or "" without one.
        model_version: "2" if the model has versions in dbt and its id ends in ".v2"; "" without versions.
    """

    relation: str
    sql_name: str
    spec: Spec
    resource_type: ResourceType = "source"
    unique_id: str = ""
    model_version: str = ""

    @classmethod
    def of_table(
        cls,
        table: str,
        spec: Spec,
        *,
        resource_type: ResourceType = "source",
        unique_id: str = "",
        model_version: str = "",
    ) -> ArtifactRequest:
        """Ask for an artifact of a table by its name.

        Args:
            table: Name as in SQL, `[catalog.]schema.table`, or SQL on files ("parquet.`/data/flights`"); without a
                schema it is in Spark's `default`.
            spec: The specification of the artifact.
            resource_type: The type of the table in dbt.
            unique_id: The node's id in the manifest.
            model_version: The model's version in the manifest, if it has any.

        Returns:
            The request.

        Raises:
            RelationNameError: If `table` is not a name of one to three parts, or has control characters.

        Example:
            >>> spec = DistributionSpec(partition_by=["carrier"], order_by="departs_at")
            >>> ArtifactRequest.of_table("raw.Flights", spec).relation
            'spark_catalog.raw.flights'
        """
        parts = split_name(table)
        if unsafe := next((each for each in table if unicodedata.category(each) in ("Cc", "Cs")), None):
            raise RelationNameError(
                f"'{table}' has the character U+{ord(unsafe):04X} in it: a name may have no control characters and no "
                "halves of a surrogate pair. Rename the relation."
            )
        if len(parts) > 3:
            raise RelationNameError(f"'{table}' has {len(parts)} parts: nested namespaces are not supported")
        catalog = parts[0] if len(parts) == 3 else None
        schema = parts[-2] if len(parts) > 1 else "default"
        name = parts[-1]
        # the catalog is only written out if the user did so: `parquet.` and older metastores take two parts
        sql_parts = parts if len(parts) > 1 else (schema, name)
        relation, sql_name = relation_identity(catalog, schema, name), quote_name(*sql_parts)
        return cls(relation, sql_name, spec, resource_type, unique_id, model_version)

    def in_catalog(self, current: str) -> ArtifactRequest:
        """Name the relation as the session that reads it does.

        A name without a catalog belongs to the session's current catalog, which is not in a manifest. dbt writes such
        names for Iceberg's tables if Iceberg's catalog is Spark's default.

        Args:
            current: The session's current catalog.

        Returns:
            The request; unchanged if its name has a catalog or is a path, or if the catalog is the session catalog.

        Example:
            >>> ArtifactRequest.of_table("lake.Flights", spec).in_catalog("ice").relation
            'ice.lake.Flights'
        """
        parts = split_name(self.sql_name)
        if len(parts) > 2 or ":/" in self.relation or current.lower() == SESSION_CATALOG:
            return self
        return replace(self, relation=relation_identity(current, *parts))

    def to_dict(self) -> dict[str, Any]:
        """Write the request as a dictionary that JSON can hold.

        Returns:
            The dictionary, which `from_dict` reads.
        """
        return {
            "table": self.sql_name,
            "kind": self.kind,
            "spec": self.spec.model_dump(mode="json", exclude_none=True),
            "resource_type": self.resource_type,
            "unique_id": self.unique_id,
            "model_version": self.model_version,
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> ArtifactRequest:
        """Read what `to_dict` has written.

        Args:
            document: The dictionary.

        Returns:
            An equal request.

        Raises:
            pydantic.ValidationError: If the specification is not valid.

        Example:
            >>> ArtifactRequest.from_dict(request.to_dict()) == request
            True
        """
        of_kind = {kind: model for model, kind in KIND_OF_SPEC.items()}
        spec = cast("Spec", of_kind[document["kind"]].model_validate(document["spec"]))
        return cls.of_table(
            document["table"],
            spec,
            resource_type=document["resource_type"],
            unique_id=document["unique_id"],
            model_version=document.get("model_version", ""),  # an earlier release wrote none
        )

    @property
    def kind(self) -> Kind:
        """Kind of artifact, as the type of the specification says."""
        return KIND_OF_SPEC[type(self.spec)]

    @cached_property
    def spec_hash(self) -> str:
        """See `spark_joinery.metadata.spec_hash`."""
        return spec_hash(self.kind, self.spec)

    @property
    def stage(self) -> Stage:
        """When to refresh: sources before dbt runs, everything that dbt builds after its own build."""
        return "before_models" if self.resource_type == "source" else "after_models"


def artifact_table_name(request: ArtifactRequest) -> str:
    """Name of the table under which an artifact is registered, without schema.

    Args:
        request: A request for a distribution.

    Returns:
        The name, see `distribution_table_name`.

    Raises:
        ValueError: For other kinds; they are read from the store, not by name.
    """
    if not isinstance(request.spec, DistributionSpec):
        raise ValueError(f"a {request.kind} is not registered as a table")
    parts = split_name(request.sql_name)
    if parts[0].lower() in FILE_FORMATS and "/" in parts[-1]:
        parts = (request.relation,)
    elif len(parts) == 3 and parts[0].lower() == SESSION_CATALOG:
        parts = parts[1:]
    return distribution_table_name(parts, request.spec.partition_by, request.spec.order_by)
