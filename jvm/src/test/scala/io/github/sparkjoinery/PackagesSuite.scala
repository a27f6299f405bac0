package io.github.sparkjoinery

import java.nio.file.Paths

import com.tngtech.archunit.core.domain.{JavaClass, JavaClasses}
import com.tngtech.archunit.core.importer.ClassFileImporter
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices
import com.tngtech.archunit.library.dependencies.{SliceAssignment, SliceIdentifier}
import org.scalatest.funsuite.AnyFunSuite

/**
 * Checks that the packages have the layout of docs/architecture.md: no layer uses a higher one, and there are no
 * cycles.
 */
class PackagesSuite extends AnyFunSuite {
  import PackagesSuite._

  test("packages have no cycles") {
    slices().assignedFrom(EachPackage).should().beFreeOfCycles().check(classes)
  }

  test("every package has its layer") {
    val packages = classes.stream().map[String](_.getPackageName).toArray.map(_.toString).toSet
    val unknown = packages.filterNot(name => Layers.flatten.exists(isBelow(name, _)) || Entry.contains(name))
    assert(unknown.isEmpty, "these packages stand in no layer of PackagesSuite")
  }

  for ((layer, i) <- Layers.zipWithIndex; above = Layers.drop(i + 1).flatten ++ Entry if above.nonEmpty) {
    test(s"${layer.mkString(", ")}: nothing there depends on a layer above") {
      noClasses().that().resideInAnyPackage(layer.map(inside): _*)
        .should().dependOnClassesThat().resideInAnyPackage((above.diff(Entry).map(inside) ++ Entry).distinct: _*)
        .allowEmptyShould(true)
        .check(classes)
    }
  }

  for (capability <- Capabilities) {
    test(s"$capability: imports no other capability") {
      noClasses().that().resideInAPackage(inside(capability))
        .should().dependOnClassesThat().resideInAnyPackage(Capabilities.filterNot(_ == capability).map(inside): _*)
        .allowEmptyShould(true)
        .check(classes)
    }
  }
}

private object PackagesSuite {
  private val Root = "io.github.sparkjoinery"
  private def ours(names: String*): Seq[String] = names.map(name => s"$Root.$name")

  private val Capabilities = ours("lastjoin", "rangejoin", "window", "filters")

  /** The layers from the lowest to the highest. A package includes the packages below it. */
  private val Layers = Seq(
    Seq(
      "org.apache.spark.sql.joinery",
      "org.apache.spark.sql.execution.joinery"
    ), // access to private members of Spark, and the settings
    ours("expressions"),
    ours("planning", "artifacts"),
    ours("execution"),
    Capabilities,
    ours("parser"),
    ours("guard")
  )

  /** These packages alone, without the packages below them. */
  private val Entry = Seq(Root)

  private val classes: JavaClasses =
    new ClassFileImporter().importPath(
      Paths.get(classOf[JoineryExtensions].getProtectionDomain.getCodeSource.getLocation.toURI))

  private def isBelow(name: String, parent: String): Boolean = name == parent || name.startsWith(parent + ".")
  private def inside(name: String): String = s"$name.."

  private object EachPackage extends SliceAssignment {
    override def getIdentifierOf(javaClass: JavaClass): SliceIdentifier = SliceIdentifier.of(javaClass.getPackageName)
    override def getDescription: String = "each package"
  }
}
