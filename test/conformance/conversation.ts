import { Flexprice } from '@flexprice/sdk';
import { type Fetcher, HTTPClient } from '@flexprice/sdk/lib/http.js';
import { SDKValidationError } from '@flexprice/sdk/sdk/models';
import type { Api } from '../support/app.ts';
import { checkDocumented } from '../support/documented.ts';
import { expectStrictWire } from '../support/wire-rules.ts';

/** What one area's operations are called with: the published client against a listening server, and what was made before. */
export interface Conversation {
  client: Flexprice;
  /** For what the published client has no method for: test clocks, saved cards, settings. */
  api: Api;
  made: {
    customerId: string;
    externalId: string;
    clockId: string;
    planId: string;
    addonId: string;
    featureId: string;
    meterId: string;
    eventName: string;
    subscriptionId: string;
    invoiceId: string;
  };
}

/** The calls of one area by operation name, in the order they are made. Each fails unless the answer parses and is right. */
export type AreaCalls = Record<string, () => Promise<void>>;

/** `fetcher` sends what the client asks, where that is not `fetch` itself. */
export function conversation(address: string, apiKey: string, api: Api, fetcher: Fetcher = fetch): Conversation {
  const httpClient = new HTTPClient({ fetcher });
  const bodies = new WeakMap<Request, unknown>();
  httpClient.addHook('beforeRequest', async (request) => {
    const text = await request.clone().text();
    if (text !== '') bodies.set(request, JSON.parse(text));
  });
  httpClient.addHook('response', async (answer, request) => {
    const isJson = answer.headers.get('content-type')?.includes('json');
    if (!isJson) return;
    const body: unknown = await answer.clone().json();
    checkDocumented(request.method, new URL(request.url).pathname, answer.status, bodies.get(request), body);
    expectStrictWire(`${request.method} ${request.url}`, body);
  });
  const client = new Flexprice({ serverURL: `${address}/v1`, apiKeyAuth: apiKey, httpClient });
  const made = {
    customerId: '',
    externalId: '',
    clockId: '',
    planId: '',
    addonId: '',
    featureId: '',
    meterId: '',
    eventName: '',
    subscriptionId: '',
    invoiceId: '',
  };
  return { client, api, made };
}

/** A member that must be there: `present(plan.id)`. */
export function present<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error('a member that must be there is missing');
  return value;
}

/** Makes the client say which member of an answer it could not parse. */
export async function legible(call: () => Promise<void>): Promise<void> {
  try {
    await call();
  } catch (error) {
    throw error instanceof SDKValidationError ? new Error(error.pretty()) : error;
  }
}
