/** Whose data a piece of work may touch and in whose name it acts. Every store function takes one. spec: platform §3 */
export interface Scope {
  readonly tenantId: string;
  readonly environmentId: string;
  /** User id of the caller, or `system` for what time does. Written to `created_by`, `updated_by` and the audit. */
  readonly actor: string;
  readonly requestId: string;
}

/** The scope of work that crosses environments on purpose: key look-up, reconcile, the outbox relay, operators' checks. */
export const systemScope: Scope = { tenantId: '*', environmentId: '*', actor: 'system', requestId: '' };

/** The scope of what time does to an object of one environment. */
export function workflowScope(owner: { tenantId: string; environmentId: string }): Scope {
  return { tenantId: owner.tenantId, environmentId: owner.environmentId, actor: 'system', requestId: '' };
}
