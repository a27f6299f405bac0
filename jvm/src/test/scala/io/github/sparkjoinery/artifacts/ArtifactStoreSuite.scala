package io.github.sparkjoinery.artifacts

import java.nio.file.{Files => JavaFiles, Path => JavaPath}

import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}

import io.github.sparkjoinery.Answers

/** Damaged and foreign stores. They make no query fail, and change no answer. */
class ArtifactStoreSuite extends StoreOfOneFilter {

  test("a whole store; a new version takes the place of the old one in the same session") {
    build()
    checkFilters(query, 1)
    build(_.putObject("fingerprint").put("type", "none").put("reason", "because"))
    checkDeclined(query, "the source has no fingerprint: because")
    build()
    checkFilters(query, 1)
  }

  // damage

  private val Damages = Seq[(String, String, JavaPath => Unit)](
    (
      "truncated data",
      "bytes instead of",
      v => {
        val file = dataOf(v)
        overwrite(file, JavaFiles.readAllBytes(file).dropRight(10))
      }),
    (
      "a flipped bit",
      "wrong checksum",
      v => {
        val file = dataOf(v)
        val bytes = JavaFiles.readAllBytes(file)
        bytes(bytes.length / 2) = (bytes(bytes.length / 2) ^ 4).toByte
        overwrite(file, bytes)
      }),
    ("missing data", "is missing", v => JavaFiles.delete(dataOf(v))),
    ("a missing description", "version.json is missing", v => JavaFiles.delete(v.resolve("version.json"))),
    (
      "a changed description",
      "version.json has a wrong checksum",
      v =>
        write(
          v.resolve("version.json"),
          JavaFiles.readString(v.resolve("version.json")).replace("xxhash64", "xxhash65"))),
    ("an empty pointer", "_current.json is not", v => write(artifactOf(v).resolve("_current.json"), "")),
    (
      "half a pointer",
      "_current.json is not JSON",
      v => write(artifactOf(v).resolve("_current.json"), "{\"format_version\": 2, ")),
    (
      "a foreign pointer",
      "_current.json is not a JSON object",
      v => write(artifactOf(v).resolve("_current.json"), "[1, 2]")),
    (
      "a pointer without format",
      "format version none",
      v => write(artifactOf(v).resolve("_current.json"), "{\"version\": \"x\"}")),
    (
      "a pointer to elsewhere",
      "names no version",
      v =>
        write(
          artifactOf(v).resolve("_current.json"),
          "{\"format_version\": 2, \"version\": \"../../..\", \"version_sha256\": \"00\"}")),
    (
      "a pointer to nothing",
      "is missing",
      v =>
        write(
          artifactOf(v).resolve("_current.json"),
          "{\"format_version\": 2, \"version\": \"2026-x\", \"version_sha256\": \"00\"}")),
    (
      "a pointer that never ends",
      "bytes, more than 65536",
      v => {
        val pointer = artifactOf(v).resolve("_current.json")
        write(pointer, JavaFiles.readString(pointer) + " " * 70000)
      }),
    (
      "a large description",
      "bytes, more than 16777216",
      v => write(v.resolve("version.json"), " " * (16 << 20) + JavaFiles.readString(v.resolve("version.json")))),
    (
      "a deep description",
      "version.json is not JSON",
      v => {
        val deep = "{\"spec\": " + "[" * 100000 + "]" * 100000 + "}"
        write(v.resolve("version.json"), deep)
        val pointer = artifactOf(v).resolve("_current.json")
        val sha256 = "\"version_sha256\":\"[0-9a-f]+\""
        write(
          pointer,
          JavaFiles.readString(pointer).replaceAll(
            sha256,
            s""""version_sha256":"${StoreLayout.sha256(deep.getBytes)}""""))
      })
  )

  for ((name, reason, harm) <- Damages) {
    test(s"damage: $name") {
      harm(build())
      if (name.contains("pointer")) { // the version itself is whole
        checkFilters(query, 1)
        withStore()(checkDecision(query, reason))
      } else checkDeclined(query, reason)
      build() // the next refresh heals it
      checkFilters(query, 1)
    }
  }

  for ((name, reason, harm) <- Damages) {
    test(s"an older version stands for one with damage: $name") {
      build()
      harm(buildAnother())
      checkFilters(query, 1)
      withStore()(checkDecision(query, reason))
      withStore()(checkDecision(query, "rows are dropped by the bloom filter of"))
    }
  }

  private def harmNewest(): Unit = {
    val file = dataOf(buildAnother())
    overwrite(file, JavaFiles.readAllBytes(file).dropRight(1))
  }

  for ((name, reason, change) <- Seq[(String, String, ObjectNode => Unit)](
      ("does not cover all files", "is not covered", json => json.withObject("/fingerprint").putArray("files")),
      (
        "was built from another schema",
        "the schema of the source has changed",
        json =>
          json.withObject("/source").putArray("schema").addArray().add("k").add("int")),
      ("has lost data", "filled blocks instead of 99", _.put("filled_blocks", 99))
    )) {
    test(s"an older version that $name stands for none") {
      build(change)
      harmNewest()
      checkDeclined(query, reason)
    }
  }

  test("an older version whose description has changed, or has no checksum, stands for none") {
    for ((change, reason) <- Seq[(String => String, String)](
        (_.replace("\"blocks\":512", "\"blocks\":513"), "version.json has a wrong checksum"),
        (_.replaceAll("\"own_sha256\":\"\\w+\"", "\"other\":0"), "version.json has no checksum")
      )) {
      val description = build().resolve("version.json")
      val (before, after) = (JavaFiles.readString(description), change(JavaFiles.readString(description)))
      assert(after != before)
      write(description, after)
      harmNewest()
      checkDeclined(query, reason)
    }
  }

  test("the newest of several older versions, and the next if it is damaged, too") {
    build(_.put("filled_blocks", 99))
    val whole = buildAnother()
    val damaged = (1 to 2).map(_ => buildAnother())
    damaged.foreach(version => JavaFiles.delete(dataOf(version)))
    checkFilters(query, 1)
    withStore()(checkDecision(query, s"version ${whole.getFileName}, as version ${damaged.last.getFileName}: "))
    build(_.put("filled_blocks", 99))
    harmNewest()
    checkDeclined(query, "no other version can be used")
  }

  for ((name, reason, change) <- Seq[(String, String, ObjectNode => Unit)](
      ("a format of the future", "format version 3", _.put("format_version", 3)),
      ("another kind", "belongs to another artifact", _.put("kind", "range_index")),
      ("another relation", "belongs to another artifact", _.put("relation", "spark_catalog.default.fact")),
      ("another hash function", "its hash function is murmur3", _.put("hash", "murmur3")),
      ("no hash function", "lacks 'hash'", _.remove("hash")),
      ("no keys", "lacks 'keys'", _.remove("keys")),
      ("keys of another type", "are not all joined on", _.putArray("key_types").add("string")),
      ("no types of keys", "lacks 'key_types'", _.remove("key_types")),
      ("a number as text", "'blocks' in its description is not a whole number", _.put("blocks", "many")),
      ("no blocks", "it cannot have 0 blocks", _.put("blocks", 0)),
      ("more blocks than a filter can have", "blocks", _.put("blocks", (1L << 24) + 1)),
      ("more blocks than fit into memory", "more than spark.joinery.store.maxArtifactSize", _.put("blocks", 1L << 24)),
      ("fewer blocks than there are", "beyond the last", _.put("blocks", 3)),
      ("no fingerprint", "lacks 'fingerprint'", _.remove("fingerprint")),
      ("a fingerprint of another type", "no fingerprint", _.putObject("fingerprint").put("type", "magic")),
      (
        "a file of the fingerprint without time",
        "lacks 'modified_ms'",
        json =>
          json.withObject("/fingerprint").putArray("files").addObject().put("path", "x").put("length", 1)),
      ("no source", "lacks the source", _.remove("source"))
    )) {
    test(s"description: $name") {
      build(change)
      checkDeclined(query, reason)
    }
  }

  for ((name, reason, change) <- Seq[(String, String, ObjectNode => Unit)](
      ("no files", "lists no data", _.putArray("files")),
      ("state alone", "lists no data", json => setPath(json, "state/part-0.parquet")),
      (
        "data in a folder of its own",
        "lists 'data/more/part-0.parquet'",
        json => setPath(json, "data/more/part-0.parquet")),
      ("data elsewhere", "lists '../other/data/part-0.parquet'", json => setPath(json, "../other/data/part-0.parquet")),
      ("the folder above", "lists 'data/..'", json => setPath(json, "data/..")),
      ("data that Spark does not read", "lists 'data/_part-0.parquet'", json => setPath(json, "data/_part-0.parquet")),
      (
        "a file twice",
        "lists a file twice",
        json => json.withArray[ArrayNode]("files").add(json.path("files").path(0))),
      ("no number of blocks", "cannot be proven complete", _.remove("filled_blocks")),
      ("no number of bits", "cannot be proven complete", _.remove("set_bits")),
      ("fewer blocks than were filled", "filled blocks instead of 99", _.put("filled_blocks", 99)),
      ("fewer bits than were set", "set bits instead of 999999", _.put("set_bits", 999999))
    )) {
    test(s"a filter that has lost data: $name") {
      build(change)
      checkDeclined(query, reason)
    }
  }

  test("a filter whose data lies in a folder below") {
    val version = build()
    val (file, below) = (dataOf(version), version.resolve("data/more"))
    JavaFiles.createDirectory(below)
    JavaFiles.move(file, below.resolve(file.getFileName))
    val json = mapper.readTree(version.resolve("version.json").toFile).asInstanceOf[ObjectNode]
    setPath(json, s"data/more/${file.getFileName}")
    publish(version, json)
    checkDeclined(query, "which is no file of its data")
  }

  private def setPath(json: ObjectNode, path: String): Unit =
    json.path("files").path(0).asInstanceOf[ObjectNode].put("path", path)

  test("blocks that no job writes") {
    val half = (1L << 40) + 1
    for ((rows, reason) <- Seq(
        (s"VALUES (1, $half, $half, $half, bigint(NULL))", "block 1 that no key can have filled"),
        (s"VALUES (2, $half, 1L, $half, $half)", "block 2 that no key can have filled"),
        (s"VALUES (3, $half, $half, $half, $half), (3, $half, $half, $half, $half)", "block 3 twice")
      )) {
      val folder = JavaFiles.createTempDirectory("other").resolve("data")
      sql(s"SELECT * FROM $rows AS t(block, w0, w1, w2, w3)").coalesce(1).write.parquet(folder.toString)
      replaceData(JavaFiles.readAllBytes(dataOf(folder.getParent)))
      checkDeclined(query, reason)
    }
  }

  test("data with other columns, of other types, or that is no Parquet") {
    for ((rows, reason) <- Seq(
        (spark.range(3).toDF("block"), "cannot be read as block INT"),
        (
          spark.range(3).selectExpr("int(id) AS block", "id AS w0", "id AS w1", "id AS w2", "'' AS w3"),
          "w3 BIGINT: "),
        (
          spark.range(3).selectExpr("int(id) AS number", "id AS w0", "id AS w1", "id AS w2", "id AS w3"),
          "a block -1 beyond the last"),
        (
          spark.range(3).selectExpr("int(id) - 1 AS block", "id AS w0", "id AS w1", "id AS w2", "id AS w3"),
          "beyond the last")
      )) {
      val folder = JavaFiles.createTempDirectory("other").resolve("data")
      rows.coalesce(1).write.parquet(folder.toString)
      replaceData(JavaFiles.readAllBytes(dataOf(folder.getParent)))
      checkDeclined(query, reason)
    }
    replaceData("PAR1 and nothing else".getBytes)
    checkFilters(query, 0)
  }

  /** Replaces the data of a version by other bytes, with the right checksum. */
  private def replaceData(bytes: Array[Byte]): Unit = {
    val version = build()
    val file = dataOf(version)
    overwrite(file, bytes)
    val json = mapper.readTree(version.resolve("version.json").toFile).asInstanceOf[ObjectNode]
    json.putArray("files").addObject().put("path", s"data/${file.getFileName}").put("length", bytes.length).put(
      "sha256",
      StoreLayout.sha256(bytes))
    publish(version, json)
  }

  test("an artifact that is too large") {
    build()
    checkDeclined(
      query,
      "more than spark.joinery.store.maxArtifactSize",
      "spark.joinery.store.maxArtifactSize" -> "1KB")
  }

  test("what is not there, or no store at all, is no trouble") {
    build()
    val artifact = store.resolve("bloom_filter").resolve("spark_catalog.default.dim")
    JavaFiles.createDirectories(artifact.resolve("0123456789abcdef/versions/half")) // being written for the first time
    write(artifact.resolve("stray.txt"), "x")
    checkFilters(query, 1)
    val file = JavaFiles.createTempFile("no", "store")
    for (root <- Seq("/nowhere", file.toString, "unknown://host/store", "::", "relative/store")) {
      withStore("spark.joinery.store" -> root)(assert(Answers.rows(sql(query)).length == 240, root))
    }
  }
}
