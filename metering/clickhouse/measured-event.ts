import type { ExpressionProgram } from '../expression-program.ts';
import { expressionQuantity } from '../expression-value.ts';
import { quantityOf, textForm } from '../property-value.ts';
import { decimalOfScaled } from '../quantity.ts';

/** An event as PostgreSQL keeps it. Numbers are texts; instants are microseconds since 1970. */
export interface KeptEvent {
  readonly env: number;
  readonly seq: string;
  readonly subject: string;
  readonly event_name: number;
  readonly ts: string;
  readonly ingested_at: string;
  readonly txid: string;
  /** The transaction that voided it; null while it counts. */
  readonly voided: string | null;
  readonly id: string;
  readonly source: string;
  readonly props: string | null;
  readonly [column: string]: unknown;
}

/** The select list of a `KeptEvent` of `usage.event e`. */
export const keptEventColumns = `abs(e.env) as env, e.seq::text as seq, e.subject::text as subject, e.event_name,
  (extract(epoch from e.ts) * 1000000)::bigint::text as ts,
  (extract(epoch from e.ingested_at) * 1000000)::bigint::text as ingested_at, e.txid::text as txid, e.voided::text as voided,
  coalesce(e.event_id, e.key::text) as id, coalesce(e.source, '') as source, e.props::text as props`;

/** What an event says, ready to be asked: its properties' text forms and the quantities that are not zero. */
export interface MeasuredEvent {
  readonly forms: Readonly<Record<string, string>>;
  readonly quantities: Readonly<Record<string, string>>;
  /** The event for the meter of an expression; null where the expression fails. */
  valueBy(program: ExpressionProgram): string | null;
}

/**
 * Reads the properties of an event once, by the functions that meter events as they arrive: both engines know the same
 * quantities to the last digit. spec: catalogue-and-metering §5.3, §7.1
 */
export function measuredEvent(props: string | null): MeasuredEvent {
  const properties = props === null ? {} : (JSON.parse(props, exactNumber) as Record<string, unknown>);
  const forms: [string, string][] = [];
  const quantities: [string, string][] = [];
  for (const [name, value] of Object.entries(properties)) {
    const form = textForm(value);
    if (form !== null) forms.push([name, form]);
    const quantity = quantityOf(value);
    if (quantity !== 0n) quantities.push([name, decimalOfScaled(quantity)]);
  }
  return {
    forms: Object.fromEntries(forms),
    quantities: Object.fromEntries(quantities),
    valueBy(program) {
      const quantity = expressionQuantity(program, (name) =>
        Object.hasOwn(properties, name) ? properties[name] : undefined,
      );
      return quantity === null ? null : decimalOfScaled(quantity);
    },
  };
}

/** Every number keeps the digits it was sent with. */
function exactNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' && context?.source !== undefined ? JSON.rawJSON(context.source) : value;
}
