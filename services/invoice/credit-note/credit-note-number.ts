import type { Transaction } from '../../../db/transaction.ts';

const digits = 5;

/**
 * The next number of the environment's series of credit notes, `CN-260200001`: the month in UTC in which it was made, and five digits that
 * count from 1 in each (12 characters, as the interface has them; the 100 000th of a month has one more). The sequence stays locked until
 * the transaction ends, so the series has no gap. A number that a caller gave to another note is passed over.
 * spec: platform §1.2, subscriptions-and-invoicing §1.12.1; the series is ours
 */
export async function nextCreditNoteNumber(tx: Transaction, at: string): Promise<string> {
  const { environmentId } = tx.scope;
  const month = `${at.slice(2, 4)}${at.slice(5, 7)}`;
  for (;;) {
    const [sequence] = await tx.rows<{ last: string }>(
      `insert into invoice_number_sequence (environment_id, date_key, last) values ($1, $2, 1)
       on conflict (environment_id, date_key) do update set last = invoice_number_sequence.last + 1 returning last`,
      [environmentId, `credit-note/${month}`],
    );
    const number = `CN-${month}${String(sequence?.last).padStart(digits, '0')}`;
    const taken = await tx.rows('select 1 from credit_note where environment_id = $1 and credit_note_number = $2', [
      environmentId,
      number,
    ]);
    if (taken.length === 0) return number;
  }
}
