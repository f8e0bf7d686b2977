import { JSDOM, type PageElement, type PageWindow, VirtualConsole } from 'jsdom';
import { describe, expect, test, vi } from 'vitest';
import { renderCheckoutPage } from '../../../../integrations/checkout-page/render.ts';
import { views } from './views.fixture.ts';

interface Opened {
  window: PageWindow;
  find(selector: string): PageElement;
  /** Milliseconds of each wait that is running, the last begun last. */
  waits: () => number[];
  /** Ends the wait that was begun last. */
  endWait: () => Promise<void>;
  /** Addresses that were asked. */
  asked: string[];
  /** Times the page went elsewhere, as far as this browser without a network tells it. */
  left: () => number;
}

/** A page with its script running, in a browser whose timers wait for the test, and whose server answers as the test says. */
function open(name: string, answers: (() => object | Promise<never>)[] = []): Opened {
  const timers = new Map<number, { ms: number; run: () => unknown }>();
  const asked: string[] = [];
  let left = 0;
  let lastId = 0;
  const virtualConsole = new VirtualConsole();
  virtualConsole.on('jsdomError', (error) => {
    if (/^Not implemented: (navigation|HTMLFormElement's requestSubmit)/.test(error.message)) left += 1;
    else throw error;
  });
  const { window } = new JSDOM(renderCheckoutPage(views[name]!).html, {
    url: 'https://pay.example/checkout/aaaabbbbccccddddeeeeff',
    ...{ runScripts: 'dangerously', pretendToBeVisual: true, virtualConsole },
    beforeParse: (page) => {
      page.setTimeout = (run: () => unknown, ms = 0) => {
        lastId += 1;
        timers.set(lastId, { ms, run });
        return lastId;
      };
      page.clearTimeout = (id: number) => timers.delete(id);
      page.AbortSignal = AbortSignal;
      page.fetch = async (address: string) => {
        asked.push(address);
        return answers.shift()!();
      };
    },
  });
  return {
    window,
    find: (selector) => window.document.querySelector(selector)!,
    waits: () => [...timers.values()].map(({ ms }) => ms),
    endWait: async () => {
      const [id, timer] = [...timers].at(-1)!;
      timers.delete(id);
      await timer.run();
    },
    asked,
    left: () => left,
  };
}

const waiting = (ms: number) => () => ({
  ...{ ok: true, status: 200 },
  json: async () => ({ state: 'waiting', next_poll_after_ms: ms }),
});
const reached = (state: string) => () => ({
  ...{ ok: true, status: 200 },
  json: async () => ({ state, next_poll_after_ms: 0 }),
});
const refused = (status: number) => () => ({ ok: false, status, json: async () => ({}) });
const offline = () => Promise.reject(new TypeError('no network'));

describe('while the page waits', () => {
  test('it asks when it was told to, each time anew', async () => {
    const page = open('waiting', [waiting(2000), waiting(5000)]);
    expect(page.waits()).toEqual([2000]);
    await page.endWait();
    expect(page.waits()).toEqual([2000]);
    await page.endWait();
    expect(page.waits()).toEqual([5000]);
    expect(page.asked).toEqual(Array(2).fill('/checkout/aaaabbbbccccddddeeeeff/progress'));
    expect(page.left()).toBe(0);
  });

  test.each(['pay', 'confirm', 'done', 'expired'])('it loads the page anew for %s and asks no more', async (state) => {
    const page = open('waiting', [reached(state)]);
    await page.endWait();
    expect([page.left(), page.waits()]).toEqual([1, []]);
  });

  test('a page that is gone is loaded anew, so that its reader is told', async () => {
    const page = open('waiting', [refused(404)]);
    await page.endWait();
    expect([page.left(), page.waits()]).toEqual([1, []]);
  });

  test('without an answer it says so, waits twice as long each time, a minute at most, and recovers', async () => {
    const page = open('waiting', [offline, refused(503), refused(429), offline, offline, offline, waiting(2000)]);
    const seen: number[] = [];
    for (let time = 0; time < 6; time += 1) {
      await page.endWait();
      seen.push(...page.waits());
      expect(page.find('#status').textContent).toBe('No connection. Trying again…');
    }
    expect(seen).toEqual([4000, 8000, 16_000, 32_000, 60_000, 60_000]);
    await page.endWait();
    expect([page.find('#status').textContent, page.waits(), page.left()]).toEqual(['', [2000], 0]);
  });

  test('a pace of nothing does not become a storm', async () => {
    const page = open('waiting', [waiting(0)]);
    await page.endWait();
    expect(page.waits()).toEqual([1000]);
  });

  test('whoever comes back to the page is told at once, by one question', async () => {
    const page = open('waiting');
    page.window.document.dispatchEvent(new page.window.Event('visibilitychange'));
    expect(page.waits()).toEqual([0]);
  });
});

test('other states ask nothing', () => {
  for (const name of ['pay', 'confirm', 'done']) {
    expect(open(name).waits(), name).toEqual([]);
  }
});

describe('a button', () => {
  test('pays once, however often it is pressed', async () => {
    const page = open('pay');
    const form = page.find('form');
    page.find('#card').value = '4000 0000 0000 0002';
    const sent = vi.fn();
    page.window.document.addEventListener('submit', sent);
    for (let press = 0; press < 20; press += 1) form.requestSubmit(page.find('button.primary'));
    expect(sent.mock.calls.map(([event]) => event.defaultPrevented)).toEqual([false, ...Array(19).fill(true)]);
    expect(page.left()).toBe(1);
    expect(page.find('#status').textContent).toBe('One moment…');
    await page.endWait();
    const buttons = [...page.window.document.querySelectorAll('button')];
    expect(buttons.every(({ disabled }) => disabled)).toBe(true);
  });

  test('that cannot pay yet is not spent', () => {
    const page = open('pay');
    page.find('form').requestSubmit(page.find('button.primary'));
    expect([page.left(), page.waits(), page.find('button.primary').disabled]).toEqual([0, [], false]);
  });
});

describe('a card number', () => {
  const typed = (value: string, caret = value.length) => {
    const { window, find } = open('pay');
    const card = find('#card');
    card.value = value;
    card.setSelectionRange(caret, caret);
    card.dispatchEvent(new window.Event('input', { bubbles: true }));
    return [card.value, card.selectionStart];
  };

  test.each([
    ['4', '4', 1],
    ['4000', '4000', 4],
    ['40000', '4000 0', 6],
    ['4000000000000002', '4000 0000 0000 0002', 19],
    ['4000-0000.0000x0002', '4000 0000 0000 0002', 19],
    ['٤٠٠٠٠٠٠٠٠٠٠٠٠٠٠٢', '4000 0000 0000 0002', 19],
    ['۴۰۰۰', '4000', 4],
    ['1'.repeat(40), '1111 1111 1111 1111 111', 23],
    ['', '', 0],
  ])('%s is written as %s', (text, written, caret) => {
    expect(typed(text)).toEqual([written, caret]);
  });

  test('a digit that is put in the middle leaves the caret behind it', () => {
    expect(typed('4000 90000', 6)).toEqual(['4000 9000 0', 6]);
    expect(typed('94000 0000', 1)).toEqual(['9400 0000 0', 1]);
  });
});
