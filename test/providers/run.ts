import { StartupProblem } from '../../dev/processes.ts';
import { againstLocalstripe } from './localstripe.ts';
import { againstStripeMock } from './stripe-mock.ts';

/*
 * `npm run test:providers`: what Stripe's adapter sends is held against servers that others wrote. Ends with 1 when a check failed, when there
 * was none, or when a server did not start.
 */
const total = { passed: 0, failed: 0 };
for (const run of [againstStripeMock, againstLocalstripe]) {
  try {
    const { passed, failed } = await run();
    total.passed += passed;
    total.failed += failed + (passed + failed === 0 ? 1 : 0);
  } catch (error) {
    if (!(error instanceof StartupProblem)) throw error;
    console.error(error.message);
    total.failed += 1;
  }
}
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
