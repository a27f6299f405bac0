{# What does not fit among jar, Spark and this package, with the way to mend it; none where all do. Databricks has SQL of 4.0 in earlier versions. #}
{% macro versions_misfit(jar, spark) %}
  {%- set package = joinery.package_version() -%}
  {%- if jar and jar.split('.')[:2] != package.split('.')[:2] -%}
    {{ return("the Joinery jar is of version " ~ jar ~ ", this dbt package of " ~ package
      ~ ": install both of the same major and minor version") }}
  {%- elif spark.split('.')[0] | int < 4 and target.type == 'spark' -%}
    {{ return("Spark is of version " ~ spark ~ ", and this package renders SQL for 4.0 or later: upgrade Spark") }}
  {%- endif -%}
  {{ return(none) }}
{% endmacro %}
