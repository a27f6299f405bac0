package io.github.sparkjoinery.lastjoin

import io.github.sparkjoinery.{Answers, LastJoinChecks, Pairwise}

/**
 * LAST JOIN in subqueries whose left side or ON has columns of the outer query. The oracle joins each row of the outer
 * query with each left row first, and then looks up what the subquery would have found.
 */
class CorrelatedLastJoinSuite extends LastJoinChecks {

  private val On = Seq(
    "r.v <= o.v",
    "l.v <= o.v",
    "l.v + r.v <= o.v + 3",
    "r.k = o.k",
    "r.k <=> o.k",
    "o.v > 2",
    "(r.v < o.v OR r.id % 5 = o.id)",
    "r.n.a <= o.n.a")
  private val OfLeft = Seq("l.id = o.id", "l.v <= o.v", "l.v <= o.v AND l.k = o.k", "l.n.a < o.n.a")

  private val Scalars = Seq(
    "SELECT o.id, (SELECT max(rid) FROM j) AS x FROM o",
    "SELECT o.id, (SELECT count(rid) FROM j) AS x FROM o",
    "SELECT o.id, (SELECT sum(rid + lid) FROM j WHERE lid > 2) AS x FROM o",
    "SELECT o.id FROM o WHERE v + 3 > (SELECT min(rid) FROM j)",
    "SELECT o.id, (SELECT (SELECT max(p.id) FROM o p WHERE p.v = y.m) FROM (SELECT max(rid % 5) AS m FROM j) y) AS x FROM o"
  )
  private val Predicates = Seq(
    "SELECT o.id FROM o WHERE EXISTS (SELECT 1 FROM j WHERE rid > 4)",
    "SELECT o.id FROM o WHERE NOT EXISTS (SELECT 1 FROM j WHERE rid > 4)",
    "SELECT o.id FROM o WHERE o.id IN (SELECT rid FROM j)",
    "SELECT o.id FROM o WHERE o.id IN (SELECT rid FROM j) OR o.v IS NULL"
  )
  private val Laterals = Seq(
    "SELECT o.id, y.* FROM o, LATERAL (SELECT lid, rid FROM j) y",
    "SELECT o.id, y.* FROM o LEFT JOIN LATERAL (SELECT lid, rid FROM j WHERE rid > 4) y",
    "SELECT o.id, y.c FROM o, LATERAL (SELECT count(rid) AS c FROM j) y",
    "SELECT o.id, y.* FROM o, LATERAL (SELECT DISTINCT rid FROM j) y",
    "SELECT o.id, y.* FROM o, LATERAL (SELECT lid, rid FROM j UNION ALL SELECT o.id, o.v) y",
    "SELECT o.id, y.* FROM o, LATERAL (WITH c AS (SELECT lid, rid FROM j) SELECT * FROM c) y"
  )

  private def load(): Unit = {
    def side(rows: Int, seed: Int): String =
      s"""SELECT int(id) AS id, if(id % 5 = 4, NULL, int(id % 3)) AS k,
         |  if(id % 6 = 5, NULL, int(pmod(hash(id, $seed), 6))) AS v, named_struct('a', int(pmod(hash(id, $seed), 4))) AS n
         |FROM range($rows)""".stripMargin
    computedViews("o" -> side(7, 1), "l" -> side(9, 2), "r" -> side(11, 3))
  }

  /** @param where of the left side, None: all of it */
  private def check(shape: String, on: String, where: Option[String], hint: String): Unit = {
    val left = where.fold("l")(condition => s"(SELECT * FROM l WHERE $condition)")
    val tested = shape.replace(
      "FROM j",
      s"FROM (SELECT /*+ $hint(r) */ l.id AS lid, r.id AS rid FROM $left l LAST JOIN r ORDER BY r.v, r.id ON $on) j")
    val pairs =
      s"""SELECT o.id AS oid, l.id AS lid, r.id AS rid,
         |  row_number() OVER (PARTITION BY o.id, l.id ORDER BY r.v DESC, r.id DESC) AS place
         |FROM o CROSS JOIN l LEFT JOIN r ON $on WHERE ${where.getOrElse("true")}""".stripMargin
    val oracle = shape.replace("FROM j", "FROM (SELECT lid, rid FROM pairs WHERE oid = o.id) j")
    val expected = onStockSpark(asOracle {
      sql(pairs).filter("place = 1").localCheckpoint().createOrReplaceTempView("pairs")
      Answers.rows(sql(oracle))
    })
    val answer = sql(tested)
    assert(Answers.rows(answer) == expected, tested)
    assert(operators(answer).exists(_.contains("LastJoin")), s"$tested\n${plan(answer)}")
  }

