import type { Life, Usage } from './life.ts';
import type { OracleLife } from './oracle.ts';

/** Customers who inherit a subscription: their usage is its own while they do. spec: subscriptions-and-invoicing §2.13 */
export interface Heir {
  heir: number;
  start: number;
  end: number | null;
}

export function heirsOf({ heirs, start }: Life): Heir[] {
  return heirs.flatMap((atOnce, index) => (atOnce ? [{ heir: index + 1, start, end: null }] : []));
}

export function counted({ family }: OracleLife, { by, at }: Usage): boolean {
  return by === 0 || family.some(({ heir, start, end }) => heir === by && at >= start && (end === null || at < end));
}

/** Whether somebody inherits it at an instant. */
export const isParent = ({ family }: OracleLife, at: number): boolean =>
  family.some(({ end }) => end === null || end > at);

/** From the call on; whom it was to end for goes on. Only an active one takes heirs. */
export function inherit(life: OracleLife, at: number, wanted: number): boolean {
  if (life.status !== 'active') return false;
  const there = life.family.find(({ heir, end }) => heir === wanted && (end === null || end > at));
  if (there) there.end = null;
  else life.family.push({ heir: wanted, start: at, end: null });
  return true;
}

/** Until the end of the current period. */
export function disinherit(life: OracleLife, at: number, wanted: number): boolean {
  const there = life.family.find(({ heir, end }) => heir === wanted && (end === null || end > at));
  if (life.status === 'cancelled' || !there) return false;
  there.end ??= life.end;
  return true;
}
