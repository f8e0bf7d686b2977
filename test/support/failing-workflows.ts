/** Stands in for a lifecycle whose tasks fail, for `command-resend.test.ts`. */
export async function autoTopUp(): Promise<void> {
  throw new Error('the task of this workflow fails');
}
