import { createHash } from 'node:crypto';

/** The key of a session without one: the same cart of the same customer meets the session that runs. design: money-in-checkout §A14 */
export function cartKey(customerId: string, action: string, configuration: unknown): string {
  const content = JSON.stringify([customerId, action, sorted(configuration)]);
  return `cart:${createHash('sha256').update(content).digest('hex')}`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, sorted(member)]),
  );
}
