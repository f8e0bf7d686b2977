import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Temporal } from 'temporal-polyfill';
import { zoneOf } from './airports.ts';

/** A departure of the file; `date` is the local time at the origin, such as `2001/01/10 18:20`. */
export interface Flight {
  date: string;
  /** Minutes behind the schedule; negative is early. */
  delay: number;
  /** Miles. */
  distance: number;
  origin: string;
  destination: string;
}

/** A flight that left more than so many minutes late counts as late. */
const lateAfterMinutes = 15;

/** The directory of the npm package with the flights. */
export function dataPackage(): string {
  return dirname(dirname(fileURLToPath(import.meta.resolve('vega-datasets'))));
}

/** The 20 000 flights of January to March 2001. */
export function readFlights(): Flight[] {
  return JSON.parse(readFileSync(join(dataPackage(), 'data/flights-20k.json'), 'utf8')) as Flight[];
}

/** The origins with the most departures, busiest first; of equal ones the first in the alphabet. */
export function busiestAirports(flights: readonly Flight[], count: number): string[] {
  const departures = Map.groupBy(flights, (flight) => flight.origin);
  return [...departures]
    .sort(([a, ofA], [b, ofB]) => ofB.length - ofA.length || (a < b ? -1 : 1))
    .slice(0, count)
    .map(([code]) => code);
}

/** The flight as a usage event at its own time. `index` is its place in the file, `suffix` that of the run's names. */
export function usageEvent(flight: Flight, index: number, suffix: string) {
  const { distance, delay, destination } = flight;
  return {
    event_id: `flight-${String(index + 1).padStart(5, '0')}${suffix}`,
    event_name: `departure${suffix}`,
    external_customer_id: `${flight.origin}${suffix}`,
    timestamp: departureInstant(flight),
    properties: { distance, delay, destination, late: String(delay > lateAfterMinutes) },
  };
}

function departureInstant({ date, origin }: Flight): string {
  const local = date.replaceAll('/', '-').replace(' ', 'T');
  return Temporal.PlainDateTime.from(local).toZonedDateTime(zoneOf(origin)).toInstant().toString();
}
