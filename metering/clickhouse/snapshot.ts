import { isNumberOf } from './literal.ts';

/** What a transaction saw: `xmin:xmax:xip,…` as PostgreSQL writes it. */
export interface Snapshot {
  readonly xmin: bigint;
  readonly xmax: bigint;
  /** Those between the two that were still running. */
  readonly running: readonly bigint[];
}

/** The snapshot that sees nothing. */
export const emptySnapshot = '1:1:';

export function parseSnapshot(text: string): Snapshot {
  const [xmin = '', xmax = '', running = ''] = text.split(':');
  return {
    xmin: BigInt(xmin),
    xmax: BigInt(xmax),
    running: running === '' ? [] : running.split(',').map(BigInt),
  };
}

/** Whether a snapshot sees what a transaction wrote. */
export function isVisible(txid: bigint, { xmin, xmax, running }: Snapshot): boolean {
  return txid < xmin || (txid < xmax && !running.includes(txid));
}

/** The same as a condition on a column of ClickHouse. */
export function visibleCondition(column: string, { xmin, xmax, running }: Snapshot): string {
  return `(${column} < ${xmin} or ${column} < ${xmax} and not ${isNumberOf(column, running)})`;
}
