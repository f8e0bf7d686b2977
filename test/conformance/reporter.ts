import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { implementedOperations, operations } from './operations.ts';

interface Row {
  area: string;
  operation: string;
  result: 'passed' | 'failed' | 'skipped';
  message: string;
}

/** Prints a line an operation of the published client and ends with `N passed, N failed, N skipped`. */
export default class ConformanceReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const cases = modules.flatMap((module) => [...module.children.allTests()]);
    const rows = [...cases.flatMap(called), ...unimplemented(), ...broken(modules, errors)];
    const width = (member: 'area' | 'operation') => Math.max(...rows.map((row) => row[member].length)) + 2;
    const [areaWidth, operationWidth] = [width('area'), width('operation')];
    for (const { area, operation, result, message } of rows) {
      console.log(
        `${area.padEnd(areaWidth)}${operation.padEnd(operationWidth)}${result}${message ? `  ${message}` : ''}`,
      );
    }
    const count = (result: Row['result']) => rows.filter((row) => row.result === result).length;
    console.log(`${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`);
  }
}

/** A call of the client is a test inside its area; the tests beside them count only when they fail. */
function called(testCase: TestCase): Row[] {
  const { state, errors = [] } = testCase.result();
  const area = testCase.parent.type === 'suite' ? testCase.parent.name : 'all';
  if (area === 'all' && state !== 'failed') return [];
  const result = state === 'passed' || state === 'skipped' ? state : 'failed';
  const note = state === 'skipped' ? (testCase.result() as { note?: string }).note : undefined;
  return [{ area, operation: testCase.name, result, message: note ?? errors.map(({ message }) => message).join('; ') }];
}

function unimplemented(): Row[] {
  const implemented = new Set(implementedOperations());
  return operations
    .filter((operation) => !implemented.has(operation))
    .map(({ area, operation }) => ({ area, operation, result: 'skipped', message: 'not in this release' }));
}

/** What failed outside a test: a file that did not load, invariants that did not hold at its end. */
function broken(modules: readonly TestModule[], errors: readonly unknown[]): Row[] {
  const messages = [
    ...modules.flatMap((module) => module.errors().map(({ message }) => message)),
    ...errors.map((error) => (error as Error).message ?? String(error)),
  ];
  return messages.map((message) => ({ area: 'all', operation: 'run', result: 'failed', message }));
}
