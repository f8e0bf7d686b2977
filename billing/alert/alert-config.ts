import { decimal } from '../money/money.ts';
import { refuse } from '../refusal.ts';

export const alertEntities = [
  'wallet',
  'feature',
  'subscription',
  'subscription_line_item',
  'group',
  'entitlement_grant',
] as const;
export type AlertEntity = (typeof alertEntities)[number];

export const alertLevels = ['critical', 'warning', 'info'] as const;

/** A level of an alert: the value it is reached at, and from which side. Thresholds are decimal texts. */
export interface AlertThreshold {
  condition: 'above' | 'below';
  threshold: string;
}

/** Alert settings as they are stored; a level that is not watched is null. spec: wallets-and-payments §1.3 */
export interface AlertConfig {
  alert_enabled: boolean;
  alert_threshold_type: 'absolute' | 'percentage';
  critical: AlertThreshold | null;
  warning: AlertThreshold | null;
  info: AlertThreshold | null;
}

/** Alert settings from stored ones, whose older rows lack the members that have a default. */
export function storedAlerts(stored: Record<string, unknown> | null | undefined): AlertConfig {
  const given = (stored ?? {}) as Partial<AlertConfig>;
  const levels = Object.fromEntries(alertLevels.map((name) => [name, given[name] ?? null]));
  return {
    alert_enabled: given.alert_enabled === true,
    alert_threshold_type: given.alert_threshold_type ?? 'absolute',
    ...(levels as Pick<AlertConfig, 'critical' | 'warning' | 'info'>),
  };
}

type GivenThreshold = { threshold: string; condition?: 'above' | 'below' | null | undefined } | null | undefined;

/** Alert settings as a caller sends them. */
export interface GivenAlertConfig {
  alert_enabled?: boolean | null | undefined;
  alert_threshold_type?: 'absolute' | 'percentage' | null | undefined;
  critical?: GivenThreshold;
  warning?: GivenThreshold;
  info?: GivenThreshold;
}

/**
 * Alert settings of an entity from what a caller sent, with the conditions filled in: `below` for balances of wallets and
 * features, `above` for everything that is spent. `stored` says the threshold type where the caller left it out. `path` stands
 * before the names of members in messages: `config.`. Throws `validation_error`.
 * Thresholds of entitlement grants are ratios of the quota, 1 being all of it: the specification's cases accept any size of them
 * and percentages for wallets alone, against the design's finding 19. spec: wallets-and-payments §1.3, §3 row 28; design:
 * money-in-wallets finding 48
 */
export function alertConfig(
  entity: AlertEntity,
  given: GivenAlertConfig,
  { path = '', stored = null }: { path?: string; stored?: AlertConfig | null } = {},
): AlertConfig {
  const type = given.alert_threshold_type ?? stored?.alert_threshold_type ?? 'absolute';
  const level = (one: GivenThreshold): AlertThreshold | null =>
    one ? { threshold: one.threshold, condition: one.condition ?? usualCondition(entity) } : null;
  const config: AlertConfig = {
    alert_enabled: given.alert_enabled ?? false,
    alert_threshold_type: type,
    critical: level(given.critical),
    warning: level(given.warning),
    info: level(given.info),
  };
  checkAlertConfig(entity, config, path);
  return config;
}

const usualCondition = (entity: AlertEntity) => (isBalance(entity) ? 'below' : 'above');

function isBalance(entity: AlertEntity): boolean {
  return entity === 'wallet' || entity === 'feature';
}

/** Refuses settings whose levels contradict each other or do not fit the entity. spec: wallets-and-payments §1.3 */
export function checkAlertConfig(entity: AlertEntity, config: AlertConfig, path = ''): void {
  const given = alertLevels.flatMap((name) => (config[name] ? [{ name, ...config[name] }] : []));
  if (config.alert_enabled && given.length === 0) {
    throw bad(`${path}alert_enabled`, 'needs critical, warning or info when it is true');
  }
  if (config.warning && !config.critical) throw bad(`${path}critical`, 'is required together with warning');
  const condition = given[0]?.condition;
  if (given.some((level) => level.condition !== condition)) {
    throw bad(`${path}condition`, 'must be the same at every level: above or below');
  }
  for (const [index, { name, threshold }] of given.entries()) {
    const milder = given[index + 1];
    if (!milder) continue;
    const order = decimal(threshold).comparedTo(milder.threshold);
    if (condition === 'above' ? order >= 0 : order <= 0) continue;
    const rising = condition === 'above' ? 'at least' : 'at most';
    throw bad(`${path}${name}.threshold`, `must be ${rising} the threshold of ${milder.name}, ${milder.threshold}`);
  }
  checkScale(entity, config, given, path);
}

function checkScale(
  entity: AlertEntity,
  { alert_threshold_type: type }: AlertConfig,
  given: readonly (AlertThreshold & { name: string })[],
  path: string,
): void {
  if (type === 'percentage' && entity !== 'wallet') {
    throw bad(`${path}alert_threshold_type`, 'percentage is for wallets only; send absolute');
  }
  for (const { name, condition, threshold } of given) {
    if (!isBalance(entity) && condition === 'below') {
      throw bad(`${path}${name}.condition`, `must be above for a ${entity}, whose value rises`);
    }
    if (type === 'percentage' && condition === 'above') {
      throw bad(`${path}${name}.condition`, 'must be below for a percentage of credits, which falls');
    }
    const value = decimal(threshold);
    if (type === 'percentage' && (value.isNegative() || value.greaterThan(100))) {
      throw bad(`${path}${name}.threshold`, 'must be from 0 to 100, a percentage');
    }
  }
}

function bad(field: string, problem: string): Error {
  return refuse('validation_error', `${field} ${problem}`, { fields: { [field]: problem } });
}
