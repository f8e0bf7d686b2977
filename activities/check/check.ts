import type { Client } from '@temporalio/client';
import { checkRows } from '../../db/check/check-rows.ts';
import type { Finding } from '../../db/check/invariant.ts';
import type { Database } from '../../db/orm.ts';
import { systemScope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import type { SandboxOperator } from '../../integrations/sandbox-gateway/operator.ts';
import type { UsageStore } from '../../metering/usage-store.ts';
import { checkCaptures } from './check-captures.ts';
import { checkUsage } from './check-usage.ts';
import { checkWorkflows } from './check-workflows.ts';

export interface CheckDependencies {
  database: Database;
  metering: UsageStore;
  /** The sandbox gateway's books, where this installation uses it. */
  gateway?: SandboxOperator;
  /** Needs running workers; without it I20 is left out. */
  temporal?: Client;
  /** How long something due may be under way before I18 counts it. */
  graceMs?: number;
}

const defaultGraceMs = 15 * 60_000;

/**
 * Checks invariants I1–I20 of every tenant on a database that may be in use: rows are read in one snapshot. It changes
 * nothing. What each rule means stands beside it in db/check and the check-*.ts files here. design: quality.md Invariants
 */
export async function checkInvariants(dependencies: CheckDependencies): Promise<Finding[]> {
  const { database, metering, gateway, temporal, graceMs = defaultGraceMs } = dependencies;
  const { rows, environments } = await inSqlTransaction(database, systemScope, async (tx) => {
    await tx.rows('set transaction isolation level repeatable read, read only');
    return { rows: await checkRows(tx, { graceMs }), environments: await tx.rows<EnvironmentRow>(environmentsText) };
  });
  const findings = [...rows];
  for (const { id, tenant_id } of environments) {
    findings.push(...(await checkUsage(database, metering, { tenantId: tenant_id, environmentId: id })));
  }
  if (gateway) findings.push(...(await checkCaptures(database, gateway)));
  if (temporal) findings.push(await checkWorkflows(database, temporal));
  return findings;
}

interface EnvironmentRow {
  id: string;
  tenant_id: string;
  [column: string]: unknown;
}

const environmentsText = 'select id, tenant_id from environment order by number';
