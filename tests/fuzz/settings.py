"""Draws settings of an application, of a session if they change answers, and of the way to an answer."""

from __future__ import annotations

import random
from collections.abc import Mapping

Settings = dict[str, str]

ZONES = [
    "UTC",
    "America/New_York",
    "Europe/Berlin",
    "+8:00",
    "Asia/Kolkata",
    "Pacific/Apia",
    "America/Sao_Paulo",
    "GMT-03:30",
]

# Masters of the application. Each round draws one, mostly the plain one, because the others are slower. MEMORY sets the
# memory that Spark counts with, not the JVM's, because rounds with other memory run in the same JVM.
MASTERS = ["local[2]"] * 7 + ["local[1]", "local[2,4]", "local[2,4]"]
CLUSTER = "local-cluster[2,1,1024]"
SCARCE = {"spark.testing.memory": str(640 << 20), "spark.memory.fraction": "0.02"}
MEMORY: dict[str, Settings] = {
    "scarce": {**SCARCE, "spark.buffer.pageSize": "65536"},
    # pages have a megabyte: two tasks that join and aggregate sorted rows need four, next to the half for storage
    "scarce, large pages": {**SCARCE, "spark.testing.memory": str(840 << 20)},
    "tiny": {
        "spark.testing.reservedMemory": "1",
        "spark.testing.memory": str(6 << 20),
        "spark.memory.fraction": "0.5",
        "spark.buffer.pageSize": "16384",
        "spark.shuffle.sort.initialBufferSize": "64",
    },
    "off heap": {
        "spark.memory.offHeap.enabled": "true",
        "spark.memory.offHeap.size": str(6 << 20),
        "spark.buffer.pageSize": "32768",
        "spark.shuffle.sort.initialBufferSize": "64",
    },
}
KRYO = "org.apache.spark.serializer.KryoSerializer"
SPARSE_STATIC: list[tuple[float, Settings]] = [
    (0.2, {"spark.serializer": KRYO}),
    (0.04, {"spark.serializer": KRYO, "spark.kryo.registrationRequired": "true"}),
    (0.2, {"spark.shuffle.sort.bypassMergeThreshold": "1"}),
    (0.2, {"spark.shuffle.spill.numElementsForceSpillThreshold": "500"}),  # reading each file takes a megabyte
    (0.2, {"spark.default.parallelism": "7"}),
]

SPLIT_LAST_JOINS = {
    "spark.sql.adaptive.enabled": "true",  # adaptive execution makes the cuts
    "spark.sql.adaptive.skewJoin.skewedPartitionFactor": "0.1",
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "1",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "64",
    "spark.joinery.lastJoin.skewSplit.enabled": "true",
    "spark.joinery.skewSplit.minPartition": "1b",
}
SPLIT_WINDOWS = {
    "spark.sql.adaptive.enabled": "true",  # otherwise no window is cut
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "1",
    "spark.joinery.skewSplit.minPartition": "1b",
}
# Settings that only change the way to an answer, each with the share of the runs that have it.
PHYSICAL: list[tuple[float, Settings]] = [
    (0.25, {"spark.sql.adaptive.enabled": "false"}),
    (0.5, {"spark.sql.codegen.wholeStage": "false"}),
    (0.4, {"spark.sql.codegen.factoryMode": "NO_CODEGEN", "spark.sql.codegen.wholeStage": "false"}),
    (0.2, {"spark.sql.exchange.reuse": "false"}),
    (0.2, {"spark.sql.autoBroadcastJoinThreshold": "-1"}),
    (0.1, {"spark.sql.adaptive.coalescePartitions.enabled": "false"}),
    (0.1, {"spark.sql.subexpressionElimination.enabled": "false"}),
    (0.1, {"spark.sql.codegen.maxFields": "3"}),
    (0.1, {"spark.sql.codegen.methodSplitThreshold": "1"}),
    (0.1, {"spark.sql.codegen.splitConsumeFuncByOperator": "false"}),
    (0.1, {"spark.sql.codegen.hugeMethodLimit": "1"}),
    (0.1, {"spark.sql.sort.enableRadixSort": "false"}),
    (0.1, {"spark.joinery.shuffleWidth": "off"}),
    (0.1, {"spark.joinery.shuffleWidth": "all"}),
    (0.2, {"spark.joinery.bufferedShuffle.enabled": "false"}),
    (0.1, {"spark.sql.files.maxPartitionBytes": "16k", "spark.sql.files.openCostInBytes": "1"}),
    (0.05, {"spark.sql.inMemoryColumnarStorage.enableVectorizedReader": "false"}),
    (0.1, {"spark.sql.parquet.enableVectorizedReader": "false"}),
    (0.1, {"spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.CollapseProject"}),
]


NOT_SET = ""  # the value of a setting that has Spark's default

# 200 partitions make as many tasks, so they are rare, but thousands of queries still draw them. Joinery chooses the
# number if it is not set.
PARTITIONS = ["1", "1", "2", "3", "5", "8"] * 40 + ["200"] + [NOT_SET] * 24


# Each query is new, so the second compiler costs more than it saves in hundreds of queries. There is more code, and
# there are more classes, than in a JVM that runs the same queries again and again.
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:MetaspaceSize=512m -XX:+UseSerialGC"


def draw_jvm(rng: random.Random) -> Settings:
    """Settings of a JVM, which lasts for several rounds."""
    options = [QUICK_START] if rng.random() < 0.9 else []
    if rng.random() < 0.3:
        options.append(f"-Duser.timezone={rng.choice(ZONES[1:3] + ZONES[4:7])}")
    return {"spark.driver.extraJavaOptions": " ".join(options)}


def draw_static(rng: random.Random, scarce: bool, cluster_share: float = 0.02) -> Settings:
    """Settings of an application, which last for a round.

    Args:
        rng: The generator.
        scarce: Whether memory is so small that operators spill, or get none.
        cluster_share: The share of rounds that run on separate executors, which take long to start.
    """
    drawn = {"spark.master": CLUSTER if rng.random() < cluster_share and not scarce else rng.choice(MASTERS)}
    if scarce:
        drawn |= MEMORY[rng.choice(list(MEMORY))]
    for share, extra in SPARSE_STATIC:
        if rng.random() < share:
            drawn |= extra
    return drawn


def draw_meaning(rng: random.Random) -> Settings:
    """Settings that change the meaning of a query. The oracle has them, too."""
    return {
        "spark.sql.ansi.enabled": rng.choice(["true", "false"]),
        "spark.sql.session.timeZone": rng.choice(["UTC", *ZONES]),
    }


def draw_physical(rng: random.Random, forced: Mapping[str, str] | None = None) -> Settings:
    """Settings that must not change any answer.

    Args:
        rng: The generator.
        forced: Further settings of the capability.
    """
    drawn = {"spark.sql.shuffle.partitions": rng.choice(PARTITIONS)}
    for share, settings in PHYSICAL:
        if rng.random() < share:
            drawn |= settings
    return drawn | dict(forced or {})
