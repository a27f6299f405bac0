"""Refreshes that another process starts, watches and may cancel, through the files of a folder.

A scheduler writes the requests, starts the program `spark_joinery.jobs.batch` with the folder, and reads its progress
there. The two may be on different machines that share the folder. This package needs neither Spark nor Airflow.
"""

from spark_joinery.batch.batch import Batch
from spark_joinery.batch.folder import BatchFolder
from spark_joinery.batch.progress import Progress, State

__all__ = ["Batch", "BatchFolder", "Progress", "State"]