  /** Every other query without generated code, which takes longer to compile than these rows to join. */
  private def generated(number: Int): Seq[(String, String)] = if (number % 2 == 0) Nil else Interpreted

  for ((kind, shapes) <- Seq("scalar" -> Scalars, "predicate" -> Predicates, "lateral" -> Laterals))
    test(s"outer columns in a subquery's ON and left side: $kind") {
      load()
      val hints = LastJoinForms.map(_._1)
      val wheres = None +: OfLeft.map(Some(_))
      val all = for (shape <- shapes; on <- On; where <- wheres) yield (shape, on, where)
      val some =
        if (Pairwise.isSoak) all else all.zipWithIndex.collect { case (one, i) if i % 27 == shapes.length => one }
      for (((shape, on, where), i) <- some.zipWithIndex)
        withConf(generated(i / 2) :+ ("spark.sql.adaptive.enabled" -> s"${i % 2 == 0}"): _*)(check(
          shape,
          s"l.k = r.k AND $on",
          where,
          hints(i % hints.length)))
      for ((shape, i) <- shapes.zipWithIndex; (where, j) <- OfLeft.zipWithIndex) // the left side alone
        if (Pairwise.isSoak || i % OfLeft.length == j)
          withConf(generated(i): _*)(check(shape, "l.k = r.k", Some(where), hints(i % hints.length)))
    }

  test("without an equality, and in a chain") {
    load()
    for (shape <- Seq(Scalars.head, Predicates.head, Laterals.head))
      check(shape, "r.v <= o.v AND r.v <= l.v", None, "MERGE")
    val chain =
      "SELECT o.id, (SELECT sum(s.id * 100 + r.id) FROM l l LAST JOIN r ORDER BY r.v, r.id ON l.k = r.k AND r.v <= o.v " +
        "LAST JOIN r s ORDER BY s.id ON s.k = r.k AND s.v < o.v) AS x FROM o"
    val first =
      "SELECT o.id AS oid, o.v AS ov, l.id AS lid, r.id AS rid, r.k AS rk, row_number() OVER (PARTITION BY o.id, l.id ORDER BY r.v DESC, r.id DESC) AS place " +
        "FROM o CROSS JOIN l LEFT JOIN r ON l.k = r.k AND r.v <= o.v"
    val second =
      s"SELECT oid, lid, rid, s.id AS sid, row_number() OVER (PARTITION BY oid, lid ORDER BY s.id DESC) AS last FROM ($first) LEFT JOIN r s ON s.k = rk AND s.v < ov WHERE place = 1"
    val oracle = s"SELECT oid, sum(sid * 100 + rid) FROM ($second) WHERE last = 1 GROUP BY oid"
    assert(Answers.rows(sql(chain)) == onStockSpark(asOracle(Answers.rows(sql(oracle)))))
  }

  test("in a view, and in a query of a query") {
    load()
    sql(
      "CREATE OR REPLACE TEMPORARY VIEW of_o AS SELECT o.id, (SELECT max(r.id) FROM l l LAST JOIN r ORDER BY r.v, r.id " +
        "ON l.k = r.k AND r.v <= o.v) AS x FROM o")
    val direct = Answers.rows(sql("SELECT * FROM of_o"))
    assert(direct.toSet.size == 7 && direct.exists(!_.contains("NULL")))
    assert(Answers.rows(sql("SELECT q.id, (SELECT max(x) FROM of_o WHERE of_o.id = q.id) FROM o q")) == direct)
    assert(Answers.rows(sql("WITH c AS (SELECT * FROM of_o) SELECT a.* FROM c a JOIN c b ON a.id = b.id")) == direct)
  }
}
