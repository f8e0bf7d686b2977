import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseCrashPoints } from '../../../activities/crash-points.ts';
import { askAgain, askFirst } from '../../../activities/payment/payment-gateway.ts';
import { neverSent } from '../../../activities/subscription/opening-charge.ts';
import {
  askedDailyUntil,
  assertPaymentMove,
  isPaymentSettled,
  payerAgenda,
  paymentEventName,
  paymentMoveAllowed,
  paymentStatuses,
  reportUnansweredAt,
  unansweredPaymentAgenda,
  unansweredSince,
} from '../../../billing/payment/payment.ts';
import {
  type ChargeRequest,
  GatewayOutcomeUnknown,
  type OneStepCharges,
  type PaymentGateway,
  paymentGateways,
} from '../../../integrations/payment-gateway.ts';
import { sandboxBehaviours, sandboxCardNumber, sandboxCardOf } from '../../../integrations/sandbox-gateway/card.ts';
import { wireToken } from '../../../services/collection/wire-token.ts';

const anyStatus = fc.constantFrom(...paymentStatuses);

describe('the transition table of a payment', () => {
  test('no path leads back: every status is entered at most once', () => {
    fc.assert(
      fc.property(fc.array(anyStatus, { maxLength: 20 }), (path) => {
        let status = path[0] ?? 'PENDING';
        const entered = [status];
        for (const next of path) {
          if (next === status || !paymentMoveAllowed(status, next)) continue;
          status = next;
          entered.push(next);
        }
        expect(new Set(entered).size).toBe(entered.length);
      }),
    );
  });

  test('money that moved never becomes open again', () => {
    for (const from of paymentStatuses.filter(isPaymentSettled)) {
      for (const to of paymentStatuses.filter((status) => !isPaymentSettled(status))) {
        expect(paymentMoveAllowed(from, to)).toBe(false);
      }
    }
  });

  test('a refused move names what would be accepted', () => {
    expect(() => assertPaymentMove('PROCESSING', 'VOIDED')).toThrow('it can become SUCCEEDED, OVERPAID, FAILED');
    expect(() => assertPaymentMove('FAILED', 'SUCCEEDED')).toThrow('no other status');
    expect(() => assertPaymentMove('FAILED', 'FAILED')).not.toThrow();
  });

  test('a move emits one event and staying emits none', () => {
    fc.assert(
      fc.property(anyStatus, anyStatus, (from, to) => {
        expect(paymentEventName(from, to) === null).toBe(from === to);
      }),
    );
    expect(paymentEventName('PENDING', 'PROCESSING')).toBe('payment.pending');
    expect(paymentEventName('SUCCEEDED', 'PARTIALLY_REFUNDED')).toBe('payment.updated');
  });
});

describe('the agenda of an unanswered payment', () => {
  const since = '2026-01-31T00:00:00.000Z';
  const later = (ms: number) => new Date(Date.parse(since) + ms).toISOString();

  test('pauses grow with the time waited, from 5 seconds to 15 minutes', () => {
    const pauses: number[] = [];
    let at = since;
    while (at < later(24 * 3_600_000)) {
      const poll = unansweredPaymentAgenda(since, at).find((item) => item.kind === 'pollGateway')!;
      pauses.push((Date.parse(poll.at) - Date.parse(at)) / 1000);
      at = poll.at;
    }
    expect(pauses.slice(0, 9)).toEqual([5, 5, 10, 20, 40, 80, 160, 320, 640]);
    expect(Math.max(...pauses)).toBe(900);
    expect(pauses.length).toBeLessThan(110);
  });

  test('an operator hears of it after 24 hours, whenever it is asked', () => {
    const agenda = unansweredPaymentAgenda(since, later(3_600_000));
    expect(agenda.find((item) => item.kind === 'reportUnanswered')?.at).toBe('2026-02-01T00:00:00.000Z');
    expect(unansweredSince(reportUnansweredAt(since))).toBe(since);
  });
});

