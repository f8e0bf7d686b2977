import type { InvariantRule } from './invariant.ts';

/** I27: alerts told what they logged, and wallets show it. spec: wallets-and-payments §2.16 */
export const alertRules: readonly InvariantRule[] = [
  {
    id: 'I27',
    rule: 'each log of an alert stream differs from the one before it, and the last says the state of the stream',
    examines: 'select count(*) from alert_log',
    violations: `
      with chain as (
        select l.id, l.alert_status, lag(l.alert_status, 1, 'ok') over stream as before, l.environment_id, l.entity_type, l.entity_id,
          l.alert_type, coalesce(l.parent_entity_id, '') as parent_entity_id, row_number() over newest as nth
        from alert_log l where l.period_start is null
        window stream as (partition by l.environment_id, l.entity_type, l.entity_id, l.alert_type, coalesce(l.parent_entity_id, '')
            order by l.created_at, l.id),
          newest as (partition by l.environment_id, l.entity_type, l.entity_id, l.alert_type, coalesce(l.parent_entity_id, '')
            order by l.created_at desc, l.id desc)
      )
      select c.id as object, format('logged %s after %s, the stream says %s', c.alert_status, c.before, s.state) as problem
      from chain c join alert_stream s on s.environment_id = c.environment_id and s.entity_type = c.entity_type and s.entity_id = c.entity_id
        and s.alert_type = c.alert_type and s.parent_entity_id = c.parent_entity_id and s.period_start = ''
      where c.alert_status = c.before or (c.nth = 1 and c.alert_status <> s.state)`,
  },
  {
    id: 'I27',
    rule: 'a wallet shows the state of its ongoing balance',
    examines: 'select count(*) from wallet',
    violations: `
      select w.id as object, format('shows %s, its stream says %s', w.alert_state, coalesce(s.state, 'ok')) as problem
      from wallet w left join alert_stream s on s.environment_id = w.environment_id and s.entity_type = 'wallet' and s.entity_id = w.id
        and s.alert_type = 'low_ongoing_balance'
      where w.alert_state <> coalesce(s.state, 'ok')`,
  },
];
