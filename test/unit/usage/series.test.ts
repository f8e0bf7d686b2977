import { describe, expect, it } from 'vitest';
import { type EventCopy, evaluateSeries } from '../../../metering/evaluate.ts';
import { seriesWindows, windowsToAsk } from '../../../metering/series.ts';
import type { SeriesWindow } from '../../../metering/series-window.ts';

const january = { from: '2026-01-01T00:00:00.000000Z', to: '2026-02-01T00:00:00.000000Z' };
const windowing = (windowSize: string, timezone = 'UTC') => ({ windowSize, timezone, billingAnchor: null });

/** Windows with an event at one of these instants, and the sizes that were asked about before the last. */
function asking(...times: string[]) {
  const asked: number[] = [];
  const holding = async (larger: readonly SeriesWindow[]) => {
    asked.push(larger.length);
    return larger.filter(({ from, to }) => times.some((time) => time >= from && time < to));
  };
  return { asked, holding };
}

describe('the windows of a long series (catalogue-and-metering §7.2)', () => {
  it('are all of them while they are few', async () => {
    const { asked, holding } = asking();
    const windows = await windowsToAsk(january, windowing('HOUR'), holding);
    expect(windows).toEqual(seriesWindows(january, windowing('HOUR')));
    expect(asked).toEqual([]);
  });

  it('are only those of hours with an event where they are many', async () => {
    const { asked, holding } = asking('2026-01-03T10:20:30.000000Z', '2026-01-31T23:59:59.999999Z');
    const windows = await windowsToAsk(january, windowing('MINUTE'), holding);
    expect(asked).toEqual([744]);
    expect(windows).toHaveLength(120);
    expect(windows[20]).toEqual({
      start: '2026-01-03T10:20:00.000Z',
      from: '2026-01-03T10:20:00.000000Z',
      to: '2026-01-03T10:21:00.000000Z',
    });
    expect(windows.at(-1)?.to).toBe(january.to);
  });

  it('are looked for in days, then hours, over years', async () => {
    const { asked, holding } = asking('2024-02-29T12:00:00.000000Z');
    const years = { from: '2020-01-01T00:00:00.000000Z', to: '2026-01-01T00:00:00.000000Z' };
    expect(await windowsToAsk(years, windowing('15MIN', 'America/New_York'), holding)).toHaveLength(4);
    expect(asked).toEqual([2193, 24]);
  });

  it('are refused when more than 20 000 of them may hold an event', async () => {
    const everywhere = async (larger: readonly SeriesWindow[]) => larger;
    await expect(windowsToAsk(january, windowing('MINUTE'), everywhere)).rejects.toThrow('window_size gives more than');
  });

  it('in memory are those with an event, however many there could be', () => {
    const copies = ['2026-01-03T10:20:30Z', '2026-01-03T10:20:59Z', '2026-01-20T00:00:00Z'].map(
      (timestamp, index): EventCopy => ({ id: `${index}`, timestamp, ingestedAt: timestamp, properties: {} }),
    );
    const evaluation = { aggregation: { type: 'COUNT' }, filters: [], ...january };
    expect(evaluateSeries(copies, evaluation, windowing('MINUTE'))).toEqual([
      { start: '2026-01-03T10:20:00.000Z', value: '2' },
      { start: '2026-01-20T00:00:00.000Z', value: '1' },
    ]);
    expect(() => evaluateSeries([], evaluation, windowing('YEAR'))).toThrow('window_size must be one of');
  });
});
