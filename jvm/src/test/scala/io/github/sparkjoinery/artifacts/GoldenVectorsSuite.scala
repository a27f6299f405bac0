package io.github.sparkjoinery.artifacts

import java.io.File

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.scalatest.funsuite.AnyFunSuite

import io.github.sparkjoinery.filters.stored.WhereText

/** The vectors in tests/golden, which the Python tests read, too. */
class GoldenVectorsSuite extends AnyFunSuite {
  private val mapper = new ObjectMapper()

  private def vectors(name: String): Seq[JsonNode] = {
    val file = new File(sys.props("joinery.root"), s"tests/golden/$name.json")
    val found = mapper.readTree(file).elements().asScala.toVector
    assert(found.nonEmpty, s"no vectors in $file")
    found
  }

  test("relation identities") {
    vectors("relation_identity").foreach { vector =>
      val input = vector.get("input")
      val catalog = Option(input.get("catalog")).filterNot(_.isNull).map(_.asText)
      assert(RelationIdentity.text(catalog, input.get("schema").asText, input.get("name").asText) ===
        vector.get("expected").asText)
    }
  }

  test("limits of the store's own files") {
    assert(vectors("store_limits").map(_.asLong) === Seq(StoreLayout.MaxPointer, StoreLayout.MaxDescription))
  }

  test("relation folders") {
    vectors("relation_folder").foreach { vector =>
      assert(StoreLayout.relationFolder(vector.get("input").asText) === vector.get("expected").asText)
    }
  }

  test("conditions that change by their text") {
    vectors("where_text").foreach { vector =>
      assert(WhereText.changes(vector.get("input").asText) === vector.get("changes").asBoolean, vector)
    }
  }

  test("a relative path is refused") {
    assert(
      intercept[IllegalArgumentException](RelationIdentity.ofPath("data/flights")).getMessage.contains("data/flights"))
  }

  test("specification hashes") {
    vectors("spec_hash").foreach { vector =>
      val canonical = vector.get("canonical").asText
      assert(SpecificationHash.canonicalJson(mapper.readTree(canonical)) === canonical)
      assert(SpecificationHash.of(mapper.readTree(canonical)) === vector.get("expected").asText)
    }
  }

  test("canonical JSON sorts keys, drops nulls and writes numbers plainly") {
    val value = mapper.readTree("""{"b": 1.0, "a": [1e-05, null], "c": null}""")
    assert(SpecificationHash.canonicalJson(value) === """{"a":[0.00001,null],"b":1}""")
  }
}
