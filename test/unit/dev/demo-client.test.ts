import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { demoClient } from '../../../dev/demo/client.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const answers: Answer[] = [];
const keys: string[] = [];
const server = createServer((request, response) => {
  keys.push(String(request.headers['idempotency-key']));
  (answers.shift() ?? status(500, '{}'))(request, response);
});
await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
afterAll(() => server.close());
const client = demoClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, 'key');

const underWay = '{"code":"already_exists","message":"A request with this Idempotency-Key is under way."}';

function status(code: number, body: string): Answer {
  return (_request, response) => void response.writeHead(code).end(body);
}

test('a request whose answer is lost is sent again with its key until its first try is done', async () => {
  keys.length = 0;
  answers.push(
    (request) => request.socket.destroy(),
    status(503, ''),
    status(409, underWay),
    status(201, '{"id":"a"}'),
  );
  expect(await client.send('POST', '/plans', {})).toEqual({ id: 'a' });
  expect(keys.length).toBe(4);
  expect(new Set(keys).size).toBe(1);
});

test('a refusal is not sent again', async () => {
  keys.length = 0;
  answers.push(status(409, '{"code":"already_exists"}'));
  await expect(client.send('POST', '/plans', {})).rejects.toMatchObject({ name: 'ApiProblem', status: 409 });
  answers.push(status(409, underWay));
  await expect(client.send('POST', '/plans', {})).rejects.toMatchObject({ status: 409 });
  expect(keys.length).toBe(2);
});
