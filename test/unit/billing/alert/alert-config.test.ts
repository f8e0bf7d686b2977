import { expect, test } from 'vitest';
import { type AlertEntity, alertConfig, type GivenAlertConfig } from '../../../../billing/alert/alert-config.ts';

const level = (threshold: string, condition?: 'above' | 'below') => ({ threshold, condition });

test('conditions are filled in by the side from which a value comes', () => {
  expect(alertConfig('wallet', { alert_enabled: true, critical: level('5') })).toEqual({
    alert_enabled: true,
    alert_threshold_type: 'absolute',
    critical: { threshold: '5', condition: 'below' },
    warning: null,
    info: null,
  });
  expect(alertConfig('subscription', { critical: level('5') }).critical).toEqual({
    threshold: '5',
    condition: 'above',
  });
  expect(alertConfig('feature', { info: level('5', 'above') }).info).toEqual({ threshold: '5', condition: 'above' });
});

test('a threshold type that is left out stays', () => {
  const stored = alertConfig('wallet', { alert_threshold_type: 'percentage', critical: level('20') });
  expect(alertConfig('wallet', { critical: level('30') }, { stored }).alert_threshold_type).toBe('percentage');
  expect(() => alertConfig('wallet', { critical: level('300') }, { stored })).toThrow('from 0 to 100');
});

const refused: [string, AlertEntity, GivenAlertConfig, string][] = [
  ['enabled without a level', 'wallet', { alert_enabled: true }, 'needs critical, warning or info'],
  ['warning without critical', 'wallet', { warning: level('5') }, 'critical is required together with warning'],
  [
    'mixed conditions',
    'wallet',
    { critical: level('5', 'above'), info: level('6', 'below') },
    'must be the same at every level',
  ],
  ['a falling value whose levels rise', 'wallet', { critical: level('5'), warning: level('4') }, 'must be at most'],
  ['a rising value whose levels fall', 'group', { critical: level('5'), info: level('6') }, 'must be at least'],
  [
    'a percentage of spending',
    'subscription',
    { alert_threshold_type: 'percentage', info: level('6') },
    'for wallets only',
  ],
  ['a percentage above', 'wallet', { alert_threshold_type: 'percentage', info: level('6', 'above') }, 'must be below'],
  ['spending that falls', 'entitlement_grant', { info: level('6', 'below') }, 'must be above'],
];
test.each(refused)('%s is refused', (_name, entity, given, message) => {
  expect(() => alertConfig(entity, given, { path: 'config.' })).toThrow(message);
});
