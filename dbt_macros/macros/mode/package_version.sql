{# The version of this package. Jinja cannot read it from dbt_project.yml, so a test compares the two. #}
{% macro package_version() %}
  {{ return('0.1.0') }}
{% endmacro %}
