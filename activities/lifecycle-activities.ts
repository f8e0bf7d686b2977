import { type LifecycleKind, lifecycleKindNames, lifecycleKinds } from '../lifecycles/kinds.ts';
import type { UsageReader } from '../services/usage-reader.ts';
import type { GatewayAccess } from './integration/connected-gateway.ts';
import type { PaymentPages } from './invoice/payer-page.ts';

/** Means that the activities of every lifecycle are made with; each takes those it needs. */
export interface LifecycleActivityDependencies extends GatewayAccess {
  readUsage: UsageReader;
  pages: PaymentPages;
  /** Timers of real time are spread over this window after their exact instant. */
  timerSpreadMs: number;
}

type Activities = Record<string, (...args: never[]) => Promise<unknown>>;
type ActivityModule = Record<string, (dependencies: LifecycleActivityDependencies) => Activities>;

/**
 * Activities of every lifecycle by their names, from the files that `lifecycles/kinds.ts` tells; `asking` are those of kinds that ask
 * gateways. Throws where a file lacks what it should make them with, and where two kinds have an activity of one name.
 */
export async function lifecycleActivities(
  dependencies: LifecycleActivityDependencies,
): Promise<{ all: Activities; asking: Activities }> {
  const made = await Promise.all(
    lifecycleKindNames.map(async (kind) => ({ kind, activities: await activitiesOf(kind, dependencies) })),
  );
  const asking = made.filter(({ kind }) => lifecycleKinds[kind].asksGateways);
  return { all: joined(made.map((each) => each.activities)), asking: joined(asking.map((each) => each.activities)) };
}

async function activitiesOf(kind: LifecycleKind, dependencies: LifecycleActivityDependencies): Promise<Activities> {
  const { activities, createActivities } = lifecycleKinds[kind];
  const file = new URL(`../${activities}`, import.meta.url);
  const module = (await import(file.href)) as ActivityModule;
  const create = module[createActivities];
  if (!create) throw new Error(`${activities} exports no ${createActivities}, which makes the activities of ${kind}`);
  return create(dependencies);
}

function joined(parts: readonly Activities[]): Activities {
  const all: Activities = {};
  for (const [name, activity] of parts.flatMap((part) => Object.entries(part))) {
    if (name in all) throw new Error(`two lifecycles have an activity ${name}`);
    all[name] = activity;
  }
  return all;
}
