import { type Interval, millisecondsBetween } from './calendar.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** Whole days of a period that are over at an instant, and days that are left, begun ones included. spec: §1.7 proration_details */
export function daysBetween(period: Interval, at: string): { days_used: number; days_remaining: number } {
  return {
    days_used: Math.max(Math.floor(millisecondsBetween(period.start, at) / dayMs), 0),
    days_remaining: Math.max(Math.ceil(millisecondsBetween(at, period.end) / dayMs), 0),
  };
}
