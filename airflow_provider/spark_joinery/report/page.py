"""A report as one HTML page that asks for nothing from outside."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from spark_joinery import text
from spark_joinery.report import plots
from spark_joinery.report import text as values
from spark_joinery.report.model import HEAVIEST, KINDS, Report, ReportedArtifact

BITS_PER_BLOCK = 256


def render(report: Report) -> str:
    """Make the page.

    Args:
        report: The report to show, after `redact` if values must be hidden.

    Returns:
        HTML, the same for the same report.

    Raises:
        MatplotlibMissingError: If the library that draws the plots is not installed.

    Example:
        >>> write(render(read_report(spark, store)), Path("joinery-report.html"), private=True)
    """
    plots.require_matplotlib()
    environment = Environment(
        loader=PackageLoader("spark_joinery.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "age": lambda built_at: text.age((report.generated_at - built_at).total_seconds() if built_at else None),
        "breakable": breakable,
        "bytes": text.size,
        "number": text.number,
        "percent": values.percent,
        "specification": specification,
        "visible": values.visible,
    }
    environment.globals |= {
        "BITS_PER_BLOCK": BITS_PER_BLOCK,
        "HEAVIEST": HEAVIEST,
        "KINDS": KINDS,
        "boundaries": lambda artifact, name: _drawing(plots.boundaries(artifact.distribution, name)),
        "shares": lambda artifact, name: _drawing(plots.shares(artifact.distribution, name)),
    }
    return environment.get_template("report.html").render(report=report)


def write(page: str, file: Path, *, private: bool) -> None:
    """Write the page so that the file holds the former page or the whole new one.

    Args:
        page: HTML.
        file: The file to write.
        private: Only the owner may read the file, as it holds values of the source; else the umask decides.

    Raises:
        OSError: If it cannot be written.
    """
    handle, temporary = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as output:
            output.write(page)
        if not private:
            umask = os.umask(0)
            os.umask(umask)
            Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(file)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def specification(artifact: ReportedArtifact) -> str:
    """Describe the specification of an artifact in one line.

    Args:
        artifact: An artifact of any kind.

    Returns:
        Such as "carrier, ordered by departs_at"; the hash if its version cannot be read.
    """
    spec = artifact.spec
    match artifact.kind:
        case "distribution" if spec:
            return f"{_names(spec['partition_by'])}, ordered by {values.visible(spec['order_by'])}"
        case "bloom_filter" if spec:
            where = f", where {values.visible(spec['where'], 120)}" if spec.get("where") else ""
            return _names(spec["keys"]) + where
        case "range_index" if spec:
            sorted_by = [spec["point"]] if spec.get("point") else [spec["start"], spec["end"]]
            return _names(sorted_by) + (f", with {_names(spec['columns'])}" if spec.get("columns") else "")
    return f"specification {artifact.spec_hash}"


def breakable(name: str) -> Markup:
    """Allow line breaks in a long name after its dots, slashes and dashes.

    Args:
        name: Any text.

    Returns:
        HTML.
    """
    return Markup("<wbr>").join(re.split(r"(?<=[./-])(?=\w)", name))


def _names(columns: list[str]) -> str:
    return ", ".join(map(values.visible, columns))


def _drawing(svg: str | None) -> Markup | None:
    """Put a drawing into the page unescaped: ElementTree has escaped its texts."""
    return None if svg is None else Markup(svg)
