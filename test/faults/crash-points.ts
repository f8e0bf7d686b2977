import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { subscriptionSteps } from '../../services/subscription/period/subscription-steps.ts';

const activities = join(import.meta.dirname, '../../activities');
const literal = /crashPoint\(\s*'(\w+\.\w+)'/g;
/** `crashPoint(`${name}.beforeCommit`)`: the steps of one file share a frame that takes their name. */
const framed = /crashPoint\(\s*`\$\{\w+\}\.(\w+)`/g;
/** The frames, and how they are given the name of a step. */
const named = /\b(?:together\(|converse\(\w+,)\s*'(\w+)'/g;
/** Where the frame is given the steps of an agenda one after the other. */
const agendaSteps = 'Object.entries(subscriptionSteps)';

/** Every crash point the activities have, found in their sources, so that a new step is killed without being listed here. */
export function crashPointsOfActivities(): string[] {
  const points = new Set<string>();
  for (const name of readdirSync(activities, { encoding: 'utf8', recursive: true }).filter((file) =>
    file.endsWith('.ts'),
  )) {
    const source = readFileSync(join(activities, name), 'utf8');
    for (const [, point] of source.matchAll(literal)) points.add(point!);
    const moments = new Set([...source.matchAll(framed)].map(([, moment]) => moment));
    const steps = [...source.matchAll(named)].map(([, step]) => step);
    if (source.includes(agendaSteps)) steps.push(...Object.keys(subscriptionSteps));
    for (const step of steps) for (const moment of moments) points.add(`${step}.${moment}`);
  }
  return [...points].sort();
}

const reached = /^crash point (\w+\.\w+) reached$/gm;

/** The crash points at which workers ended, by what they wrote to their log. */
export function reachedCrashPoints(logFile: string): string[] {
  return [...readFileSync(logFile, 'utf8').matchAll(reached)].map(([, point]) => point!);
}
