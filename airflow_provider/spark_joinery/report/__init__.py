"""The skew report: what the artifact store holds, as one self-contained HTML page."""

from spark_joinery.report.model import Distribution, HeavyKey, Report, ReportedArtifact
from spark_joinery.report.page import render, write
from spark_joinery.report.reader import read_report
from spark_joinery.report.redaction import redact

__all__ = ["Distribution", "HeavyKey", "Report", "ReportedArtifact", "read_report", "redact", "render", "write"]
