import { billingOperations } from './operations-billing.ts';
import { catalogueOperations } from './operations-catalogue.ts';
import { customerOperations } from './operations-customers.ts';
import { platformOperations } from './operations-platform.ts';

/** What each operation does beyond its summary, by operation id. */
export const operationDescriptions: Readonly<Record<string, string>> = {
  ...catalogueOperations,
  ...customerOperations,
  ...billingOperations,
  ...platformOperations,
};

/** Gives an operation that says nothing of itself its description. */
export function describeOperation(operation: { operationId: string; description?: string }): void {
  const text = operationDescriptions[operation.operationId];
  if (text !== undefined) operation.description ??= text;
}