describe('the agenda of a payment that waits for its payer', () => {
  const since = '2026-01-31T00:00:00.000Z';
  const dayMs = 24 * 3_600_000;
  const later = (ms: number) => new Date(Date.parse(since) + ms).toISOString();

  test('alarms nobody, asks at least daily for 30 days, then ever more rarely: some forty questions a month', () => {
    const pauses: number[] = [];
    const until = askedDailyUntil(since);
    let at = since;
    while (at < later(3 * 365 * dayMs)) {
      const agenda = payerAgenda(since, at);
      expect(agenda.map(({ kind }) => kind)).toEqual(['pollGateway']);
      const pauseMs = Date.parse(agenda[0]!.at) - Date.parse(at);
      expect(pauseMs).toBeGreaterThan(0);
      if (at < until) expect(pauseMs).toBeLessThanOrEqual(dayMs);
      pauses.push(pauseMs / 1000);
      at = agenda[0]!.at;
    }
    expect(until).toBe('2026-03-02T00:00:00.000Z');
    expect(pauses.slice(0, 9)).toEqual([5, 5, 10, 20, 40, 80, 160, 320, 640]);
    expect(pauses.length).toBeLessThan(55);
  });
});

describe('a conversation with a gateway', () => {
  const request = {
    intentToken: 'pay_1:1',
    token: 'pn_1',
    providerId: null,
    chargeProviderId: null,
    createdAt: new Date().toISOString(),
    customerToken: null,
    offSession: true,
    amount: '10',
    currency: 'usd',
    paymentMethodToken: 't',
    description: '',
    metadata: {},
  };
  const charge = {
    status: 'succeeded' as const,
    gatewayPaymentId: 'ch_1',
    amount: '10',
    currency: 'usd',
    gatewayMetadata: {},
    declineReason: null,
    actionUrl: null,
  };
  const gatewayOf = (parts: Partial<OneStepCharges> & { name?: string }) => {
    const { name = 'scripted', ...charges } = parts;
    return { name, charges: { resend: { untilMs: 60_000 }, ...charges } } as PaymentGateway;
  };

  test('an answer for another amount or currency is no answer', async () => {
    for (const wrong of [{ amount: '9' }, { currency: 'eur' }]) {
      const gateway = gatewayOf({ charge: async () => ({ ...charge, ...wrong }) });
      expect(await askFirst(gateway, request)).toMatchObject({ status: 'unknown', gatewayPaymentId: null });
    }
  });

  test('whatever is thrown leaves the outcome unknown, and a foreign text is not kept', async () => {
    const thrown = async () => {
      throw new Error('card 4000000000000002 refused by upstream');
    };
    const outcome = await askFirst(gatewayOf({ charge: thrown }), request);
    expect(outcome).toMatchObject({ status: 'unknown', reason: 'the gateway call failed: Error' });
    const lost = async () => {
      throw new GatewayOutcomeUnknown('no answer in 30 s');
    };
    expect(await askFirst(gatewayOf({ charge: lost }), request)).toMatchObject({ reason: 'no answer in 30 s' });
  });

  test('a second question never sends a charge that arrived', async () => {
    let sent = 0;
    const count = async () => {
      sent += 1;
      return charge;
    };
    expect((await askAgain(gatewayOf({ lookUp: async () => charge, charge: count }), request)).status).toBe(
      'succeeded',
    );
    expect(sent).toBe(0);
    await askAgain(gatewayOf({ lookUp: async () => ({ status: 'not_found' }), charge: count }), request);
    expect(sent).toBe(1);
  });

  test('finding A2: a token is sent again only as long as its gateway remembers it', async () => {
    let sent = 0;
    const count = async () => {
      sent += 1;
      return charge;
    };
    const lookUp = async () => ({ status: 'not_found' as const });
    const old = { ...request, createdAt: new Date(Date.now() - 120_000).toISOString() };
    for (const resend of ['never', { untilMs: 60_000 }] as const) {
      const outcome = await askAgain(gatewayOf({ resend, lookUp, charge: count }), old);
      expect(outcome).toMatchObject({ status: 'unknown', reason: expect.stringContaining('too long ago') });
    }
    expect(sent).toBe(0);
  });

  test('finding A2: a prepared charge is stored before it is confirmed, and then it is the one that is confirmed', async () => {
    const steps: string[] = [];
    const charges = {
      resend: 'never' as const,
      prepare: async () => ({ providerId: 'pi_new' }),
      confirm: async (_: ChargeRequest, id: string) => {
        steps.push(`confirm ${id}`);
        return charge;
      },
      lookUp: async () => ({ status: 'not_found' as const }),
      cancel: async () => charge,
    };
    const gateway = { name: 'two steps', charges };
    const keep = async (id: string) => {
      steps.push(`keep ${id}`);
      return 'pi_first';
    };
    expect(await askFirst(gateway, request, keep)).toMatchObject({ status: 'succeeded' });
    // A worker was lost before anything was stored: nothing can have been confirmed, however long ago that was.
    await askAgain(gateway, { ...request, createdAt: '2026-01-01T00:00:00.000Z' }, keep);
    expect(steps).toEqual(['keep pi_new', 'confirm pi_first', 'keep pi_new', 'confirm pi_first']);
    // A stored charge may have been confirmed, and is not confirmed again where the gateway may have forgotten it.
    expect(await askAgain(gateway, { ...request, providerId: 'pi_first' }, keep)).toMatchObject({ status: 'unknown' });
    expect(steps).toHaveLength(4);
  });

  test('a token on the wire has letters and digits that every provider takes, and is the same every time', () => {
    const tokens = ['pay_1:1', 'pay_1:2', 'x'.repeat(400)].map(wireToken);
    for (const token of tokens) expect(token).toMatch(/^pn_[a-z2-7]{26}$/);
    expect(new Set(tokens).size).toBe(3);
    // SHA-256 of the empty text is e3b0c442 98fc1c14 9afbf4c8 996fb924 27…
    expect(wireToken('')).toBe('pn_4oymiquy7qobjgx36tejs35zeq');
  });

  test('two gateways of one name are a mistake', () => {
    expect(() => paymentGateways([gatewayOf({ name: 'a' }), gatewayOf({ name: 'a' })])).toThrow('same name');
  });
});

