/**
 * An expression as a list of steps for a stack machine, flat: name, argument, name, argument … Metering runs it in this
 * process for each event it ingests (expression-value.ts), PostgreSQL for the events it reads (usage.expression_value).
 */
export type ExpressionProgram = readonly string[];
