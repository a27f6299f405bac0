"""Refreshes that another process starts, watches and may cancel: what they agree on, by files in a folder of their own.

A scheduler writes what to do, starts the program `spark_joinery.jobs.batch` with the folder, and reads there how far it
is. Both may be on different machines, as long as they share the folder. Needs neither Spark nor Airflow.
"""

from spark_joinery.batch.batch import Batch
from spark_joinery.batch.folder import BatchFolder
from spark_joinery.batch.progress import Progress, State

__all__ = ["Batch", "BatchFolder", "Progress", "State"]
