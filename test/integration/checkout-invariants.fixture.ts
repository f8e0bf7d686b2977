import type { Planting } from './invariants.fixture.ts';

/** Statements that break the invariants of checkout sessions. */
export const checkoutPlantings: Planting[] = [
  {
    id: 'I12',
    what: 'a completed session whose invoice still waits',
    sql: `update invoice set invoice_status = 'DRAFT' where checkout_session_id = '$1'`,
    by: 'sessionId',
  },
  {
    id: 'I12',
    what: 'a session that ended unpaid and left its invoice',
    sql: `update checkout_session set checkout_status = 'expired' where id = '$1'`,
    by: 'sessionId',
  },
  {
    id: 'I12',
    what: 'an end that was told twice',
    sql: `insert into outbox_event select (jsonb_populate_record(e, jsonb_build_object('id', 'event_zz', 'sequence', 99, 'position', 999999,
      'event_name', 'checkout.session.expired'))).* from outbox_event e where entity_id = '$1' and event_name = 'checkout.session.completed'`,
    by: 'sessionId',
    names: /told of 2 ends/,
  },
  {
    id: 'I25',
    what: 'a session that outlives its end',
    sql: `update checkout_session set checkout_status = 'pending', expires_at = '2020-01-01' where id = '$1'`,
    by: 'sessionId',
    names: /was to end at/,
  },
  {
    id: 'I25',
    what: 'a link that nobody looks after',
    sql: `update checkout_session set link_state = 'open' where id = '$1'`,
    by: 'sessionId',
    names: /nothing on its agenda/,
  },
];
