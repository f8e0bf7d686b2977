import { graceSetting, type InvariantRule } from './invariant.ts';

const grace = `current_setting('${graceSetting}')::interval`;

/** I23: notifications of providers come to an end, each to one. */
export const inboundRules: readonly InvariantRule[] = [
  {
    id: 'I23',
    rule: 'a notification is through within a day',
    examines: 'select count(*) from inbound_event',
    violations: `
      select id as object, format('%s came at %s and is still to be passed on', event_type, received_at) as problem
      from inbound_event where done_at is null and received_at + interval '24 hours' + ${grace} < clock_timestamp()`,
  },
  {
    id: 'I23',
    rule: 'a notification that is through says what became of it, and one that was passed on to what',
    examines: 'select count(*) from inbound_event where done_at is not null',
    violations: `
      select id as object, format('done at %s as %s of %s', done_at, outcome, object_id) as problem from inbound_event
      where (done_at is null) <> (outcome is null) or (done_at is null and due_at is null)
        or (outcome in ('passed_on', 'settled')) <> (object_id is not null)`,
  },
];
