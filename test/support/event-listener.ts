import type { GrantFolding, MeteredEvent } from '../../billing/allowance/grant-usage.ts';

/** Keeps what a question for single events is told, from its latest beginning on. */
export function eventListener() {
  const told = { events: [] as MeteredEvent[], multiplier: null as string | null };
  const begin: GrantFolding = (multiplier) => {
    Object.assign(told, { events: [], multiplier });
    return {
      add: (event) => told.events.push(event),
      addTogether: () => false,
      measured: () => {
        throw new Error('a listener measures nothing');
      },
    };
  };
  return { told, begin };
}
