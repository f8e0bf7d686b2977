import type { AlertConfig } from '../../billing/alert/alert-config.ts';
import type { AlertState, AlertType } from '../../billing/alert/alert-state.ts';
import type { Decimal } from '../../billing/money/money.ts';
import type { OutboundEvent } from '../platform/event-catalogue/event-catalogue.ts';

/** A watched value as it is now. */
export interface AlertReading extends AlertStreamKey {
  customerId: string;
  parentEntityType: string | null;
  /** The setting that is logged; null where the default of the environment holds. */
  alertSettingId: string | null;
  config: AlertConfig;
  value: Decimal;
  /** The customer's present. */
  now: string;
  /** A step to a less severe state need not last: after a credit, changed settings, or on a test clock. */
  isCalmAtOnce: boolean;
  /** Outbound event of a change to a state; null where nothing is sent. */
  event(state: AlertState): OutboundEvent | null;
}

/** Key of a stream; a part that it does not have is empty. spec: wallets-and-payments §2.16 Stream */
export interface AlertStreamKey {
  entityType: string;
  entityId: string;
  alertType: AlertType;
  parentEntityId: string;
  settingId: string;
  periodStart: string;
}
