import { sandboxCardNumber } from '../integrations/sandbox-gateway/card.ts';
import { makeCustomer, makePlan, makeSubscription } from './account.ts';
import { percentile } from './measure.ts';
import { type BenchPlatform, withBenchPlatform } from './platform.ts';

type Api = BenchPlatform['api'];

const lives = Number(process.env.BENCH_SUBSCRIPTIONS || 100);
const warmUps = 5;
/** Milliseconds in the 95th percentile: what is aimed at, and what no command may exceed. */
const goalMs = 150;
const floorMs = 300;

const commands = ['create', 'quantity', 'change', 'pause', 'resume'] as const;
type Timed = Record<(typeof commands)[number], number[]>;

interface Plans {
  from: string;
  to: string;
}

/**
 * Milliseconds from request to answer of single commands, one after the other with nothing else going on: a subscription with its opening
 * payment, a change of quantity and of plan with prorations, a pause and a resume. The reference is the floor of 300 ms in the 95th percentile;
 * the product is the slowest command, and a ratio above 1 ends with 1. `BENCH_SUBSCRIPTIONS` chooses the number of lives.
 */
export async function run(): Promise<void> {
  await withBenchPlatform(async (platform) => {
    await platform.startWorkers();
    const { api } = platform;
    const plans = {
      from: (await makePlan(api, { fee: '30', perCall: '0.10', eventName: 'call' })).planId,
      to: (await makePlan(api, { fee: '60', perCall: '0.10', eventName: 'talk' })).planId,
    };
    for (let count = 0; count < warmUps; count += 1) await life(api, plans, `warm-up-${count}`, emptyTimes());
    const taken = emptyTimes();
    for (let count = 0; count < lives; count += 1) await life(api, plans, `customer-${count}`, taken);
    await platform.checkInvariants();
    tell(taken);
  });
}

/** One subscription through all commands, each timed alone. */
async function life(api: Api, plans: Plans, externalId: string, taken: Timed): Promise<void> {
  const timed = async <Body>(command: keyof Timed, work: () => Promise<Body>): Promise<Body> => {
    const began = performance.now();
    const answer = await work();
    taken[command].push(performance.now() - began);
    return answer;
  };
  const customerId = await makeCustomer(api, { externalId, card: sandboxCardNumber('succeeds') });
  const { id } = await timed('create', () => makeSubscription(api, { customer_id: customerId, plan_id: plans.from }));
  const found = await api<Found>('GET', `/subscriptions/${id}`);
  if (found.subscription_status !== 'active') throw new Error(`the new subscription is ${found.subscription_status}`);
  const seats = found.line_items.find(({ price_type }) => price_type === 'FIXED');
  if (!seats) throw new Error('the new subscription has no fee');
  await timed('quantity', () =>
    api('POST', `/subscriptions/${id}/modify/execute`, {
      type: 'quantity_change',
      quantity_change_params: { line_items: [{ id: seats.id, quantity: '2' }] },
    }),
  );
  await timed('change', () =>
    api('POST', `/subscriptions/${id}/change/v2/execute`, {
      target_plan_id: plans.to,
      proration_behavior: 'create_prorations',
    }),
  );
  await timed('pause', () => api('POST', `/subscriptions/${id}/pause`, {}));
  await timed('resume', () => api('POST', `/subscriptions/${id}/resume`, {}));
}

interface Found {
  subscription_status: string;
  line_items: { id: string; price_type: string }[];
}

function tell(taken: Timed): void {
  let slowest = 0;
  for (const command of commands) {
    const [p50, p95, max] = [0.5, 0.95, 1].map((share) => Math.round(percentile(taken[command], share)));
    slowest = Math.max(slowest, p95 ?? 0);
    console.log(JSON.stringify({ bench: 'commands', command, times: taken[command].length, p50, p95, max, goalMs }));
  }
  const ratio = Number((slowest / floorMs).toPrecision(4));
  console.log(
    JSON.stringify({ bench: 'commands', ratio, min: ratio, max: ratio, reference: floorMs, product: slowest }),
  );
  if (ratio > 1) process.exitCode = 1;
}

function emptyTimes(): Timed {
  return { create: [], quantity: [], change: [], pause: [], resume: [] };
}
