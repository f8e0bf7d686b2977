import { decimal } from '../../../billing/money.ts';
import { badField } from '../../record.ts';

export interface ReportingUnit {
  unit_singular: string;
  unit_plural: string;
  conversion_rate: string;
}
export interface AlertThreshold {
  condition: 'above' | 'below';
  threshold: string;
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
  if (feature.alertSettings) checkAlertSettings(feature.alertSettings);
}

/** Refuses alert settings whose levels contradict each other. spec: wallets-and-payments §1.3 */
function checkAlertSettings(settings: AlertSettings): void {
  const { alert_enabled, critical, warning, info } = settings;
  const levels = [critical, warning, info].filter((level) => level !== null);
  if (alert_enabled && levels.length === 0) {
    throw badField('alert_settings', 'needs critical, warning or info when alert_enabled is true');
  }
  if (warning && !critical) throw badField('alert_settings.critical', 'is required together with warning');
  const direction = levels[0]?.condition;
  if (levels.some((level) => level.condition !== direction)) {
    throw badField('alert_settings', 'must use one condition, above or below, at every level');
  }
  for (const [index, level] of levels.entries()) {
    const milder = levels[index + 1];
    if (!milder) continue;
    const order = decimal(level.threshold).cmp(milder.threshold);
    if (direction === 'above' ? order < 0 : order > 0) {
      throw badField(
        'alert_settings',
        `must have its thresholds ${direction === 'above' ? 'falling' : 'rising'} from critical over warning to info`,
      );
    }
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
