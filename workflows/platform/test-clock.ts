import {
  allHandlersFinished,
  condition,
  patched,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { TestClockActivities } from '../../activities/platform/test-clock.ts';
import { databaseStep, heartbeatTimeout } from '../activity-options.ts';
import { reasonOf } from '../failure.ts';
import { described, remedy } from '../handler-descriptions.ts';
import { retry } from '../lifecycle.messages.ts';
import { blockedOnKey, statusKey } from '../search-attributes.ts';
import { advance, progress, type TestClockStart } from './test-clock.messages.ts';

const local = proxyLocalActivities<TestClockActivities>(databaseStep);
const { advanceClock } = proxyActivities<TestClockActivities>({
  startToCloseTimeout: '6h',
  heartbeatTimeout,
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '2s' },
});

/**
 * Writes the search attributes that change: whether the clock advances, and that it is parked. Runs that began with an earlier release
 * write down that they are parked, and nothing else.
 */
function createLabels(): (status: 'advancing' | 'ready', blockedOn: string | null) => void {
  const isLabelled = patched('2026-11-clock-labels');
  let shown: { status: string; blockedOn: string | null } = { status: '', blockedOn: null };
  return (status, blockedOn) => {
    if (!isLabelled) {
      if (blockedOn !== null) upsertSearchAttributes([{ key: blockedOnKey, value: blockedOn }]);
      return;
    }
    const changes = [
      ...(status === shown.status ? [] : [{ key: statusKey, value: status }]),
      ...(blockedOn === shown.blockedOn ? [] : [{ key: blockedOnKey, value: blockedOn }]),
    ];
    if (changes.length > 0) upsertSearchAttributes(changes);
    shown = { status, blockedOn };
  };
}

const idleTimeoutMs = 5_000;
/** A clock that stands and has a longer history than this makes place for a new run, which the next advance starts. */
const longestAtRestEvents = 16;

interface AdvanceRequest {
  to: string;
  answer(accepted: { frozenTime: string; targetTime: string }): void;
  fail(error: unknown): void;
}

/**
 * Moves a test clock to where it was asked to go: every object of its customers does what is due, instant after instant,
 * through the production code. The row holds target and progress, so a killed worker goes on where it was. A clock that
 * cannot go on waits for a person; the same advance again, or `retry`, lets it try. design: architecture §4
 */
export async function testClock(start: TestClockStart): Promise<void> {
  const requests: AdvanceRequest[] = [];
  let target: string | null = null;
  let walking = false;
  let arrived = false;
  let blockedOn: string | null = null;

  // As in every workflow here, handlers only put down what is asked: one loop acts, so that a replay acts in the same order.
  setHandler(
    retry,
    () => {
      blockedOn = null;
      return { performing: 'advanceClock' };
    },
    described(retry),
  );
  setHandler(
    advance,
    ({ to }) => new Promise((answer, fail) => requests.push({ to, answer, fail })),
    described(advance),
  );
  setHandler(progress, () => ({ targetTime: target, advancing: walking, blockedOn }), described(progress));
  const show = (standing: string) => setCurrentDetails(`Test clock ${start.testClockId}\n\n${standing}`);
  const label = createLabels();

  async function accept(request: AdvanceRequest): Promise<void> {
    try {
      const accepted = await local.beginAdvance({ ...start, to: request.to });
      target = accepted.targetTime;
      blockedOn = null;
      request.answer(accepted);
    } catch (error) {
      request.fail(error);
    }
  }

  function walk(): void {
    walking = true;
    show(`advancing to ${target}`);
    label('advancing', null);
    advanceClock(start).then(
      () => {
        walking = false;
        arrived = true;
      },
      (error: unknown) => {
        walking = false;
        blockedOn = reasonOf(error);
        show(`**parked** on its way to ${target}: ${blockedOn}\n\n${remedy}`);
        label('advancing', 'advanceClock');
      },
    );
  }

  /** The row may show the end before this hears of it, and then take the next target: what is still to be walked stands there. */
  async function arrive(): Promise<void> {
    arrived = false;
    target = (await local.resumeAdvance(start)).targetTime;
    if (target !== null) return;
    show('stands where it was sent');
    label('ready', null);
  }

  target = (await local.resumeAdvance(start)).targetTime;
  for (;;) {
    const request = requests.shift();
    if (request) await accept(request);
    else if (arrived) await arrive();
    else if (target !== null && !walking && blockedOn === null) walk();
    else if (target !== null) await condition(() => requests.length > 0 || arrived || (!walking && !blockedOn));
    else if (workflowInfo().historyLength > longestAtRestEvents) break;
    else if (!(await condition(() => requests.length > 0, idleTimeoutMs))) break;
  }
  await condition(allHandlersFinished);
}
