import type { Reference } from './reference.ts';

const alertTables = ['alert_setting', 'alert_stream', 'alert_log'];

/** Rows that can be watched. Records of budgets are left out: late events may remove one that an alert was about. */
const watched = {
  wallet: 'wallet',
  feature: 'feature',
  subscription: 'subscription',
  subscription_line_item: 'subscription_line_item',
  group: 'catalogue_group',
};

/** Ids that alerts hold. */
export const alertReferences: readonly Reference[] = [
  ...alertTables.flatMap((table) => [
    ...Object.entries(watched).map(([type, target]) => ({
      table,
      column: 'entity_id',
      target,
      where: `t.entity_type = '${type}'`,
    })),
    ...['subscription_line_item', 'group'].map((type) => ({
      table,
      column: 'parent_entity_id',
      target: 'subscription',
      where: `t.entity_type = '${type}'`,
    })),
    { table, column: 'parent_entity_id', target: 'wallet', where: `t.entity_type = 'feature'` },
  ]),
  { table: 'alert_log', column: 'alert_setting_id', target: 'alert_setting' },
  { table: 'ongoing_balance', column: 'wallet_id', target: 'wallet' },
];
