/**
 * The value of the event `e` for a measure in row `measure`, which has the columns `field` and `program`: that of its
 * expression, which is null where it fails, else of its field. spec: catalogue-and-metering §5.3, §7.1
 */
export const measuredValue = (measure: string): string =>
  `case when ${measure}.program is not null then usage.expression_value(e.props, ${measure}.program)
      when ${measure}.field is null then 0 else usage.quantity(e.props -> ${measure}.field) end`;
