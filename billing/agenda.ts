import { compareText } from './text-order.ts';

/**
 * One thing time will bring to an object: `kind` names the activity that does it, `ref` the part of the object it is about
 * (an invoice, a payment) or is empty. design: architecture §3
 */
export interface AgendaItem {
  at: string;
  kind: string;
  ref: string;
}

/**
 * Sorts an agenda by instant; entries of one instant follow `order`, the list of kinds in the order they are performed,
 * then their reference. The order is part of each lifecycle's contract.
 */
export function sortAgenda(items: readonly AgendaItem[], order: readonly string[]): AgendaItem[] {
  const rank = (item: AgendaItem) => order.indexOf(item.kind);
  return [...items].sort((a, b) => compareText(a.at, b.at) || rank(a) - rank(b) || compareText(a.ref, b.ref));
}
