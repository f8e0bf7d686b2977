import type { Client } from '@temporalio/client';
import { checkInvariants } from '../../activities/check/check.ts';
import { checkWorkflows } from '../../activities/check/check-workflows.ts';
import type { Finding, InvariantId } from '../../db/check/invariant.ts';
import type { Database } from '../../db/orm.ts';
import { sandboxOperator } from '../../integrations/sandbox-gateway/operator.ts';
import { openSandboxStore } from '../../integrations/sandbox-gateway/store.ts';
import { openPostgresUsageStore } from '../../metering/postgres/usage-store.ts';
import { checkProviderBooks, type FakesByGateway } from './gateways/provider-books.ts';

/**
 * Fails unless every invariant holds on a test's database, that of gateways also by the books of the file's `fakes`; `except` names those a
 * file breaks on purpose. Workers may be gone by then, so what they had begun counts as under way. design: quality.md Invariants
 */
export async function assertInvariants(
  base: { database: Database; applicationUrl: string },
  { except = [], fakes = {} }: { except?: readonly InvariantId[] | undefined; fakes?: FakesByGateway | undefined } = {},
): Promise<void> {
  const metering = openPostgresUsageStore(base.database);
  const books = openSandboxStore({ url: base.applicationUrl, poolSize: 1 });
  try {
    const findings = [
      ...(await checkInvariants({ database: base.database, metering, gateway: sandboxOperator(books) })),
      ...(await checkProviderBooks(base.database, fakes)),
    ];
    const broken = violationsOf(findings).filter(({ id }) => !except.includes(id));
    if (broken.length > 0) throw new Error(`invariants do not hold:\n${broken.map(({ text }) => text).join('\n')}`);
  } finally {
    await metering.close();
    await books.close();
  }
}

/** Fails unless every workflow comes to rest at what its row says (I20). Needs running workers. */
export async function assertWorkflowsAgree(base: { database: Database }, temporal: { client: Client }): Promise<void> {
  const broken = violationsOf([await checkWorkflows(base.database, temporal.client, { patienceMs: 20_000 })]);
  if (broken.length > 0) throw new Error(`invariants do not hold:\n${broken.map(({ text }) => text).join('\n')}`);
}

/** One line a violation: `I6 inv_…: subtotal 5 …`. */
export function violationsOf(findings: readonly Finding[]): { id: InvariantId; object: string; text: string }[] {
  return findings.flatMap(({ id, violations }) =>
    violations.map(({ object, problem }) => ({ id, object, text: `${id} ${object}: ${problem}` })),
  );
}
