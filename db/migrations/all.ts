import { Migration20261121_01_initial } from './20261121_01_initial.ts';
import { Migration20261121_02_usage } from './20261121_02_usage.ts';
import { Migration20261121_03_row_level_security } from './20261121_03_row_level_security.ts';
import { Migration20261121_04_tenant_setting } from './20261121_04_tenant_setting.ts';
import { Migration20261122_05_price_units_and_groups } from './20261122_05_price_units_and_groups.ts';
import { Migration20261122_06_aggregations } from './20261122_06_aggregations.ts';
import { Migration20261122_07_cost_sheets } from './20261122_07_cost_sheets.ts';
import { Migration20261122_08_price_sync } from './20261122_08_price_sync.ts';
import { Migration20261122_09_add_ons } from './20261122_09_add_ons.ts';
import { Migration20261122_10_entitlement_parts } from './20261122_10_entitlement_parts.ts';
import { Migration20261122_11_taxes } from './20261122_11_taxes.ts';
import { Migration20261122_12_integration_mapping } from './20261122_12_integration_mapping.ts';
import { Migration20261122_13_coupons } from './20261122_13_coupons.ts';
import { Migration20261122_15_event_corrections } from './20261122_15_event_corrections.ts';
import { Migration20261122_16_event_rejection } from './20261122_16_event_rejection.ts';
import { Migration20261122_17_event_import } from './20261122_17_event_import.ts';
import { Migration20261122_19_entitlement_grants } from './20261122_19_entitlement_grants.ts';
import { Migration20261122_21_subscription_life } from './20261122_21_subscription_life.ts';
import { Migration20261122_22_prorations } from './20261122_22_prorations.ts';
import { Migration20261122_23_commitments } from './20261122_23_commitments.ts';
import { Migration20261122_25_credit_notes } from './20261122_25_credit_notes.ts';
import { Migration20261122_40_raw_event } from './20261122_40_raw_event.ts';

/** Every migration in the order it runs. */
export const migrations = [
  { name: '20261121_01_initial', class: Migration20261121_01_initial },
  { name: '20261121_02_usage', class: Migration20261121_02_usage },
  { name: '20261121_03_row_level_security', class: Migration20261121_03_row_level_security },
  { name: '20261121_04_tenant_setting', class: Migration20261121_04_tenant_setting },
  { name: '20261122_05_price_units_and_groups', class: Migration20261122_05_price_units_and_groups },
  { name: '20261122_06_aggregations', class: Migration20261122_06_aggregations },
  { name: '20261122_07_cost_sheets', class: Migration20261122_07_cost_sheets },
  { name: '20261122_08_price_sync', class: Migration20261122_08_price_sync },
  { name: '20261122_09_add_ons', class: Migration20261122_09_add_ons },
  { name: '20261122_10_entitlement_parts', class: Migration20261122_10_entitlement_parts },
  { name: '20261122_11_taxes', class: Migration20261122_11_taxes },
  { name: '20261122_12_integration_mapping', class: Migration20261122_12_integration_mapping },
  { name: '20261122_13_coupons', class: Migration20261122_13_coupons },
  { name: '20261122_15_event_corrections', class: Migration20261122_15_event_corrections },
  { name: '20261122_16_event_rejection', class: Migration20261122_16_event_rejection },
  { name: '20261122_17_event_import', class: Migration20261122_17_event_import },
  { name: '20261122_19_entitlement_grants', class: Migration20261122_19_entitlement_grants },
  { name: '20261122_21_subscription_life', class: Migration20261122_21_subscription_life },
  { name: '20261122_22_prorations', class: Migration20261122_22_prorations },
  { name: '20261122_23_commitments', class: Migration20261122_23_commitments },
  { name: '20261122_25_credit_notes', class: Migration20261122_25_credit_notes },
  { name: '20261122_40_raw_event', class: Migration20261122_40_raw_event },
];
