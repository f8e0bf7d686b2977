import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { buildApp } from '../../../api/app.ts';
import { systemScope } from '../../../db/scope.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { freePort } from '../../../dev/ports.ts';
import { accountWithRoles } from '../../support/account.ts';
import { testApi } from '../../support/api.ts';
import { emitter } from './event-stream.fixture.ts';
import { expectNoGap, expectSigned, type Received, receiver, status } from './webhook.fixture.ts';

const base = await testApi({ eventStreams: { checkMs: 100, mostUnchecked: 300 } });
const { app, apiKey, call, database, scope } = base;
const apiUrl = await app.listen({ host: '127.0.0.1', port: 0 });
const emit = emitter(base);
const latest = async (): Promise<string> => (await call('GET', '/v1/outbound-events?after=latest')).body.next;

afterAll(() => app.server.closeAllConnections());

interface Listening {
  child: ChildProcess;
  said(): string;
  errors(): string;
  /** Resolves with its code when it has ended. */
  ended: Promise<number | null>;
}

/** `perennial listen` in a process of its own. */
function listen(args: string[], env: NodeJS.ProcessEnv = {}): Listening {
  const program = join(import.meta.dirname, '../../../cli/perennial.ts');
  const child = spawn(process.execPath, [program, 'listen', ...args], {
    env: { ...process.env, PERENNIAL_API_URL: apiUrl, PERENNIAL_API_KEY: apiKey, ...env },
  });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { child, said: () => output, errors: () => errors, ended };
}

const patient = { timeout: 30_000 };
const ready = (listening: Listening) => expect.poll(listening.said, patient).toContain('Ready.');
const places = (received: readonly Received[]) => received.map(({ object, sequence }) => `${object} ${sequence}`);
const end = async ({ child, ended }: Listening) => {
  child.kill('SIGINT');
  return ended;
};

test('events are posted as webhooks are, signed with the secret it prints, a line each', async () => {
  const to = await receiver();
  const listening = listen(['--forward-to', to.url]);
  await ready(listening);
  const made = await call('POST', '/v1/customers', { body: { external_id: 'acme', name: 'Acme' } });
  await call('PUT', `/v1/customers/${made.body.id}`, { body: { name: 'Acme Ltd' } });
  await expect.poll(() => to.received.length, patient).toBe(2);
  const [first, second] = to.received;
  const secret = /whsec_\S+/.exec(listening.said())?.[0] ?? '';
  for (const one of to.received) expectSigned(one, secret);
  expectNoGap(to.received);
  const feed = await call('GET', '/v1/outbound-events?limit=1000');
  const events = feed.body.items.filter((item: { entity_id: string }) => item.entity_id === made.body.id);
  expect([first, second].map((one) => [one?.id, JSON.parse(one?.body ?? '')])).toEqual(
    events.map((event: { id: string; payload: unknown }) => [event.id, event.payload]),
  );
  await expect.poll(listening.said, patient).toContain('customer.updated');
  expect(await end(listening)).toBe(0);
  const lines = listening.said().split('\n');
  expect(lines[2]).toMatch(new RegExp(`^customer.created {2}${made.body.id} 1 {2}${first?.id} {2}200 {2}\\d+ ms$`));
  expect(lines[3]).toContain(`customer.updated  ${made.body.id} 2`);
  expect(lines[4]).toBe(`Ended. Go on later with --from ${events[1].cursor}`);
  expect(listening.errors()).toBe('');
});

test('it begins at a position, keeps to the types asked for, and signs with a secret that was brought and is not shown', async () => {
  const to = await receiver();
  const from = await latest();
  await emit(['begun'], 'subscription.phase.created');
  await emit(['begun'], 'subscription.phase.updated');
  await emit(['begun'], 'subscription.phase.deleted');
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const types = 'subscription.phase.created,subscription.phase.deleted';
  const listening = listen(['--forward-to', to.url, '--from', from, '--types', types, '--secret', secret]);
  await expect.poll(() => to.received.length, patient).toBe(2);
  expect(places(to.received)).toEqual(['begun 1', 'begun 3']);
  expect(to.received.map(({ previous }) => previous)).toEqual([0, 1]);
  for (const one of to.received) expectSigned(one, secret);
  expect(await end(listening)).toBe(0);
  expect(listening.said()).not.toContain('whsec_');
});

test('the receiver of docs/outbound-events.md takes what is signed with its secret, and nothing else', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/outbound-events.md'), 'utf8');
  const program = /```js\n(.*?)```/s.exec(page)?.[1] ?? '';
  const [port, secret] = [await freePort(), `whsec_${Buffer.alloc(24, 9).toString('base64')}`];
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...process.env, PORT: String(port), SECRET: secret },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const address = `http://localhost:${port}/hook`;
  const from = await latest();
  await emit(['shown']);
  const good = listen(['--forward-to', address, '--from', from], { PERENNIAL_LISTEN_SECRET: secret });
  await expect.poll(good.said, patient).toMatch(/shown 1 {2}sys_event_\w+ {2}204/);
  expect(output).toMatch(/^sys_event_\w+ subscription\.phase\.updated\n$/);
  expect(await end(good)).toBe(0);
  const other = listen(['--forward-to', address, '--from', from]);
  await expect.poll(other.said, patient).toMatch(/shown 1 {2}sys_event_\w+ {2}401/);
  expect(await end(other)).toBe(0);
});

