"""The few file operations the store needs, through Spark's JVM or through pyarrow."""

from spark_joinery.store.filesystem.arrow import ArrowFileSystem
from spark_joinery.store.filesystem.base import LARGEST, FileStatus, FileSystem, TooLargeError
from spark_joinery.store.filesystem.hadoop import HadoopFileSystem

__all__ = ["LARGEST", "ArrowFileSystem", "FileStatus", "FileSystem", "HadoopFileSystem", "TooLargeError"]
