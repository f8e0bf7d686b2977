import { asyncLocalStorage } from '@temporalio/activity';

/**
 * Whether a step of that workflow is being done here. A workflow reads what its own step left when the step answers; told of it besides
 * while it ends its run, it would have to do its task again, and meanwhile take no command.
 */
export function isStepOf(workflowId: string): boolean {
  return asyncLocalStorage.getStore()?.info.workflowExecution?.workflowId === workflowId;
}
