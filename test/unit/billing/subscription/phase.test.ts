import { describe, expect, test } from 'vitest';
import {
  checkPhases,
  ownStretches,
  type Phase,
  phaseCouponTerm,
  phaseItemTerm,
  phaseMoments,
} from '../../../../billing/subscription/phase.ts';

const day = (text: string) => `2026-${text}T00:00:00.000Z`;
const [jan, feb, mar, apr] = [day('01-01'), day('02-01'), day('03-01'), day('04-01')] as const;

describe('phases follow each other from the start of the subscription', () => {
  const subscription = { startDate: jan, endDate: null as string | null };
  const two = [
    { start: jan, end: feb },
    { start: feb, end: null },
  ];

  test.each([
    ['none', [], subscription],
    ['one without an end', [{ start: jan, end: null }], subscription],
    ['two, the last without an end', two, subscription],
    ['a last end where the subscription has none', [{ start: jan, end: feb }], subscription],
    ['a last end that is the subscription’s', [{ start: jan, end: mar }], { startDate: jan, endDate: mar }],
    ['no last end where the subscription has one', two, { startDate: jan, endDate: mar }],
  ])('%s', (_what, phases, of) => expect(() => checkPhases(phases, of)).not.toThrow());

  test.each([
    ['a late first start', [{ start: feb, end: null }], subscription, `phases[0].start_date must be ${jan}`],
    ['an early first start', two, { startDate: feb, endDate: null }, `phases[0].start_date must be ${feb}`],
    ['a gap', [two[0]!, { start: mar, end: null }], subscription, `phases[1].start_date must be ${feb}`],
    ['an overlap', [{ start: jan, end: mar }, two[1]!], subscription, `phases[1].start_date must be ${mar}`],
    [
      'no end of one in the middle',
      [{ start: jan, end: null }, two[1]!],
      subscription,
      'phases[0].end_date is required',
    ],
    ['an end at the start', [{ start: jan, end: jan }], subscription, `phases[0].end_date must be after ${jan}`],
    [
      'another last end',
      [{ start: jan, end: feb }],
      { startDate: jan, endDate: mar },
      `phases[0].end_date must be ${mar}`,
    ],
    [
      'a last end past it',
      [{ start: jan, end: apr }],
      { startDate: jan, endDate: mar },
      `phases[0].end_date must be ${mar}`,
    ],
  ])('and not with %s', (_what, phases, of, message) => expect(() => checkPhases(phases, of)).toThrow(message));
});

describe('what time brings to phases', () => {
  const phase = (id: string, start: string, end: string | null, startedAt: string | null = null): Phase => ({
    ...{ id, start, end, startedAt },
    endedAt: null,
  });
  const phases = [phase('a', jan, feb, jan), phase('b', feb, mar), phase('c', mar, apr)];
  const state = { status: 'active' as const, endDate: null, cancelAt: null };
  const told = (of: Parameters<typeof phaseMoments>[0], all = phases) =>
    phaseMoments(of, all).map(({ kind, at, ref }) => `${kind} ${ref} ${at}`);

  test('is the start of each that has not started and the end of the last', () => {
    expect(told(state)).toEqual([`startPhase b ${feb}`, `startPhase c ${mar}`, `endPhase c ${apr}`]);
  });

  test('is no end where the last has none, and nothing once that is over', () => {
    expect(told(state, [phase('a', jan, feb, jan), phase('b', feb, null)])).toEqual([`startPhase b ${feb}`]);
    expect(told(state, [{ ...phase('a', jan, feb, jan), endedAt: feb }])).toEqual([]);
  });

  test('is nothing from the end of the subscription on', () => {
    expect(told({ ...state, endDate: apr })).toEqual([`startPhase b ${feb}`, `startPhase c ${mar}`]);
    expect(told({ ...state, cancelAt: mar, endDate: apr })).toEqual([`startPhase b ${feb}`]);
    expect(told({ ...state, cancelAt: feb })).toEqual([]);
  });

  test.each(['trialing', 'paused'] as const)('comes to a %s subscription too', (status) => {
    expect(told({ ...state, status })).toHaveLength(3);
  });

  test.each(['draft', 'incomplete', 'cancelled'] as const)('does not come to a %s one', (status) => {
    expect(told({ ...state, status })).toEqual([]);
  });
});

describe('a price of the plan is charged as the plan has it', () => {
  const phases = [
    { start: jan, end: feb },
    { start: feb, end: mar },
    { start: mar, end: apr },
  ];
  test.each([
    ['throughout where no phase overrides it', [false, false, false], null, [[0, jan]]],
    [
      'until a phase overrides it, and after that one',
      [false, true, false],
      null,
      [
        [0, jan],
        [2, mar],
      ],
    ],
    ['after the last phase that overrides it', [true, true, true], null, [[3, apr]]],
    [
      'before and after the last phase',
      [false, false, true],
      null,
      [
        [0, jan],
        [3, apr],
      ],
    ],
    ['not after the end of the subscription', [true, false, true], apr, [[1, feb]]],
    ['never where every phase overrides it and the subscription ends', [true, true, true], apr, []],
  ])('%s', (_what, overridden, end, expected) => {
    expect(ownStretches(overridden, phases, end).map(({ phase, start }) => [phase, start])).toEqual(expected);
  });

  test('never where the last phase overrides it and has no end', () => {
    expect(ownStretches([true], [{ start: jan, end: null }], null)).toEqual([]);
  });
});

describe('a coupon of a phase', () => {
  const phase = { start: feb, end: mar };
  const lastSecond = '2026-02-28T23:59:59.000Z';
  test.each([
    ['applies from the start of the phase until a second before its end', { start: null, end: null }, feb, lastSecond],
    ['may begin later and end earlier', { start: day('02-05'), end: day('02-10') }, day('02-05'), day('02-10')],
    ['that ends with the phase ends a second before it', { start: null, end: mar }, feb, lastSecond],
  ])('%s', (_what, wanted, start, end) => {
    expect(phaseCouponTerm(wanted, phase, 'coupons[0]')).toEqual({ start, end });
  });

  test('lasts as long as a phase without end', () => {
    expect(phaseCouponTerm({ start: null, end: null }, { start: feb, end: null }, 'x')).toEqual({
      start: feb,
      end: null,
    });
  });

  test.each([
    [{ start: jan, end: null }, 'x.start_date must lie in the phase'],
    [{ start: mar, end: null }, 'x.start_date must lie in the phase'],
    [{ start: null, end: apr }, 'x.end_date must not be after'],
  ])('%j is refused', (wanted, message) => expect(() => phaseCouponTerm(wanted, phase, 'x')).toThrow(message));
});

describe('a line item that is added to a phase', () => {
  const phase = { start: feb, end: mar };
  test.each([
    ['begins with it where it is to come', jan, feb],
    ['begins now where it runs', day('02-10'), day('02-10')],
  ])('%s and ends with it', (_what, at, start) => {
    expect(phaseItemTerm({ start: null, end: null }, phase, at)).toEqual({ start, end: mar });
  });

  test.each([
    [{ start: null, end: null }, mar, 'subscription_phase_id names a phase that ended'],
    [{ start: jan, end: null }, jan, 'start_date must lie in the phase'],
    [{ start: mar, end: null }, jan, 'start_date must lie in the phase'],
    [{ start: null, end: apr }, jan, 'end_date must not be after'],
  ])('%j at %s is refused', (wanted, at, message) => expect(() => phaseItemTerm(wanted, phase, at)).toThrow(message));
});
