import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  inPromisedOrder,
  type Preview,
  type PromisedLine,
  refuseDifferent,
  refuseStale,
} from '../../../../billing/line/binding-preview.ts';
import { refusalOf } from '../refused.ts';

const line = (members: Partial<PromisedLine> = {}): PromisedLine => ({
  on: 'invoice SUBSCRIPTION_UPDATE',
  name: 'Base price_1',
  quantity: '1',
  amount: '30',
  start: '2026-01-01T00:00:00.000Z',
  end: '2026-02-01T00:00:00.000Z',
  ...members,
});
const preview = (members: Partial<Preview> = {}): Preview => ({
  at: '2026-01-15T00:00:00.000Z',
  read: { subscription: 3, prices: 'abc' },
  usage: '2026-01-14T23:59:00.000Z',
  request: 'asked',
  lines: [line()],
  ...members,
});
const differenceOf = (previewed: Preview, present: Preview) => {
  const refused = refusalOf(() => refuseDifferent(previewed, present));
  return refused && { code: refused.code, ...(refused.details as { difference: Record<string, unknown> }).difference };
};

describe('a preview holds', () => {
  it.each([
    ['at its own moment', '2026-01-15T00:00:00.000Z'],
    ['to the last millisecond of an hour', '2026-01-15T01:00:00.000Z'],
  ])('%s', (_name, now) => {
    expect(refusalOf(() => refuseStale(preview(), now))).toBeNull();
  });

  it.each([
    ['after an hour', '2026-01-15T01:00:00.001Z'],
    ['before it was made', '2026-01-14T23:59:59.999Z'],
  ])('not %s, and the conflict tells both moments', (_name, present) => {
    expect(refusalOf(() => refuseStale(preview(), present))).toMatchObject({
      code: 'version_conflict',
      details: { difference: { clock: { previewed: '2026-01-15T00:00:00.000Z', present } } },
    });
  });
});

describe('an execution that differs from its preview is a conflict that tells', () => {
  it('nothing where all is the same', () => {
    expect(differenceOf(preview(), preview())).toBeNull();
  });

  it('nothing of usage that came meanwhile and changed no line', () => {
    expect(differenceOf(preview(), preview({ usage: '2026-01-15T00:00:00.000Z' }))).toBeNull();
    expect(differenceOf(preview(), preview({ usage: null }))).toBeNull();
  });

  it('nothing of the order of lines', () => {
    const two = [line(), line({ amount: '4' })];
    expect(differenceOf(preview({ lines: two }), preview({ lines: two.toReversed() }))).toBeNull();
  });

  it('each version that is another, and each that only one of them read', () => {
    expect(differenceOf(preview(), preview({ read: { subscription: 4, prices: 'abc', children: 'x' } }))).toEqual({
      code: 'version_conflict',
      subscription: { previewed: 3, present: 4 },
      children: { previewed: null, present: 'x' },
    });
    expect(differenceOf(preview(), preview({ read: { subscription: 3 } }))).toMatchObject({
      prices: { previewed: 'abc', present: null },
    });
  });

  it('another request', () => {
    expect(differenceOf(preview(), preview({ request: 'other' }))).toEqual({
      code: 'version_conflict',
      request: { previewed: 'asked', present: 'other' },
    });
  });

  it('the lines that are missing and those that are new, with the usage that explains them', () => {
    const same = line({ name: 'Same' });
    const present = preview({ lines: [line({ amount: '31' }), same], usage: '2026-01-15T00:00:00.000Z' });
    expect(differenceOf(preview({ lines: [same, line()] }), present)).toEqual({
      code: 'version_conflict',
      lines: { previewed: [line()], present: [line({ amount: '31' })] },
      usage: { previewed: '2026-01-14T23:59:00.000Z', present: '2026-01-15T00:00:00.000Z' },
    });
  });

  it('each line as often as it is missing: two of one kind are not one of each', () => {
    const [a, b] = [line(), line({ amount: '4' })];
    expect(differenceOf(preview({ lines: [a, a, b] }), preview({ lines: [a, b, b] }))).toMatchObject({
      lines: { previewed: [a], present: [b] },
    });
    expect(differenceOf(preview({ lines: [a, a] }), preview({ lines: [a] }))).toMatchObject({
      lines: { previewed: [a], present: [] },
    });
  });

  it.each<keyof PromisedLine>(['on', 'name', 'quantity', 'amount', 'start', 'end'])(
    'another %s of a line',
    (member) => {
      const other = line({ [member]: 'other' });
      expect(differenceOf(preview(), preview({ lines: [other] }))).toMatchObject({
        lines: { previewed: [line()], present: [other] },
      });
    },
  );
});

describe('lines that are promised', () => {
  const lines = fc.array(
    fc.record({
      on: fc.constantFrom('invoice', 'wallet'),
      name: fc.string({ maxLength: 3 }),
      quantity: fc.constantFrom('1', '2'),
      amount: fc.constantFrom('1', '10', '9'),
      start: fc.constant(''),
      end: fc.constant(''),
    }),
  );

  it('stand in one order, however they came', () => {
    fc.assert(
      fc.property(lines, fc.infiniteStream(fc.nat()), (given, picks) => {
        const shuffled = [...given];
        for (let left = shuffled.length; left > 1; left -= 1) {
          const pick = picks.next().value! % left;
          [shuffled[left - 1], shuffled[pick]] = [shuffled[pick]!, shuffled[left - 1]!];
        }
        expect(inPromisedOrder(shuffled)).toEqual(inPromisedOrder(given));
        expect(differenceOf(preview({ lines: given }), preview({ lines: shuffled }))).toBeNull();
      }),
    );
  });

  it('differ exactly by what was taken away or added', () => {
    fc.assert(
      fc.property(lines, lines, (given, more) => {
        const difference = differenceOf(preview({ lines: given }), preview({ lines: [...more, ...given] }));
        if (more.length === 0) expect(difference).toBeNull();
        else {
          const { previewed, present } = (difference as unknown as { lines: Record<string, PromisedLine[]> }).lines;
          expect(previewed).toEqual([]);
          expect(inPromisedOrder(present!)).toEqual(inPromisedOrder(more));
        }
      }),
    );
  });
});
