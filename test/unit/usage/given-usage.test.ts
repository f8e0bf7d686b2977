import { describe, expect, it } from 'vitest';
import { measureGiven } from '../../../metering/given-usage.ts';
import type { GivenUsage, GivenValue, MeasuringMeter } from '../../../services/usage-measurer.ts';
import { refusalOf } from '../billing/refused.ts';

const hour = (time: string) => `2026-01-01T${time}.000Z`;
const value = (time: string, text: string | null, group = ''): GivenValue => ({ at: hour(time), value: text, group });
const values = [value('10:00:00', '4'), value('10:30:00', '-1.5'), value('12:00:00', '4')];
const january = { start: '2026-01-01T00:00:00.000Z', end: '2026-02-01T00:00:00.000Z' };
const given = (members: Partial<GivenUsage> = {}): GivenUsage => ({
  kind: 'values',
  values,
  period: null,
  timezone: 'UTC',
  billingAnchor: null,
  ...members,
});
const meter = (type: string, members: Partial<MeasuringMeter> = {}): MeasuringMeter => ({
  type,
  multiplier: null,
  bucketSize: null,
  ...members,
});
const quantity = (of: MeasuringMeter, usage = given()) => measureGiven(of, usage).answer.quantity;

describe('what a meter makes of given values (catalogue-and-metering §7.1)', () => {
  it.each([
    ['COUNT', '3'],
    ['SUM', '6.5'],
    ['AVG', '2.166666666666667'],
    ['MAX', '4'],
    ['LATEST', '4'],
    ['COUNT_UNIQUE', '2'],
  ])('%s', (type, expected) => expect(quantity(meter(type))).toBe(expected));

  it('multiplies a sum', () => {
    expect(quantity(meter('SUM_WITH_MULTIPLIER', { multiplier: '0.5' }))).toBe('3.25');
  });

  it('weighs by time, over a period that must be given', () => {
    const weighed = given({
      period: january,
      values: [
        { at: january.start, value: '10', group: '' },
        { at: '2026-01-16T12:00:00.000Z', value: '4', group: '' },
        { at: '2026-01-31T00:00:00.000Z', value: '-2', group: '' },
      ],
    });
    expect(quantity(meter('WEIGHTED_SUM'), weighed)).toBe('11.935483870967742');
    expect(refusalOf(() => measureGiven(meter('WEIGHTED_SUM'), given()))?.message).toContain('period_start');
  });

  it('is never below zero', () => {
    expect(quantity(meter('SUM'), given({ values: [value('10:00:00', '-5')] }))).toBe('0');
  });

  it('is about the time from the first value to the last one', () => {
    expect(measureGiven(meter('SUM'), given()).period).toEqual({
      start: hour('10:00:00'),
      end: '2026-01-01T12:00:00.001Z',
    });
    expect(measureGiven(meter('SUM'), given({ period: january })).period).toEqual(january);
  });
});

describe('buckets (catalogue-and-metering §7.1, §4.4)', () => {
  it('are a row each, where there is a value', () => {
    const { answer } = measureGiven(meter('SUM', { bucketSize: 'HOUR' }), given());
    expect(answer).toEqual({
      quantity: '6.5',
      buckets: [
        { start: hour('10:00:00'), group: '', value: '2.5' },
        { start: hour('12:00:00'), group: '', value: '4' },
      ],
    });
  });

  it('are a row a group, in order', () => {
    const grouped = given({
      values: [value('10:00:00', '3', 'b'), value('10:05:00', '7', 'a a'), value('10:10:00', '9', 'b')],
    });
    const { answer } = measureGiven(meter('MAX', { bucketSize: 'HOUR' }), grouped);
    expect(answer.buckets?.map((row) => [row.group, row.value])).toEqual([
      ['a a', '7'],
      ['b', '9'],
    ]);
    expect(answer.quantity).toBe('16');
  });

  it('begin at local midnight', () => {
    const { answer } = measureGiven(meter('SUM', { bucketSize: 'DAY' }), given({ timezone: 'America/New_York' }));
    expect(answer.buckets?.[0]?.start).toBe('2026-01-01T05:00:00.000Z');
  });
});

describe('windows that were measured already', () => {
  it.each([
    ['COUNT', '6.5'],
    ['SUM', '6.5'],
    ['WEIGHTED_SUM', '6.5'],
    ['SUM_WITH_MULTIPLIER', '6.5'],
    ['MAX', '4'],
    ['LATEST', '4'],
  ])('%s', (type, expected) => {
    expect(quantity(meter(type, { multiplier: '2' }), given({ kind: 'windows' }))).toBe(expected);
  });

  it.each(['AVG', 'COUNT_UNIQUE'])('of %s make up no whole, but for a single one', (type) => {
    expect(refusalOf(() => measureGiven(meter(type), given({ kind: 'windows' })))?.message).toContain('send quantity');
    expect(quantity(meter(type), given({ kind: 'windows', values: [value('10:00:00', '4')] }))).toBe('4');
  });
});

describe('refusals name the value', () => {
  it.each([
    [
      'usage[1].value must be a decimal',
      meter('SUM'),
      given({ values: [value('10:00:00', '1'), value('11:00:00', 'x')] }),
    ],
    ['usage[0].value is required', meter('MAX'), given({ values: [value('10:00:00', null)] })],
    [
      'usage[0].timestamp must not be before period_start',
      meter('SUM'),
      given({ period: { start: hour('11:00:00'), end: hour('13:00:00') } }),
    ],
    [
      'windows[2].start must not be before period_start',
      meter('SUM'),
      given({ kind: 'windows', period: { start: hour('10:00:00'), end: hour('12:00:00') } }),
    ],
  ])('%s', (message, of, usage) => {
    expect(refusalOf(() => measureGiven(of, usage))?.message).toContain(message);
  });
});
