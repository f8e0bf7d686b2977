import { buildApp } from './app.ts';
import type { AppDependencies } from './dependencies.ts';

/** The OpenAPI document of every route, as text. It needs no server: building the API opens nothing. */
export async function openApiDocument(): Promise<string> {
  const nothing = {} as AppDependencies;
  const app = await buildApp({
    ...nothing,
    config: { rateLimitPerSecond: 0, maxEventLoopDelayMs: 0, trustProxy: false },
    logger: false,
  });
  try {
    return `${JSON.stringify(app.swagger(), null, 2)}\n`;
  } finally {
    await app.close();
  }
}
