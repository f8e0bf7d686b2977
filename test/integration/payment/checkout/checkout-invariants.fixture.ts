import type { Planting } from '../../lifecycle/invariants.fixture.ts';

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
    id: 'I12',
    what: 'a change that was paid and never came',
    sql: `with planned as (update checkout_session s set subscription_id = l.subscription_id, planned = jsonb_build_object('kind', 'quantity',
        'items', jsonb_build_array(jsonb_build_object('copyId', l.id)))
      from (select id, subscription_id from subscription_line_item order by id limit 1) l where s.id = '$1' returning l.id)
      update subscription_line_item set status = 'draft' where id in (select id from planned)`,
    by: 'sessionId',
    names: /what it changes is/,
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
