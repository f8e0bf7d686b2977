/** Id of the workflow that tops a wallet up. */
export function autoTopUpWorkflowId(walletId: string): string {
  return `auto-top-up/${walletId}`;
}
