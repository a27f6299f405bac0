{# Returns the version that does not fit, of the jar or of Spark, and how to fix it; none if both fit. #}
{% macro versions_misfit(jar, spark) %}
  {%- set package = joinery.package_version() -%}
  {%- if jar and jar.split('.')[:2] != package.split('.')[:2] -%}
    {{ return("the Joinery jar is of version " ~ jar ~ ", this dbt package of " ~ package
      ~ ": install both of the same major and minor version") }}
  {%- elif spark.split('.')[0] | int * 100 + spark.split('.')[1] | int < 305 and target.type == 'spark' -%}
    {{ return("Spark is of version " ~ spark ~ ", and this package renders SQL for 3.5 or later: upgrade Spark") }}
  {%- endif -%}
  {{ return(none) }}
{% endmacro %}
