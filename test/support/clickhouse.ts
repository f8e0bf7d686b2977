import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Session } from 'chdb';

/** The real engine, in this process, behind the HTTP interface that the official client speaks. */
export interface TestClickHouse {
  /** With a database of its own, as `CLICKHOUSE_URL`. */
  readonly url: string;
  /** Runs a statement past the client. */
  query(text: string): string;
  /** Given to every insert before it is done (true: it is lost) and after it (true: its answer is lost). */
  lose(insert: { before?: () => boolean; after?: () => boolean }): void;
  stop(): Promise<void>;
}

const database = 'perennial';
/** What travels beside a statement and is no setting of it. */
const transport = new Set(['query', 'database', 'query_id', 'session_id', 'default_format', 'role']);

/** Starts ClickHouse from its npm package; the file ends with `stop`. */
export async function startClickHouse(): Promise<TestClickHouse> {
  const directory = mkdtempSync(join(tmpdir(), 'perennial-clickhouse-'));
  const session = new Session(directory);
  session.query(`create database ${database}`);
  session.query(`use ${database}`);
  let lost: { before?: () => boolean; after?: () => boolean } = {};
  const server = createServer(async (request, response) => {
    const { statement, settings, isInsert } = await statementOf(request);
    try {
      if (isInsert && lost.before?.()) return request.socket.destroy();
      for (const [name, value] of settings) session.query(`set ${name} = '${value.replaceAll("'", "\\'")}'`);
      const answer = session.query(statement, 'TabSeparated');
      if (isInsert && lost.after?.()) return request.socket.destroy();
      return response.writeHead(200).end(answer);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const code = /Code: (\d+)/.exec(message)?.[1] ?? '0';
      return response.writeHead(500, { 'x-clickhouse-exception-code': code }).end(message);
    }
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${database}`,
    query(statement) {
      session.query("set insert_deduplication_token = ''");
      return session.query(statement, 'TabSeparated');
    },
    lose(insert) {
      lost = insert;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      session.cleanup();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** A statement is in the address, in the body, or begins in the one and goes on in the other. */
async function statementOf(request: IncomingMessage) {
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const body = await text(request);
  const begun = searchParams.get('query');
  const statement = begun === null ? body : `${begun}\n${body}`;
  const settings = [...searchParams].filter(([name]) => !transport.has(name));
  return { statement, settings, isInsert: /^\s*insert/i.test(statement) };
}
