import { digest, type PreparedEvent } from '../../event.ts';
import type { CompiledMeter, Contribution } from '../../meter.ts';
import { decimalOfScaled } from '../../quantity.ts';
import { plainArray, textArray } from '../text/array-text.ts';

/** What the event at a place of the batch adds to a meter. */
export interface EventContribution extends Contribution {
  readonly ord: number;
  readonly meter: CompiledMeter;
}

/** The short keys of a batch, which its transaction has looked up or made. */
export interface ShortKeys {
  subjectOf(externalId: string): string;
  eventNameOf(name: string): number;
}

type Row = readonly (string | number | boolean | null)[];

/** The events of a batch as `appendText` reads them, a row each; `first` is the place of the first of a part. */
export function eventRows(events: readonly PreparedEvent[], { subjectOf, eventNameOf }: ShortKeys, first = 0): Row[] {
  const met = new Set<string>();
  return events.map((event, ord) => [
    first + ord,
    event.key,
    event.id === event.key ? null : event.id,
    subjectOf(event.externalCustomerId),
    eventNameOf(event.eventName),
    event.timestamp,
    event.source,
    event.propertiesText,
    met.size === met.add(event.key).size,
  ]);
}

/** What they add to meters, a row each. */
export function gainRows(contributions: readonly EventContribution[], first = 0): Row[] {
  return contributions.map(({ ord, meter, quantity, distinct, group }) => [
    first + ord,
    meter.number,
    meter.version,
    decimalOfScaled(quantity),
    distinct === null ? null : digest(distinct),
    meter.keepsLatest,
    meter.rollupMinutes,
    group,
  ]);
}

const textColumns: ReadonlySet<number> = new Set([2, 6, 7]);
const groupColumn = 7;

/** The columns of the rows as parameters of the one statement. */
export function parametersOf(events: readonly Row[], gains: readonly Row[]): string[] {
  const column = (rows: readonly Row[], index: number, isText: boolean) => {
    const cells = rows.map((row) => row[index] ?? null);
    return isText ? textArray(cells as (string | null)[]) : plainArray(cells);
  };
  return [
    ...Array.from({ length: 9 }, (_, index) => column(events, index, textColumns.has(index))),
    ...Array.from({ length: 8 }, (_, index) => column(gains, index, index === groupColumn)),
  ];
}
