/**
 * Length that a run may reach: its actions so far, and the events of its history when its task began. What it went ahead to alone
 * does not count: that was done in the task of the entry before.
 */
export interface RunLength {
  actions: number;
  events: number;
}

/**
 * A run at rest rolls over past this, so that replaying any live object stays cheap: a period is announced, closed, finalized
 * and charged in four actions, on a test clock often in one. One that has work goes on for longer: rolling over in the middle costs
 * whoever waits another round.
 */
export const longestAtRest: RunLength = { actions: 2, events: 12 };
export const longest: RunLength = { actions: 3, events: 20 };
