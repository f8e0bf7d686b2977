/**
 * Whether `meter`, of the environment `$1`, is a new one whose roll-ups are being built from the events before it: until that is
 * done its usage is read from events. design: usage.md Closing and afterwards
 */
export const isUnbuilt = (meter: string): string =>
  `exists (select from usage.meter_build b where b.env = $1 and b.meter = ${meter} and b.is_first)`;
