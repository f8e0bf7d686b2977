/**
 * The value of the event `e` for a measure in row `measure`, which has the columns `field` and `program`: that of its
 * expression, which is null where it fails, else of its field. spec: catalogue-and-metering §5.3, §7.1
 */
export const measuredValue = (measure: string): string =>
  `case when ${measure}.program is null then usage.quantity(e.props -> ${measure}.field)
      else usage.expression_value(e.props, ${measure}.program) end`;
