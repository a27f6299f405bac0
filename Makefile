# `make` lists the targets.
SHELL := /bin/bash
.DEFAULT_GOAL := help

LINES := $(shell python3 jvm/build.py --list)
DEFAULT_LINE := $(firstword $(LINES))
OTHER_LINES := $(filter-out $(DEFAULT_LINE),$(LINES))
# Of `make test`: the default, the oldest, and the newest for which Delta Lake and Iceberg publish jars. `make soak` has all.
SMOKE_LINE := 3.5
LAKEHOUSE_LINE := 4.1
TEST_LINES := $(DEFAULT_LINE) $(SMOKE_LINE) $(LAKEHOUSE_LINE)
UV := python3 -m uv
VENV := .venv
PYTHON := $(VENV)/bin/python
export PYSPARK_PYTHON := $(CURDIR)/$(PYTHON)
export SPARK_LOCAL_IP := 127.0.0.1
# Modules stay compiled: tests start Airflow, dbt and PySpark dozens of times, and compiling them takes as long as importing.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z][a-z-]*:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

.PHONY: uv
uv:
	@python3 -m uv --version >/dev/null 2>&1 || python3 -m pip install --quiet uv

$(VENV)/.stamp: requirements/dev.txt pyproject.toml | uv
	$(UV) venv --quiet --allow-existing --python 3.11 $(VENV)
	$(UV) pip sync --quiet --python $(PYTHON) requirements/dev.txt
	$(UV) pip install --quiet --python $(PYTHON) --no-deps --no-build-isolation --editable .
	touch $@

.venv-spark-%/.stamp: requirements/spark-%.txt | uv
	$(UV) venv --quiet --allow-existing --python 3.11 $(@D)
	$(UV) pip sync --quiet --python $(@D)/bin/python $<
	touch $@

# Databricks' adapter needs an older dbt-spark.
.venv-databricks/.stamp: requirements/databricks.txt | uv
	$(UV) venv --quiet --allow-existing --python 3.11 $(@D)
	$(UV) pip sync --quiet --python $(@D)/bin/python $<
	touch $@

.venv-airflow-%/.stamp: requirements/airflow-%.txt pyproject.toml | uv
	$(UV) venv --quiet --allow-existing --python 3.11 $(@D)
	$(UV) pip sync --quiet --python $(@D)/bin/python $<
	$(UV) pip install --quiet --python $(@D)/bin/python --no-deps --no-build-isolation --editable .
	touch $@

.PHONY: env
env: $(VENV)/.stamp ## Create .venv from the pinned requirements

.PHONY: env-all
env-all: env $(OTHER_LINES:%=.venv-spark-%/.stamp) ## ... and one environment for each other Spark line

.PHONY: env-test
env-test: env .venv-spark-$(SMOKE_LINE)/.stamp .venv-spark-$(LAKEHOUSE_LINE)/.stamp

