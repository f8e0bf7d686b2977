import { refuse } from '../../billing/refusal.ts';
import { badField } from '../../db/rows/record.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import type { Provider } from './connection-config.ts';
import type { ConnectionSecrets } from './connection-secret.ts';

const sandbox = 'sandbox';

type Mode = 'test' | 'live';

/** A member whose text tells whether it moves money, and what tells it. */
interface Telling {
  member: string;
  test: RegExp;
  live: RegExp;
  /** Word for the member, where it is no key. */
  kind?: string;
}

/** Members that tell the mode, by provider. A key that says nothing is taken as it is. */
const modes: Partial<Record<Provider, Telling | readonly Telling[]>> = {
  chargebee: [
    { member: 'api_key', test: /^test_/, live: /^live_/ },
    { member: 'site', test: /-test$/i, live: /(?!)/, kind: 'site' },
  ],
  stripe: { member: 'secret_key', test: /^(sk|rk)_test_/, live: /^(sk|rk)_live_/ },
  razorpay: { member: 'key_id', test: /^rzp_test_/, live: /^rzp_live_/ },
  paddle: { member: 'api_key', test: /^pdl_sdbx_/, live: /^pdl_live_/ },
  moyasar: { member: 'secret_key', test: /^sk_test_/, live: /^sk_live_/ },
};

/**
 * Refuses (`validation_error`) keys of a provider that move money in a development environment, where time is played with, and test
 * keys in a production one, where orders would go out unpaid. design: money-in-checkout §A12
 */
export async function refuseOtherMode(
  sql: Sql,
  scope: Scope,
  provider: Provider,
  secrets: ConnectionSecrets | null,
): Promise<void> {
  for (const telling of [modes[provider] ?? []].flat()) {
    const told = modeOf(telling, secrets?.[telling.member] ?? '');
    await refuseToldMode(sql, scope, { ...telling, provider, told });
  }
}

/**
 * Refuses likewise a key, or what `kind` names, whose mode its provider told when it was asked; `told` is null where it told none.
 * design: money-in-checkout §A12
 */
export async function refuseToldMode(
  sql: Sql,
  scope: Scope,
  { provider, member, told, kind = 'key' }: { provider: string; member: string; told: Mode | null; kind?: string },
): Promise<void> {
  if (told === null) return;
  const [environment] = await sql.rows<{ type: string }>('select type from environment where id = $1', [
    scope.environmentId,
  ]);
  const wanted: Mode = environment?.type === 'production' ? 'live' : 'test';
  if (told === wanted) return;
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

function modeOf({ test, live }: Telling, text: string): Mode | null {
  if (live.test(text)) return 'live';
  return test.test(text) ? 'test' : null;
}
