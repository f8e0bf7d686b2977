import type { BilledLine } from '../../charging/subscription-charge.ts';

/** A line of a trial: what will be charged later, at nothing. */
export function freeLine(line: BilledLine): BilledLine {
  return {
    ...line,
    amount: '0',
    metadata: { ...line.metadata, trial: 'true' },
    derivation: { ...line.derivation, parts: [], amount: '0' },
  };
}
