import { Client, Connection } from '@temporalio/client';
import { checkInvariants } from '../activities/check/check.ts';
import type { Finding } from '../db/check/invariant.ts';
import { openDatabase } from '../db/orm.ts';
import { sandboxOperator } from '../integrations/sandbox-gateway/operator.ts';
import { openSandboxStore } from '../integrations/sandbox-gateway/store.ts';
import { openPostgresUsageStore } from '../metering/postgres/usage-store.ts';
import { temporalSettings } from '../temporal-connection.ts';
import { exitCodeOf } from './exit-code.ts';
import { homeDirectory, readRunning } from './home.ts';

/**
 * `npm run check`: the invariants of an installation that may be in use. DATABASE_URL and TEMPORAL_ADDRESS name it, else it
 * is the one `npm start` runs here. Prints a line an invariant and ends with 1 when one does not hold.
 */
async function main(): Promise<number> {
  const running = process.env.DATABASE_URL ? undefined : readRunning(homeDirectory());
  const databaseUrl = process.env.DATABASE_URL || running?.databaseUrl;
  if (!databaseUrl) {
    console.error('There is nothing to check: start Perennial with npm start, or set DATABASE_URL.');
    return 1;
  }
  const database = await openDatabase({ url: databaseUrl, poolSize: 4 });
  const metering = openPostgresUsageStore(database);
  const books = openSandboxStore({ url: databaseUrl, poolSize: 1 });
  const temporal = await connectTemporal(running?.temporalAddress);
  try {
    const findings = await checkInvariants({
      database,
      metering,
      gateway: sandboxOperator(books),
      ...(temporal ? { temporal: temporal.client } : {}),
    });
    return report(findings, temporal !== null);
  } finally {
    await temporal?.connection.close();
    await metering.close();
    await books.close();
    await database.close();
  }
}

/** Null where nothing says where Temporal is, and where it does not answer. */
async function connectTemporal(address: string | undefined) {
  const environment = process.env;
  const { connection: options, namespace } = temporalSettings({
    ...environment,
    TEMPORAL_ADDRESS: environment.TEMPORAL_ADDRESS || address,
  });
  if (!address && !environment.TEMPORAL_ADDRESS && !environment.TEMPORAL_PROFILE && !environment.TEMPORAL_CONFIG_FILE) {
    return null;
  }
  try {
    const connection = await Connection.connect({ ...options, connectTimeout: '3s' });
    return { connection, client: new Client({ connection, namespace }) };
  } catch {
    return null;
  }
}

function report(findings: readonly Finding[], temporalAnswers: boolean): number {
  const byId = Map.groupBy(findings, (finding) => finding.id);
  const lines = [...byId].map(([id, group]) => {
    const examined = group.reduce((sum, finding) => sum + finding.examined, 0);
    const broken = group.flatMap((finding) => finding.violations);
    const rule = group.length === 1 ? group[0]?.rule : `${group.length} rules, among them: ${group[0]?.rule}`;
    const numbers = `${String(examined).padStart(9)} examined ${String(broken.length).padStart(4)} violations`;
    return { id, text: `${id.padEnd(4)}${numbers}   ${rule}` };
  });
  if (!temporalAnswers)
    lines.push({
      id: 'I20',
      text: `I20 ${'not checked'.padStart(34)}   Temporal does not answer; set TEMPORAL_ADDRESS`,
    });
  lines.sort((a, b) => Number(a.id.slice(1)) - Number(b.id.slice(1)));
  for (const { text } of lines) console.log(text);
  const violated = findings.filter((finding) => finding.violations.length > 0);
  for (const { id, rule, violations } of violated) {
    console.log(`\n${id} does not hold: ${rule}`);
    for (const { object, problem } of violations) console.log(`  ${object}: ${problem}`);
  }
  console.log(violated.length === 0 ? '\nEvery invariant holds.' : `\n${violated.length} rules do not hold.`);
  return violated.length === 0 ? 0 : 1;
}

process.exitCode = await exitCodeOf(main);
