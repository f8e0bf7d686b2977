import type { FakeCall } from '../shell.ts';
import { RazorpayRefusal, shown, unknownId } from './books.ts';
import type { Parameters } from './parameters.ts';

/** Names of calls in faults. */
export type CallKind = 'open' | 'read' | 'close' | 'prepare' | 'note' | 'charge' | 'refund' | 'other';

/** A call that the fake has, with what it answers. */
export type Call = FakeCall<CallKind>;

/** A request as far as calls look at it. */
export interface AskedCall {
  method: string;
  path: string;
  query: URLSearchParams;
  parameters: Parameters;
  pageUrl: string;
}

/** The object of an id, or the refusal of one that is unknown. */
export function found<T>(objects: ReadonlyMap<string, T>, id: string): T {
  const object = objects.get(id);
  if (!object) throw unknownId();
  return object;
}

/** Ten at a time where nothing else is asked. */
export function collection(objects: readonly object[], query: URLSearchParams) {
  const skip = Number(query.get('skip') ?? 0);
  const count = Number(query.get('count') ?? 10);
  if (count > 100) throw new RazorpayRefusal('The count may not be greater than 100.', { field: 'count' });
  const items = objects.slice(skip, skip + count).map(shown);
  return { entity: 'collection', count: items.length, items };
}
