import { DefaultLogger, Runtime } from '@temporalio/worker';

/**
 * The SDK's runtime, of which a process has one: every file that opens a connection of workers imports this first, for files share
 * processes. What a worker warns about here is what the tests provoke, and no signal but the run's own stops it.
 */
Runtime.install({ logger: new DefaultLogger(process.env.TEST_LOG ? 'WARN' : 'ERROR'), shutdownSignals: [] });
