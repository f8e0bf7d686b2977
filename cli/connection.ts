import { type Command, Option } from 'commander';

/** The API that a command talks to. */
export interface Connection {
  apiUrl: string;
  apiKey?: string;
}

/** Problem that the caller can mend, told without a stack. */
export class Problem extends Error {}

/** No API answers at the address. */
export class Unreachable extends Problem {}

/** Gives a command the options that say which API it talks to. */
export function connected(command: Command): Command {
  return command
    .addOption(
      new Option('--api-url <url>', 'where the API is').env('PERENNIAL_API_URL').default('http://127.0.0.1:8080'),
    )
    .addOption(new Option('--api-key <key>', 'an API key of the environment').env('PERENNIAL_API_KEY'));
}

/** Sends a request to `/v1` and a path. Throws a `Problem` without a key, and `Unreachable`. */
export async function send({ apiUrl, apiKey }: Connection, path: string, request: RequestInit): Promise<Response> {
  if (!apiKey) throw new Problem('Give an API key with --api-key or PERENNIAL_API_KEY.');
  const headers = { 'x-api-key': apiKey, ...(request.headers as Record<string, string> | undefined) };
  return fetch(`${apiUrl.replace(/\/$/, '')}/v1${path}`, { ...request, headers }).catch((error: Error) => {
    if (request.signal?.aborted) throw error;
    throw new Unreachable(
      `No API answers at ${apiUrl}: ${String((error.cause as Error | undefined)?.message ?? error.message)}`,
    );
  });
}