.PHONY: requirements
requirements: | uv ## Pin the requirement files again
	for f in requirements/*.in; do $(UV) pip compile --quiet --python-version 3.11 --no-header $$f -o $${f%.in}.txt || exit 1; done

JVM_SOURCES := $(shell find jvm/src/main jvm/pom.xml jvm/build.py jvm/spark-versions.json -type f)

jvm/target/.jar-$(DEFAULT_LINE): $(VENV)/.stamp $(JVM_SOURCES)
	python3 jvm/build.py $(DEFAULT_LINE) package -DskipTests -Dmaven.test.skip=true -q
	touch $@

jvm/target/.jar-%: .venv-spark-%/.stamp $(JVM_SOURCES)
	python3 jvm/build.py $* package -DskipTests -Dmaven.test.skip=true -q
	touch $@

.PHONY: jar
jar: jvm/target/.jar-$(DEFAULT_LINE) ## Build the jar for the default Spark

.PHONY: jars
jars: $(LINES:%=jvm/target/.jar-%) ## ... for every Spark line

# `make test` has the jars of its own lines only.
WHEEL_LINES := $(LINES)

.PHONY: wheel
wheel: env $(WHEEL_LINES:%=jvm/target/.jar-%) ## Build the wheel with the jars of every Spark line into dist/
	rm -rf dist
	$(PYTHON) -m hatchling build -t wheel

.PHONY: release
release: wheel ## All that a release publishes, in dist/: wheel, sdist, jars for Maven Central, the dbt package, notes
	$(PYTHON) -m hatchling build -t sdist
	$(UV) tool run --quiet twine==6.1.0 check --strict dist/*.whl dist/spark_joinery-*.tar.gz
	$(PYTHON) -m release

# Compilers and linters keep one processor busy each, and the tests that come last little more.
.PHONY: test
test: env-test ## Everything CI runs
	$(MAKE) --jobs 2 --output-sync=target lint-python compiled-$(DEFAULT_LINE) compiled-$(SMOKE_LINE) \
	  jvm/target/.jar-$(LAKEHOUSE_LINE) lint-scala $(ARCHIVE)
	$(MAKE) test-jvm test-python
	$(MAKE) --jobs 3 --output-sync=target $(if $(call recent,jvm/src/main $(FUZZER)),test-fuzz) test-lines \
	  WHEEL_LINES="$(TEST_LINES)"

# Tests of the tools that test: they run in `make test` only if a tool was changed lately, and always in `make soak`.
recent = $(filter yes,$(shell python3 tests/support/recent.py $(1)))
FUZZER_TESTS := $(addprefix tests/fuzz/test_,checking.py drawing.py forms.py preparing.py reduction.py rounding.py runner.py summary.py)
FUZZER := tests/fuzz ':!tests/fuzz/found' ':!tests/fuzz/reverts'
BENCHMARKS := benchmarks ':!benchmarks/results' tests/benchmarks tests/support/answers.py
UNCHANGED_TOOLS = $(if $(call recent,$(FUZZER)),,$(FUZZER_TESTS)) $(if $(call recent,$(BENCHMARKS)),,tests/benchmarks)

compiled-%: env-test # The jar of a Spark line, and its suites' classes, by one Maven
	$(SHORT_LIVED) python3 jvm/build.py $* package -DskipTests -q
	touch jvm/target/.jar-$*

# JVMs of tests run new code all the time: what C2 compiles comes too late, and takes much of the processors' time. C1 compiles
# what has run 20 times: interpreting 200 runs of it, the default, takes longer. C1 alone has a fifth of the usual room for code
# by default, and compiles again what it had to throw away. By default, a JVM collects all garbage each time its classes double.
QUICK_START := -XX:TieredStopAtLevel=1 -XX:CompileThresholdScaling=0.1 -XX:ReservedCodeCacheSize=400m \
  -XX:+UseSerialGC -XX:MetaspaceSize=256m
SHORT_LIVED := JDK_JAVA_OPTIONS="$(QUICK_START)"

# Spark's classes, made ready once for the many JVMs of tests. Those that it does not fit, such as Spark's launcher, do
# without; the log is off because they would say so. On the other lines too few are started to be worth it.
ARCHIVE := jvm/target/spark-$(DEFAULT_LINE).jsa
ARCHIVED := -XX:SharedArchiveFile=$(CURDIR)/$(ARCHIVE) -Xlog:cds*=off

$(ARCHIVE): $(VENV)/.stamp jvm/class_archive.py
	mkdir -p $(@D)
	$(SHORT_LIVED) $(PYTHON) jvm/class_archive.py $@

# On another line what depends most on Spark's version: parsing, planning, adaptive execution. `make soak` runs all suites on all lines.
SMOKE_SUITES := ConfSuite LastJoinDataFrameSuite filters.rules.FilterShuffledRowsSuite execution.BufferShufflesSuite parser \
  lastjoin.LastJoinPlanSuite lastjoin.AdaptiveLastJoinSuite lastjoin.rules.SparkAsOfJoinSuite expressions.MightContainSuite \
  rangejoin.RangeJoinPlanSuite artifacts.GoldenVectorsSuite window.SlidingWindowPlanSuite

.PHONY: test-jvm
test-jvm: env-test $(ARCHIVE) ## Scala suites: all on the default Spark, next to them the most version-dependent ones on the oldest
	$(MAKE) --jobs 2 suites-$(DEFAULT_LINE) suites-$(SMOKE_LINE)

suites-$(DEFAULT_LINE):
	$(SHORT_LIVED) python3 jvm/build.py $(DEFAULT_LINE) suites

suites-%:
	$(SHORT_LIVED) python3 jvm/build.py $* suites $(SMOKE_SUITES)

.PHONY: test-python
test-python: env $(TEST_LINES:%=jvm/target/.jar-%) $(ARCHIVE) ## Python, dbt and Airflow tests on the default Spark, in three processes, which share nothing
	JDK_JAVA_OPTIONS="$(QUICK_START) $(ARCHIVED)" \
	  $(PYTHON) -m pytest -m "not soak and not lakehouse" --durations=15 $(addprefix --ignore=,$(UNCHANGED_TOOLS)) \
	  --numprocesses 3 --dist loadscope --no-loadscope-reorder

.PHONY: test-lines
test-lines: test-lakehouse-filters test-wheel test-lakehouse ## The wheel on the other Spark lines, there also with Delta Lake and Iceberg

OTHER_WHEEL_LINES = $(filter-out $(DEFAULT_LINE),$(WHEEL_LINES))

.PHONY: wheel-installed
wheel-installed: wheel $(OTHER_WHEEL_LINES:%=.venv-spark-%/.stamp)
	for line in $(OTHER_WHEEL_LINES); do \
	  $(UV) pip install --quiet --python .venv-spark-$$line/bin/python --no-deps --reinstall dist/*.whl || exit 1; done

.PHONY: test-wheel
test-wheel: wheel-installed
	for line in $(OTHER_WHEEL_LINES); do echo "== Wheel, Spark $$line"; \
	  $(SHORT_LIVED) PYSPARK_PYTHON=$(CURDIR)/.venv-spark-$$line/bin/python .venv-spark-$$line/bin/python -m pytest \
	    tests/python/test_smoke.py tests/python/test_other_line.py tests/python/test_patched_spark.py || exit 1; done

# In processes of their own, as the jars are loaded with the first session.
ON_LAKEHOUSE_LINE := PYSPARK_PYTHON=$(CURDIR)/.venv-spark-$(LAKEHOUSE_LINE)/bin/python \
  $(CURDIR)/.venv-spark-$(LAKEHOUSE_LINE)/bin/python -m pytest
LAKEHOUSE := cd tests/integration && $(SHORT_LIVED) $(ON_LAKEHOUSE_LINE) -m "not soak"

.PHONY: test-lakehouse
test-lakehouse: wheel-installed
	$(LAKEHOUSE) test_lakehouse.py

.PHONY: test-lakehouse-filters
test-lakehouse-filters: wheel-installed
	$(LAKEHOUSE) test_lakehouse_artifacts.py test_lakehouse_filters.py test_lakehouse_range_joins.py

# The newest Airflow is in .venv.
OLDEST_AIRFLOW := 3.0

# There, events of lineage have no datasets under `dags test`; why is not known.
.PHONY: test-oldest-airflow
test-oldest-airflow: jar .venv-airflow-$(OLDEST_AIRFLOW)/.stamp ## The tests of the Airflow provider on the oldest Airflow
	$(SHORT_LIVED) PYSPARK_PYTHON=$(CURDIR)/.venv-airflow-$(OLDEST_AIRFLOW)/bin/python \
	  .venv-airflow-$(OLDEST_AIRFLOW)/bin/python -m pytest tests/airflow -m "not soak" \
	  --deselect tests/airflow/test_run.py::test_openlineage_hears_of_relations_and_artifacts

.PHONY: soak
soak: env-all wheel .venv-databricks/.stamp test-oldest-airflow test-wheel ## Tests too long for `make test`: the full product of dimensions, new data on every run, TPC-H and TPC-DS
	$(PYTHON) -m pytest -m soak -s
	$(PYTHON) -m pytest -m "not soak" $(FUZZER_TESTS) tests/benchmarks
	$(MAKE) test-spark
	# dbt on Delta Lake and Iceberg, as in `test-lines`
	$(ON_LAKEHOUSE_LINE) tests/integration/test_lakehouse_dbt.py
	$(ON_LAKEHOUSE_LINE) -m soak tests/integration/test_lakehouse_filters.py
	JOINERY_SOAK=true $(ON_LAKEHOUSE_LINE) tests/integration/test_lakehouse_artifacts.py
	PYSPARK_PYTHON=$(CURDIR)/.venv-spark-$(SMOKE_LINE)/bin/python .venv-spark-$(SMOKE_LINE)/bin/python -m pytest \
	  tests/integration/test_other_extensions.py
	for line in $(OTHER_LINES); do python3 jvm/build.py $$line suites || exit 1; done

# One seed, so that what it finds in a change is the change's; `make fuzz` draws new ones. A busy machine may be too slow.
.PHONY: test-fuzz
test-fuzz: env jar $(ARCHIVE) ## A minute and a half of `make fuzz`
	JDK_JAVA_OPTIONS="$(ARCHIVED)" PYTHONPATH=tests $(PYTHON) -m fuzz --seconds 90 --round 45 \
	  --reduce 0 --ignore "time error" --seed $(or $(SEED),1355432908)

SECONDS := 600
LINE := $(DEFAULT_LINE)
LINE_ENV = $(if $(filter $(DEFAULT_LINE),$(LINE)),$(VENV),.venv-spark-$(LINE))

.PHONY: fuzz
fuzz: $(LINE_ENV)/.stamp jvm/target/.jar-$(LINE) ## Random queries, data and settings against stock Spark; LINE=3.5 SECONDS=600 SEED=1 CASE=window REPORT=summary
	PYSPARK_PYTHON=$(CURDIR)/$(LINE_ENV)/bin/python PYTHONPATH=tests:airflow_provider $(LINE_ENV)/bin/python -m fuzz \
	  --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) $(if $(CASE),--case $(CASE)) $(if $(REPORT),--report $(REPORT))

.PHONY: test-spark
test-spark: env jar ## Spark's own SQL tests about joins, windows and subqueries, with the jar and without; FILE=pattern for some, ALL=1 for all their settings
	PYTHONPATH=tests $(PYTHON) -m spark_sql $(if $(FILE),--file $(FILE),--page docs/reference/spark-tests.md) $(if $(ALL),--all)

.PHONY: fuzz-reverts
fuzz-reverts: env jar ## Whether the fuzzer finds again what was fixed; one of the patches with REVERT=number
	PYTHONPATH=tests:airflow_provider $(PYTHON) -m fuzz.reverts $(REVERT) --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

.PHONY: docs
docs: env ## Build the documentation as a site into build/site; fails on a broken link
	$(VENV)/bin/mkdocs build --strict

.PHONY: lint
lint: lint-python lint-scala ## Formatting, linting, types

.PHONY: lint-python
lint-python: env
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy

.PHONY: lint-scala
lint-scala: env
	$(SHORT_LIVED) python3 jvm/build.py $(DEFAULT_LINE) spotless:check exec:java -q

.PHONY: format
format: env ## Format all sources, and fix what the linters can fix
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .
	python3 jvm/build.py $(DEFAULT_LINE) exec:java -Dscalafix.check= -q
	python3 jvm/build.py $(DEFAULT_LINE) spotless:apply -q

.PHONY: bench
bench: env jar ## Benchmarks; one of them with CASE=name
	$(PYTHON) -m benchmarks $(CASE)

# The commit before the operators got rooms of their own, which was not to cost speed.
REV := 186fffe
OTHER := target/against/$(REV)

.PHONY: bench-against
bench-against: env jar ## Joinery's queries with this jar and with that of another commit, in turn: REV=186fffe, CASE=name for some
	test -d $(OTHER) || git worktree add --detach $(OTHER) $(REV)
	ln -sfn $(CURDIR)/.venv $(OTHER)/.venv
	cd $(OTHER) && python3 jvm/build.py $(DEFAULT_LINE) package -DskipTests -Dmaven.test.skip=true -q
	$(PYTHON) -m benchmarks.against $(CASE) --revision $(REV) --new $$($(PYTHON) -c 'import spark_joinery; print(spark_joinery.jar_path())') \
	  --old $$(ls $(OTHER)/jvm/target/spark-$(DEFAULT_LINE)/spark-joinery-$(DEFAULT_LINE)_*.jar | grep -v -- -sources)

.PHONY: bench-profile
bench-profile: env jar ## Where the processor time of Joinery's queries goes: CASE=last_join_large
	$(PYTHON) -m benchmarks.profile $(CASE)

ROWS := 1000000

.PHONY: data
data: env ## Load the example's flights, repeated to at least ROWS=1000000 rows for the speed figures
	$(PYTHON) models_example/load_sources.py --rows $(ROWS)

.PHONY: demo
demo: env jar ## The nightly pipeline end to end on real data, with and without the jar
	$(PYTHON) models_example/demo.py --rows $(ROWS)
