import { realNow } from '../../db/clock.ts';
import { instantText } from '../../db/rows/columns.ts';
import { badField, missing } from '../../db/rows/record.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';

/** A customer as a creation names it: by its id, which wins, or by its external id. */
export interface CustomerNames {
  customer_id?: string | null | undefined;
  external_customer_id?: string | null | undefined;
}

/** Whose something new is, and what time it is for them. */
export interface CustomerPresent {
  id: string;
  testClockId: string | null;
  at: string;
}

interface PresentRow {
  id: string;
  test_clock_id: string | null;
  frozen_time: string | null;
  [column: string]: unknown;
}

const presentText = (condition: string) => `
select customer.id, customer.test_clock_id, clock.frozen_time
from customer left join test_clock clock on clock.id = customer.test_clock_id
where customer.environment_id = $1 and ${condition}`;
const byIdText = presentText('customer.id = $2');
const byExternalIdText = presentText(`customer.external_id = $2 and customer.status = 'published'`);

/**
 * The customer that a creation names and its present, in one statement; by its id archived ones too. Throws `not_found`, and
 * `validation_error` when none is named. spec: subscriptions-and-invoicing §1.2; platform §10.2; README decision 3
 */
export async function readCustomerPresent(sql: Sql, scope: Scope, names: CustomerNames): Promise<CustomerPresent> {
  const { customer_id: id, external_customer_id: externalId } = names;
  if (!id && !externalId) throw badField('customer_id', 'or external_customer_id is required');
  const [row] = id
    ? await sql.rows<PresentRow>(byIdText, [scope.environmentId, id], 'customer-present')
    : await sql.rows<PresentRow>(byExternalIdText, [scope.environmentId, externalId], 'external-customer-present');
  if (!row) throw missing('customer', id || externalId || '', id ? 'customer_id' : 'external_id');
  return { id: row.id, testClockId: row.test_clock_id, at: row.frozen_time ? instantText(row.frozen_time) : realNow() };
}