describe('the cards of the sandbox gateway', () => {
  test('a number says how the card behaves', () => {
    const counted = ['declines_times', 'answers_late', 'unreachable_times'];
    fc.assert(
      fc.property(fc.constantFrom(...sandboxBehaviours), fc.integer({ min: 0, max: 999 }), (behaviour, n) => {
        const count = counted.includes(behaviour) ? n : 0;
        const number = sandboxCardNumber(behaviour, count);
        expect(number).toMatch(/^\d{16}$/);
        expect(sandboxCardOf(number)).toEqual({ behaviour, count });
      }),
    );
  });

  test('one wrong digit makes no card', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 15 }), fc.integer({ min: 1, max: 9 }), (position, by) => {
        const digits = [...sandboxCardNumber('declines_times', 7)].map(Number);
        digits[position] = (digits[position]! + by) % 10;
        expect(sandboxCardOf(digits.join(''))).toBeNull();
      }),
    );
  });
});

describe('crash points', () => {
  test('are read with how often they must be reached', () => {
    expect([...parseCrashPoints('chargePayment.afterEffect, closePeriod.beforeCommit:3')]).toEqual([
      ['chargePayment.afterEffect', 1],
      ['closePeriod.beforeCommit', 3],
    ]);
    expect(parseCrashPoints('').size).toBe(0);
  });

  test('an armed one ends the process when it is reached for the nth time', () => {
    const file = new URL('../../../activities/crash-points.ts', import.meta.url).href;
    const script = `const { crashPoint } = await import(${JSON.stringify(file)});
      for (const n of [1, 2, 3]) { console.log(n); crashPoint('other.afterEffect'); crashPoint('step.afterEffect'); }`;
    const env = { ...process.env, PERENNIAL_CRASH_POINTS: 'step.afterEffect:2' };
    const { signal, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      env,
      encoding: 'utf8',
    });
    expect([signal, stdout]).toEqual(['SIGKILL', '1\n2\n']);
  });

  test('a misspelt one stops the worker at its start', () => {
    for (const text of ['chargePayment', 'chargePayment.later', 'chargePayment.afterEffect:0', 'a.b.afterEffect']) {
      expect(() => parseCrashPoints(text)).toThrow('PERENNIAL_CRASH_POINTS');
    }
  });
});

describe('an opening charge whose gateway cannot be opened', () => {
  test('is declined when it was never prepared, and unknown when it may be captured', () => {
    expect(neverSent('no connection', null)).toMatchObject({ status: 'declined', reason: 'no connection' });
    expect(neverSent('no connection', 'pi_1')).toMatchObject({ status: 'unknown', reason: 'no connection' });
  });
});
