import type { ProviderScript } from '../provider-adapter.ts';
import { isSandboxKey } from './client.ts';

const path = '/paddle/v2/paddle.js';

/**
 * Paddle's script, which a payer's browser loads on our page: Paddle has no page of its own. Null where the connection has no token for it.
 * `baseUrl` is the address of a fake, which serves its own script. design: money-in-checkout §C paddle; docs: providers.md
 */
export function paddleScript(apiKey: string, clientToken: string, baseUrl: string | undefined): ProviderScript | null {
  if (clientToken === '') return null;
  const isTest = isSandboxKey(apiKey);
  if (baseUrl !== undefined) {
    const { origin, href } = new URL(path, baseUrl);
    return {
      kind: 'script',
      url: href,
      clientToken,
      isTest,
      scripts: [origin],
      frames: [origin],
      styles: [],
      connects: [],
    };
  }
  const prefix = isTest ? 'sandbox-' : '';
  return {
    kind: 'script',
    url: `https://cdn.paddle.com${path}`,
    clientToken,
    isTest,
    scripts: ['https://cdn.paddle.com'],
    frames: [`https://${prefix}buy.paddle.com`],
    styles: [`https://${prefix}cdn.paddle.com`],
    connects: [`https://${prefix}checkout-service.paddle.com`],
  };
}
