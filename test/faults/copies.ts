import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { ApiProblem, type DemoClient } from '../../dev/demo/client.ts';

interface Clone {
  id: string;
  clone_status: string;
  features: { failed: number };
  plans: { failed: number };
}

const target = { name: 'Copies', type: 'development' };
const cloneLimitMs = 240_000;
const lookEveryMs = 100;

let turn: Promise<unknown> = Promise.resolve();

/**
 * Copies the catalogue of the waves into another environment, which the first call makes, and answers how many of its items failed. One
 * call goes after the other, because a pair has one clone at a time.
 */
export function cloneCatalogue(api: DemoClient): Promise<number> {
  const mine = turn.then(() => clone(api));
  turn = mine.catch(() => undefined);
  return mine;
}

async function clone(api: DemoClient): Promise<number> {
  type Environments = { environments: { id: string; name: string }[] };
  const { environments } = await api.send<Environments>('GET', '/environments');
  const copies = environments.find(({ name }) => name === target.name);
  const path = `/environments/${environments.find(({ name }) => name !== target.name)?.id}/clone`;
  const before = await latest(api, path);
  await api.send('POST', path, copies ? { target_environment_id: copies.id } : target);
  const end = performance.now() + cloneLimitMs;
  for (;;) {
    const run = await latest(api, path);
    if (run && run.id !== before?.id && run.clone_status === 'completed') return run.features.failed + run.plans.failed;
    if (performance.now() > end) throw new Error(`the clone is ${JSON.stringify(run)}`);
    await delay(lookEveryMs);
  }
}

async function latest(api: DemoClient, path: string): Promise<Clone | null> {
  try {
    return await api.send<Clone>('GET', path);
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return null;
    throw error;
  }
}

/** Features and plans that do not have exactly one copy each after a last clone, and how many failed in it. */
export async function miscopied(api: DemoClient, ownerUrl: string): Promise<string[]> {
  const failed = await cloneCatalogue(api);
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ what: string }>(`${copiesText('feature')} union all ${copiesText('plan')}`, [
      target.name,
    ]);
    return [...(failed > 0 ? [`${failed} failed`] : []), ...rows.map(({ what }) => what)];
  } finally {
    await client.end();
  }
}

const copiesText = (noun: string) => `
select format('%s copies of ${noun} %s', count(c.id), s.id) as what
from ${noun} s left join ${noun} c on c.status = 'published' and c.metadata ->> 'source_environment_${noun}_id' = s.id
where s.status = 'published' and s.environment_id in (select id from environment where name <> $1)
group by s.id having count(c.id) <> 1`;
