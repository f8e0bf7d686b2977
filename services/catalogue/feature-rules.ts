import { type AlertThreshold, checkAlertConfig } from '../../billing/alert/alert-config.ts';
import { decimal } from '../../billing/money/money.ts';
import { refuse } from '../../billing/refusal.ts';
import { badField, takenKey } from '../../db/rows/record.ts';

export interface ReportingUnit {
  unit_singular: string;
  unit_plural: string;
  conversion_rate: string;
}
/** What is stored of a feature's alerts: `null` switches a level off. spec: wallets-and-payments §1.3 */
export interface AlertSettings {
  alert_enabled: boolean;
  critical: AlertThreshold | null;
  warning: AlertThreshold | null;
  info: AlertThreshold | null;
}

/** The display members of a feature, whole: after an update they are checked together. */
export interface FeatureDisplay {
  name: string;
  unitSingular: string;
  unitPlural: string;
  reportingUnit: ReportingUnit | null;
  alertSettings: AlertSettings | null;
}

/** Refuses display members that do not fit together. spec: catalogue-and-metering §5.1, §13 row 29 */
export function checkFeatureDisplay(feature: FeatureDisplay): void {
  if (feature.name.trim() === '') throw badField('name', 'must not be blank');
  if (feature.unitSingular !== '' && feature.unitPlural === '') {
    throw badField('unit_plural', 'is required together with unit_singular');
  }
  if (feature.unitPlural !== '' && feature.unitSingular === '') {
    throw badField('unit_singular', 'is required together with unit_plural');
  }
  if (feature.reportingUnit && !decimal(feature.reportingUnit.conversion_rate).gt(0)) {
    throw badField('reporting_unit.conversion_rate', 'must be greater than 0');
  }
  if (feature.alertSettings) {
    checkAlertConfig('feature', { ...feature.alertSettings, alert_threshold_type: 'absolute' }, 'alert_settings.');
  }
}

/** Stored settings with the members a caller sent written over them; `critical`, `warning` and `info` are replaced whole. */
export function mergedAlertSettings(stored: AlertSettings | null, sent: Partial<AlertSettings>): AlertSettings {
  const base = stored ?? { alert_enabled: false, critical: null, warning: null, info: null };
  const given = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined));
  return { ...base, ...given };
}

/** The lookup key of a feature whose caller sent none: `API calls (EU)` becomes `api_calls_eu_`. spec: catalogue-and-metering §5.1 */
export function defaultLookupKey(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '_');
}

/** The refusal of a taken lookup key; `derived` says that it was made of the name, because none was sent. */
export function takenFeatureKey({ name, lookupKey }: { name: string; lookupKey: string }, derived: boolean) {
  if (!derived) return takenKey('feature', lookupKey);
  const problem = `another published feature has the lookup_key ${lookupKey}, which the name ${JSON.stringify(name)} gives when none is sent`;
  return refuse('already_exists', `${problem}; send a lookup_key, or choose another name`, {
    fields: { name: 'gives a lookup_key that is taken', lookup_key: 'taken' },
  });
}
