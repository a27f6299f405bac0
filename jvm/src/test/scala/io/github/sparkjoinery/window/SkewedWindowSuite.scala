package io.github.sparkjoinery.window

import io.github.sparkjoinery.Pairwise

/** Windows whose hot keys are cut into parts by a hint: their answers. */
class SkewedWindowSuite extends SkewedWindowChecks {

  private val RowFrames = Seq(
    "3 PRECEDING AND CURRENT ROW",
    "CURRENT ROW AND 20 FOLLOWING",
    "1000 FOLLOWING AND 1010 FOLLOWING").map("ROWS BETWEEN " + _)
  private val LargeRowFrames = Seq(
    "1000 PRECEDING AND CURRENT ROW",
    "700 PRECEDING AND 500 PRECEDING",
    "100 PRECEDING AND 100 FOLLOWING").map("ROWS BETWEEN " + _)
  private val overRows = RowFrames.flatMap(over(Functions, Unique, _)) ++ LargeRowFrames.flatMap(over(
    Seq("sum(v)", "max(s)", "avg(x)"),
    Unique,
    _))
  private val RangeFrames = Seq(
    "5 PRECEDING AND CURRENT ROW",
    "CURRENT ROW AND 5 FOLLOWING",
    "40 PRECEDING AND 30 PRECEDING",
    "10 FOLLOWING AND 50 FOLLOWING",
    "3 PRECEDING AND 3 FOLLOWING",
    "CURRENT ROW AND CURRENT ROW"
  ).map("RANGE BETWEEN " + _)

  private val Parts = if (Pairwise.isSoak) Seq(2, 3, 4, 8) else Seq(2, 8)

  test("ROWS frames") {
    load(1600, Ties)
    withHint(withConf("spark.sql.codegen.factoryMode" -> "CODEGEN_ONLY")(for (parts <- Parts)
      checkSplit(overRows, Some(parts))))
  }

  test("ROWS frames larger than a part") {
    load(300, "int(id)")
    withHint(for (parts <- Parts) checkSplit(overRows, Some(parts)))
  }

  test("RANGE frames") {
    load(2000, Ties)
    withHint(withConf("spark.sql.ansi.enabled" -> "true") { // or a bound may wrap
      for (parts <- Parts) checkSplit(RangeFrames.flatMap(over(WithTies, Single, _)), Some(parts))
    })
  }

  test("offsets") {
    load(2000, Ties)
    withHint(for (parts <- Parts)
      checkSplit(
        over(Seq("lag(v)", "lag(s, 700)", "lead(v, 3)", "lead(s, 1, 'none')", "lag(v, -2)"), Unique, ""),
        Some(parts)))
  }

  for ((what, order, offset) <- Seq(
      (
        "infinity",
        "element_at(array(double('-Infinity'), -1e308D, 0.0D, 1e308D, double('Infinity')), int(id % 5) + 1)",
        "1e308D"),
      ("rounding", "1e16D + 2 * int(id % 7)", "1.0D")
    )) test(s"$what puts bounds of several rows on one value") {
    load(700, order)
    withHint {
      for (direction <- Seq("ASC", "DESC");
        bounds <- Seq(s"0.5D PRECEDING AND $offset FOLLOWING", s"$offset PRECEDING AND CURRENT ROW"))
        checkSplit(
          Seq("count(*)", "sum(v)", "min(v)").map(call =>
            s"$call OVER (PARTITION BY k ORDER BY o $direction RANGE BETWEEN $bounds)"),
          Some(8))
    }
  }

  for ((name, order) <- Seq(
      "few values" -> "int(id % 5)",
      "two values" -> "int(id % 2)",
      "nearly all on one value" -> "int(if(id % 50 = 0, id, 700))",
      "mostly NULL" -> "if(id % 3 > 0, NULL, int(id))",
      "far apart" -> "int(if(id % 2 = 0, id - 100000, id + 100000))"
    )) test(s"order values: $name") {
    load(1200, order)
    withHint {
      for (one <- Pairwise.cases(
          "direction" -> Seq("ASC", "ASC NULLS LAST", "DESC", "DESC NULLS FIRST"),
          "frame" -> Seq("ROWS", "RANGE"))) {
        val direction = one("direction")
        val (unique, single) =
          (s"(PARTITION BY k ORDER BY o $direction, id)", s"(PARTITION BY k ORDER BY o $direction)")
        val columns =
          if (one("frame") == "ROWS")
            over(Functions.take(5), unique, "ROWS BETWEEN 30 PRECEDING AND 10 FOLLOWING")
          else over(WithTies.take(5), single, "RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING")
        withConf("spark.sql.ansi.enabled" -> (one("frame") == "RANGE").toString)(
          checkSplit(columns, Some(if (direction.contains("NULLS")) 3 else 8)))
      }
    }
  }

