import type { WriteStream } from 'node:tty';
import type { DemoProgress } from './steps.ts';

/** Shows steps as they go: a line that is rewritten on a terminal, else one line when a step is done. */
export function demoProgress(stream: Pick<WriteStream, 'write' | 'isTTY'>): (progress: DemoProgress) => void {
  const startedMs = performance.now();
  return ({ step, done, of, unit }) => {
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1).padStart(6);
    const share = `${grouped(done).padStart(6)} of ${grouped(of)} ${unit}`;
    const line = `${seconds} s  ${step.padEnd(30)} ${share}`;
    if (stream.isTTY) stream.write(`\r\u001b[K${line}${done === of ? '\n' : ''}`);
    else if (done === of) stream.write(`${line}\n`);
  };
}

function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