test('a failure is told, is not sent again, and holds up neither the object nor others', async () => {
  const to = await receiver((received, response) =>
    response.writeHead(received.object === 'broken' && received.sequence === 1 ? 500 : 200).end(),
  );
  const from = await latest();
  await emit(['broken', 'broken', 'whole']);
  const listening = listen(['--forward-to', to.url, '--from', from]);
  await expect.poll(() => to.received.length, patient).toBe(3);
  await expect.poll(listening.said, patient).toMatch(/broken 1 {2}sys_event_\w+ {2}500/);
  expect(places(to.received.filter(({ object }) => object === 'broken'))).toEqual(['broken 1', 'broken 2']);
  expect(to.received.find(({ sequence }) => sequence === 2)).toMatchObject({ previous: 1, skipped: 1 });
  expect(await end(listening)).toBe(0);
});

test('events of one object are sent one after another, also to a receiver that is slow', async () => {
  const open = new Map<string, number>();
  let most = 0;
  const to = await receiver((received, response) => {
    const count = (open.get(received.object) ?? 0) + 1;
    open.set(received.object, count);
    most = Math.max(most, count);
    setImmediate(() => {
      open.set(received.object, (open.get(received.object) ?? 0) - 1);
      response.writeHead(204).end();
    });
  });
  const from = await latest();
  const ids = Array.from({ length: 60 }, (_, index) => `line-${index % 3}`);
  await emit(ids);
  const listening = listen(['--forward-to', to.url, '--from', from]);
  await expect.poll(() => to.received.length, patient).toBe(60);
  expect(most).toBe(1);
  expectNoGap(to.received);
  expect(await end(listening)).toBe(0);
});

test('while nobody listens at the address events wait, and those that were not sent come with the position it ends with', async () => {
  const port = await freePort();
  const from = await latest();
  await emit(['waiting', 'waiting']);
  const waiting = listen(['--forward-to', `http://127.0.0.1:${port}/hook`, '--from', from]);
  await expect.poll(waiting.errors, patient).toContain('Nobody listens at');
  expect(await end(waiting)).toBe(0);
  const [, position = ''] = /--from (\S+)/.exec(waiting.said()) ?? [];
  expect(position).toBe(from);
  const to = await receiver(status(200));
  const again = listen(['--forward-to', to.url, '--from', position]);
  await expect.poll(() => places(to.received), patient).toEqual(['waiting 1', 'waiting 2']);
  expect(await end(again)).toBe(0);
});

test('it connects again after a restart of the API, misses nothing and sends nothing twice', async () => {
  const to = await receiver();
  const dependencies = { ...app.dependencies, eventStreams: {} };
  const old = await buildApp(dependencies);
  await old.listen({ host: '127.0.0.1', port: 0 });
  const { port } = old.server.address() as AddressInfo;
  const listening = listen(['--forward-to', to.url], { PERENNIAL_API_URL: `http://127.0.0.1:${port}` });
  await ready(listening);
  await emit(['again']);
  await expect.poll(() => places(to.received), patient).toEqual(['again 1']);
  await old.close();
  await emit(['again']);
  await expect.poll(listening.errors, patient).toContain('Connecting again.');
  const anew = await buildApp(dependencies);
  onTestFinished(() => anew.close());
  await anew.listen({ host: '127.0.0.1', port });
  await expect.poll(() => places(to.received), patient).toEqual(['again 1', 'again 2']);
  await emit(['again']);
  await expect.poll(() => places(to.received), patient).toEqual(['again 1', 'again 2', 'again 3']);
  expect(await end(listening)).toBe(0);
});

test('it ends with the reason when its key is revoked', async () => {
  const to = await receiver();
  const account = await accountWithRoles(database, scope, ['all_reader']);
  const listening = listen(['--forward-to', to.url], { PERENNIAL_API_KEY: account.apiKey });
  await ready(listening);
  await inSqlTransaction(database, systemScope, (tx) =>
    tx.rows(`update api_key set status = 'archived' where id = $1`, [account.keyId]),
  );
  expect(await listening.ended).toBe(1);
  expect(listening.errors()).toContain('The API answers 401');
});

test.each([
  ['an address that is none', ['--forward-to', 'localhost:3000'], {}, '--forward-to must be an http or https URL'],
  ['no address', [], {}, '--forward-to'],
  [
    'a type that there is not',
    ['--forward-to', 'http://localhost:1/', '--types', 'customer.update'],
    {},
    '"customer.update" is none',
  ],
  [
    'a position that is not known',
    ['--forward-to', 'http://localhost:1/', '--from', 'nonsense'],
    {},
    'does not know nonsense',
  ],
  [
    'a secret that cannot sign',
    ['--forward-to', 'http://localhost:1/', '--secret', 'whsec_c2hvcnQ='],
    {},
    '24 to 64 bytes',
  ],
  ['no key', ['--forward-to', 'http://localhost:1/'], { PERENNIAL_API_KEY: '' }, 'PERENNIAL_API_KEY'],
  ['no API', ['--forward-to', 'http://localhost:1/'], { PERENNIAL_API_URL: 'http://127.0.0.1:1' }, 'No API answers'],
] as const)('%s is refused with what would be taken', async (_, args, env, problem) => {
  const listening = listen([...args], env);
  expect(await listening.ended).toBe(1);
  expect(listening.errors()).toContain(problem);
  expect(listening.errors()).not.toContain('    at ');
  expect(listening.said()).toBe('');
});