  for ((name, order, offset) <- Seq(
      (
        "double",
        "CASE WHEN id % 11 = 0 THEN double('NaN') WHEN id % 13 = 0 THEN double('Infinity') WHEN id % 17 = 0 THEN double('-Infinity') " +
          "WHEN id % 19 = 0 THEN -0.0D WHEN id % 23 = 0 THEN 0.0D ELSE double(pmod(hash(id), 200) - 100) / 4 END",
        "1.5D"),
      ("float", "if(id % 11 = 0, float('NaN'), float(pmod(hash(id), 200) - 100) / 4)", "1.5F"),
      ("bigint", "pmod(hash(id), 200) + 9007199254740993L", "7L"),
      ("decimal", "CAST(pmod(hash(id), 200) / 4 AS DECIMAL(10, 2))", "1.50"),
      ("date", "date_add(DATE'1969-11-30', int(pmod(hash(id), 90)))", "INTERVAL '5' DAY"),
      ("date and months", "date_add(DATE'2023-11-30', int(pmod(hash(id), 200)))", "INTERVAL '1' MONTH"),
      ("date and more days than there are", "date_add(DATE'1969-11-30', int(pmod(hash(id), 90)))", "2147483647"),
      ("timestamp", "TIMESTAMP'2024-01-30' + make_dt_interval(0, int(pmod(hash(id), 900)))", "INTERVAL '30' HOUR"),
      (
        "timestamp without zone",
        "TIMESTAMP_NTZ'2024-01-30' + make_dt_interval(0, int(pmod(hash(id), 900)))",
        "INTERVAL '30' HOUR")
    )) {
    test(s"RANGE frames over $name") {
      load(1500, s"if(id % 29 = 4, NULL, $order)")
      withHint(withConf("spark.sql.ansi.enabled" -> "true") {
        for (one <- Pairwise.cases(
            "direction" -> Seq("ASC", "DESC"),
            "frame" -> Seq("x PRECEDING AND CURRENT ROW", "CURRENT ROW AND x FOLLOWING", "x PRECEDING AND x FOLLOWING")
          )) {
          checkSplit(
            over(
              WithTies.take(4),
              s"(PARTITION BY k ORDER BY o ${one("direction")})",
              s"RANGE BETWEEN ${one("frame").replace("x", offset)}"),
            Some(4)
          )
        }
      })
    }
  }

  private def withKeys(keys: String): Seq[String] =
    over(Functions, s"(PARTITION BY $keys ORDER BY o, id)", "ROWS BETWEEN 40 PRECEDING AND 3 FOLLOWING")

  for ((name, key) <- Seq(
      "three hot ones beside cold ones" -> "int(if(id % 20 = 0, 100 + id % 90, id % 3))",
      "NaN, -0.0 and 0.0" -> "CASE id % 3 WHEN 0 THEN -0.0D WHEN 1 THEN 0.0D ELSE double('NaN') END",
      "structs" -> "named_struct('a', if(id % 9 = 0, NULL, 1), 'b', if(id % 20 = 1, 'cold', 'hot'))"
    )) test(s"keys in one shuffle partition: $name") {
    load(1600, Ties, key)
    withHint(withConf("spark.sql.shuffle.partitions" -> "1")(checkSplit(withKeys("k"), Some(4))))
  }

  test("keys that may be equal and have different bytes are not split") {
    load(1600, Ties, "if(id % 4 < 2, 'hot', if(id % 4 = 2, 'HOT', concat('cold', id % 30))) COLLATE UTF8_LCASE")
    withHint(withConf("spark.sql.shuffle.partitions" -> "1")(checkSplit(withKeys("k"), Some(4), split = false)))
  }

  test("keys: none at all, two columns, an expression") {
    load(1600, Ties)
    withHint {
      checkSplit(
        over(Functions, "(ORDER BY o, id)", "ROWS 40 PRECEDING") :+ "lag(v) OVER (ORDER BY o, id)",
        Some(4))
      checkSplit(withKeys("k, p"), Some(3))
      checkSplit(withKeys("CASE WHEN k = 0 THEN 'hot' ELSE s END"), Some(4))
    }
  }

  test("keys on one value are not cut") {
    load(1500, "7")
    withHint(checkSplit(over(Functions, Unique, "ROWS 40 PRECEDING"), Some(4), split = false))
  }

  for (codegen <- Seq("true", "false"))
    test(s"ROWS and RANGE frames, and offsets, over one sort, generated code $codegen") {
      load(2000, "int(pmod(id * 7919, 2003))") // no ties
      withHint(withConf("spark.sql.ansi.enabled" -> "true", "spark.sql.codegen.wholeStage" -> codegen) {
        for (parts <- Parts) {
          checkSplit(
            over(Functions, Single, "RANGE BETWEEN 5 PRECEDING AND CURRENT ROW") ++ over(
              Functions,
              Single,
              "ROWS BETWEEN 40 PRECEDING AND 2 FOLLOWING") ++
              over(Seq("lag(v, 3)", "lead(s)"), Single, ""),
            Some(parts)
          )
          checkSplit(
            over(Functions, Single, "RANGE BETWEEN 300 PRECEDING AND 20 FOLLOWING") ++ over(
              Functions,
              Single,
              "ROWS 3 PRECEDING"),
            Some(parts))
        }
      })
    }

  test("in generated code, too") {
    load(2000, Ties)
    withHint(withConf(Generated: _*) {
      checkSplit(over(Functions, Unique, "ROWS BETWEEN 30 PRECEDING AND 10 FOLLOWING"), Some(4))
      withConf("spark.sql.ansi.enabled" -> "true") {
        checkSplit(over(WithTies, Single, "RANGE BETWEEN 25 PRECEDING AND 5 FOLLOWING"), Some(8)) // into several parts
      }
      checkSplit(over(Functions, "(ORDER BY o, id)", "ROWS 40 PRECEDING"), Some(3))
    })
  }
}
