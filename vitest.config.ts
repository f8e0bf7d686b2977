import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const servers = 'test/support/global-setup.ts';

/** Time that a poll waits for workers and servers by default. The second that vitest gives is too short on a busy machine. */
const patience = { poll: { timeout: 20_000 } };

/** Kinds of tests (design: quality.md). Only integration and conformance start servers, once a run for both. */
export default defineConfig({
  test: {
    // Tests wait much for timers and servers: a third file at a time keeps two cores busy.
    maxWorkers: 3,
    // Files after each other share a process, so that the product is loaded once and not 400 times. What a file starts hangs on
    // the file: its database, namespace and workers end with it, and no file may change what belongs to the process.
    isolate: false,
    // Processes of the product that tests start are compiled once, as with `npm start`.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/compile') },
    teardownTimeout: 30_000,
    projects: [
      // Some load the fonts and parsers of documents, which a machine that does other things at once takes seconds for.
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'], testTimeout: 30_000 } },
      { test: { name: 'simulation', include: ['test/simulation/**/*.test.ts'] } },
      { test: { name: 'replay', include: ['test/replay/**/*.test.ts'], testTimeout: 180_000 } },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          globalSetup: servers,
          pool: 'forks',
          expect: patience,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'conformance',
          include: ['test/conformance/**/*.test.ts'],
          globalSetup: servers,
          pool: 'forks',
          expect: patience,
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
