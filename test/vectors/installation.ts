import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { openDatabase } from '../../db/orm.ts';
import { applicationRole } from '../../db/prepare.ts';
import { applicationPassword, type ServersOfRun, startServers, templateDatabase } from '../support/servers.ts';
import { startEngine, type UsageEngine } from '../support/tested-engine.ts';
import { storeSource } from './store-source.ts';
import { askUsageOf } from './usage-source.ts';

let servers: Promise<ServersOfRun> | undefined;
const stops: (() => Promise<void>)[] = [];

/** The servers of this run, started by who needs them first. */
export function serversOfRun(): Promise<ServersOfRun> {
  servers ??= startServers();
  return servers;
}

/** Has something ended with the run, the last one first. */
export function endWithRun(stop: () => Promise<void>): void {
  stops.push(stop);
}

/** Ends what the vectors of this run needed; nothing if they needed nothing. */
export async function endRun(): Promise<void> {
  while (stops.length > 0) await stops.pop()?.();
  await (await servers?.catch(() => undefined))?.stop();
}

/** A database of its own. */
export async function newDatabase(): Promise<{ ownerUrl: string; applicationUrl: string }> {
  const { postgresUrl } = await serversOfRun();
  const name = `vectors_${randomUUID().replaceAll('-', '')}`;
  const superuser = new pg.Client({ connectionString: postgresUrl });
  await superuser.connect();
  await superuser.query(`create database ${name} template ${templateDatabase}`);
  await superuser.end();
  const url = new URL(postgresUrl);
  url.pathname = name;
  const ownerUrl = url.href;
  url.username = applicationRole;
  url.password = applicationPassword;
  return { ownerUrl, applicationUrl: url.href };
}

/** Has a usage engine answer what vectors ask about events; tells how often it was asked. */
export async function answerBy(engine: UsageEngine): Promise<{ readonly asked: number }> {
  const { applicationUrl } = await newDatabase();
  const database = await openDatabase({ url: applicationUrl });
  endWithRun(() => database.close());
  const tested = await startEngine(engine, database);
  endWithRun(() => tested.stop());
  const answers = { asked: 0 };
  const onAsked = () => {
    answers.asked += 1;
  };
  askUsageOf(storeSource({ database, engines: [tested], onAsked }));
  return answers;
}
