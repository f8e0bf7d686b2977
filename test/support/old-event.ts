import pg from 'pg';

/** Makes it so that the events of the given ids were ingested in that month, `2024-02`, which gets its partition. */
export async function makeIngestedIn(ownerUrl: string, month: string, ids: readonly string[]): Promise<void> {
  const next = new Date(`${month}-01T00:00:00Z`);
  next.setUTCMonth(next.getUTCMonth() + 1);
  const part = `usage.event_${month.replace('-', '')}`;
  const owner = new pg.Client({ connectionString: ownerUrl });
  await owner.connect();
  try {
    await owner.query(`create table ${part} (like usage.event including all); alter table ${part} enable row level security;
      alter table usage.event attach partition ${part} for values from ('${month}-01T00:00:00Z') to ('${next.toISOString()}')`);
    const values = [`${month}-20T00:00:00Z`, ids];
    await owner.query('update usage.event set ingested_at = $1 where event_id = any($2)', values);
  } finally {
    await owner.end();
  }
}
