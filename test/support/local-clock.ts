/**
 * Windows of local clocks for oracles, found by looking at what the clock shows (Intl) and searching; nothing of the
 * product's calendar is used. Whole minutes only, which is what clocks of today are set by.
 */
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const formats = new Map<string, Intl.DateTimeFormat>();

/** What the wall clock shows, as if it were UTC. */
export function shownAt(instant: number, timezone: string): number {
  let format = formats.get(timezone);
  if (!format) {
    const numeric = 'numeric' as const;
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      hourCycle: 'h23',
      ...{ year: numeric, month: numeric, day: numeric, hour: numeric, minute: numeric, second: numeric },
    });
    formats.set(timezone, format);
  }
  const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

const elapsed: Record<string, number> = { MINUTE: 1, '15MIN': 15, '30MIN': 30, HOUR: 60 };
const wall: Record<string, number> = { '3HOUR': 180, '6HOUR': 360, '12HOUR': 720, DAY: 1440, WEEK: 10_080 };

/** Where the window that holds an instant begins. spec: catalogue-and-metering §7.2 */
export function windowStart(instant: number, size: string, timezone: string, anchor: string | null): number {
  const minute = Math.floor(instant / minuteMs) * minuteMs;
  const minutes = elapsed[size];
  if (minutes !== undefined) {
    // A window of elapsed length is one stretch of the clock between two multiples, without a change of the offset.
    const labelOf = (at: number): string => {
      const shown = shownAt(at, timezone);
      return `${Math.floor(shown / (minutes * minuteMs))} ${shown - at}`;
    };
    const label = labelOf(minute);
    let start = minute;
    while (minute - start < minutes * minuteMs && labelOf(start - minuteMs) === label) start -= minuteMs;
    return start;
  }
  const labelOf = (at: number): number => wallLabel(shownAt(at, timezone), size, timezone, anchor);
  const label = labelOf(minute);
  // The first minute with the label: the clock never goes back over a boundary of these sizes in the zones tested.
  let [before, first] = [minute - 33 * dayMs, minute];
  while (first - before > minuteMs) {
    const middle = Math.floor((before + first) / 2 / minuteMs) * minuteMs;
    if (labelOf(middle) < label) before = middle;
    else first = middle;
  }
  return first;
}

function wallLabel(shown: number, size: string, timezone: string, anchor: string | null): number {
  const minutes = wall[size];
  if (minutes !== undefined) {
    const monday = size === 'WEEK' ? 4 * dayMs : 0;
    return Math.floor((shown - monday) / (minutes * minuteMs));
  }
  const date = new Date(shown);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const day = anchor === null ? 1 : new Date(shownAt(Date.parse(anchor), timezone)).getUTCDate();
  return year * 12 + month - (date.getUTCDate() < Math.min(day, last) ? 1 : 0);
}
