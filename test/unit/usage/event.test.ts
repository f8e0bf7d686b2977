import { describe, expect, it } from 'vitest';
import { digest, eventKey, newEventId, prepareEvent } from '../../../metering/event.ts';
import { microsecondsOf, utcInstant, wireInstant } from '../../../metering/timestamp.ts';

const event = { event_name: 'call', external_customer_id: 'acme' };

describe('an event', () => {
  it('is trimmed in its name only', () => {
    const prepared = prepareEvent({ ...event, event_name: ' call ', external_customer_id: ' acme ' });
    expect([prepared.eventName, prepared.externalCustomerId]).toEqual(['call', ' acme ']);
  });

  it('refuses text that no database can read again', () => {
    expect(() => prepareEvent({ ...event, properties: { text: '\ud800' } }, 'events[2].')).toThrow(
      'events[2].properties',
    );
    expect(() => prepareEvent({ ...event, properties: { text: '\u0000' } })).toThrow('properties');
    expect(
      prepareEvent({ ...event, properties: { text: '\\ud800 is only text, 😀 is a character' } }).propertiesText,
    ).toContain('😀');
  });

  it('has the key of its id: the id itself when it is a canonical UUID', () => {
    const uuid = newEventId();
    expect(eventKey(uuid)).toBe(uuid);
    expect(eventKey(uuid.toUpperCase())).not.toBe(uuid);
    expect(eventKey('abc')).toBe(digest('abc'));
    expect(eventKey('abc')).toBe('ba7816bf-8f01-cfea-4141-40de5dae2223');
  });

  it('gets an id that grows with time', () => {
    expect(newEventId(1_000_000)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(newEventId(1_000_000) < newEventId(1_000_001)).toBe(true);
  });
});

describe('a timestamp', () => {
  it.each([
    ['2026-01-31T00:00:00Z', '2026-01-31T00:00:00.000000Z'],
    ['2026-01-31t00:00:00.5z', '2026-01-31T00:00:00.500000Z'],
    ['2026-02-28T23:59:59.123Z', '2026-02-28T23:59:59.123000Z'],
    ['2026-01-31T05:30:00+05:30', '2026-01-31T00:00:00.000000Z'],
    ['2026-01-30T20:30:00.1234567-03:30', '2026-01-31T00:00:00.123456Z'],
    ['2024-02-29T12:00:00Z', '2024-02-29T12:00:00.000000Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000000Z'],
    ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999999Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000000Z'],
  ])('%s is %s', (text, expected) => {
    expect(utcInstant(text)).toBe(expected);
  });

  it.each([
    '2026-01-31T00:00:00',
    '2026-01-31',
    '2025-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:00+0530',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59-01:00',
    '1767225600',
    'yesterday',
  ])('%s is none', (text) => {
    expect(utcInstant(text)).toBeNull();
  });

  it('of an event may be left out, but not be empty', () => {
    expect(prepareEvent({ ...event, timestamp: null }).timestamp).toBeNull();
    expect(() => prepareEvent({ ...event, timestamp: '' })).toThrow('timestamp must be an RFC 3339 time');
  });

  it('is written with milliseconds, or microseconds where there are any', () => {
    expect(wireInstant('2026-01-31T00:00:00.000000Z')).toBe('2026-01-31T00:00:00.000Z');
    expect(wireInstant('2026-01-31T00:00:00.000001Z')).toBe('2026-01-31T00:00:00.000001Z');
    expect(microsecondsOf('1970-01-01T00:00:01.5Z')).toBe(1_500_000n);
  });
});
