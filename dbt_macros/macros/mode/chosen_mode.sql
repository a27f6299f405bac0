{# The mode of this session for a value of var('joinery_mode'). It is logged with the reason. The macro fails if `extension` is wanted and
   the jar is not loaded. #}
{% macro chosen_mode(wanted) %}
  {%- set loaded = wanted != 'portable' and joinery.jar_is_loaded() -%}
  {%- set jar_misfit = joinery.jar_misfit() if wanted != 'portable' and not loaded else none -%}
  {%- if wanted == 'extension' and jar_misfit -%}
    {%- do exceptions.raise_compiler_error("joinery: var `joinery_mode` is 'extension', but " ~ jar_misfit) -%}
  {%- elif wanted == 'extension' and not loaded -%}
    {%- do exceptions.raise_compiler_error(
      "joinery: var `joinery_mode` is 'extension', but the Joinery jar is not loaded in this Spark session: set `spark.jars` to "
      ~ "the jar and `spark.sql.extensions` to io.github.sparkjoinery.JoineryExtensions before the session starts, "
      ~ "or use joinery_mode: auto or portable") -%}
  {%- endif -%}
  {%- set mode = 'extension' if loaded else 'portable' -%}
  {%- set versions = joinery.session_versions(loaded) -%}
  {%- do log("joinery: " ~ mode ~ " mode (joinery_mode: " ~ wanted ~ ", jar "
    ~ ("not asked for" if wanted == 'portable' else versions.jar ~ " loaded" if loaded
      else "of another Spark" if jar_misfit else "not loaded")
    ~ "); Spark " ~ versions.spark ~ ", package " ~ joinery.package_version(), info=true) -%}
  {%- set misfit = jar_misfit or joinery.versions_misfit(versions.jar, versions.spark) -%}
  {%- if misfit -%}{%- do exceptions.warn("joinery: " ~ misfit) -%}{%- endif -%}
  {{ return(mode) }}
{% endmacro %}
