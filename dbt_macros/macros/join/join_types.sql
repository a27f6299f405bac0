{# The SQL keywords of each kind of join. #}
{% macro join_types() %}
  {{ return({'inner': 'inner join', 'cross': 'cross join', 'left': 'left join', 'right': 'right join', 'full': 'full join',
    'semi': 'left semi join', 'anti': 'left anti join'}) }}
{% endmacro %}
