import { refuse } from '../../billing/refusal.ts';
import { badField } from '../../db/rows/record.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';

const sandbox = 'sandbox';

/** A key, or what `kind` names, whose mode is known. */
export interface ToldMode {
  /** The secret that tells it. */
  member: string;
  told: 'test' | 'live';
  /** Word for the member, where it is no key. */
  kind?: string | undefined;
}

/**
 * Refuses (`validation_error`) keys of a provider that move money in a development environment, where time is played with, and test
 * keys in a production one, where orders would go out unpaid. design: money-in-checkout §A12
 */
export async function refuseOtherMode(
  sql: Sql,
  scope: Scope,
  provider: string,
  modes: readonly ToldMode[],
): Promise<void> {
  if (modes.length === 0) return;
  const [environment] = await sql.rows<{ type: string }>('select type from environment where id = $1', [
    scope.environmentId,
  ]);
  const wanted = environment?.type === 'production' ? 'live' : 'test';
  const other = modes.find(({ told }) => told !== wanted);
  if (!other) return;
  const { member, told, kind = 'key' } = other;
  throw badField(
    member,
    `is a ${told} ${kind}; ${environment?.type} environments take ${wanted} ${kind}s of ${provider} alone`,
  );
}

/**
 * Refuses (`invalid_operation`) the sandbox gateway in a production environment, where an order that no money was paid for would go out.
 * design: money-in-checkout §A12, §B4
 */
export async function refusePlayedMoney(sql: Sql, scope: Scope, gateway: string): Promise<void> {
  if (gateway !== sandbox) return;
  const [environment] = await sql.rows<{ type: string }>('select type from environment where id = $1', [
    scope.environmentId,
  ]);
  if (environment?.type !== 'production') return;
  throw refuse(
    'invalid_operation',
    `${sandbox} moves no money and is for development environments; this one is production`,
  );
}
