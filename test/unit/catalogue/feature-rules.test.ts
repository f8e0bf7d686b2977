import { describe, expect, it } from 'vitest';
import { refusalIn } from '../../../billing/refusal.ts';
import {
  type AlertSettings,
  checkFeatureDisplay,
  defaultLookupKey,
  mergedAlertSettings,
} from '../../../services/catalogue/feature-rules.ts';

it.each([
  ['API Calls', 'api_calls'],
  ['  a -- b  ', '_a_b_'],
  ['Größe 10%', 'größe_10_'],
])('makes the lookup key of %j %j', (name, key) => {
  expect(defaultLookupKey(name)).toBe(key);
});

describe('alert settings', () => {
  const below = (threshold: string) => ({ condition: 'below' as const, threshold });
  const above = (threshold: string) => ({ condition: 'above' as const, threshold });
  const none = { alert_enabled: true, critical: null, warning: null, info: null };

  function isAccepted(settings: Partial<AlertSettings>): boolean {
    const display = { name: 'f', unitSingular: '', unitPlural: '', reportingUnit: null };
    try {
      checkFeatureDisplay({ ...display, alertSettings: { ...none, ...settings } });
    } catch (error) {
      if (refusalIn(error)?.code === 'validation_error') return false;
      throw error;
    }
    return true;
  }

  it.each<[Partial<AlertSettings>, boolean]>([
    [{}, false],
    [{ alert_enabled: false }, true],
    [{ info: below('1') }, true],
    [{ warning: below('1') }, false],
    [{ critical: below('9'), warning: below('10'), info: below('10') }, true],
    [{ critical: below('10'), warning: below('9') }, false],
    [{ critical: below('10'), info: below('9') }, false],
    [{ critical: above('10'), warning: above('9.5'), info: above('-1') }, true],
    [{ critical: above('9'), warning: above('10') }, false],
    [{ critical: below('1'), warning: above('2') }, false],
  ])('%j: accepted %s', (settings, expected) => {
    expect(isAccepted(settings)).toBe(expected);
  });

  it('are merged level by level; null switches a level off', () => {
    const stored = { alert_enabled: true, critical: below('1'), warning: below('2'), info: null };
    expect(mergedAlertSettings(stored, { warning: null, info: below('3') })).toEqual({
      ...stored,
      warning: null,
      info: below('3'),
    });
    expect(mergedAlertSettings(null, { critical: below('1') })).toEqual({
      ...none,
      alert_enabled: false,
      critical: below('1'),
    });
  });
});
