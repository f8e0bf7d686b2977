import { refuse } from '../../billing/refusal.ts';
import { GatewayOutcomeUnknown } from '../payment-gateway.ts';
import { takeFaultText } from './link-statements.ts';
import type { SandboxStore } from './store.ts';

/** Calls that can be made to fail, each once or more often; see `SandboxOperator.failNext`. */
export type FaultyCall = 'open' | 'read' | 'close' | 'charge' | 'refund';
/** `unreachable` before the effect, `loses_answer` behind it, `refuses` by a definite answer. */
export type SandboxFault = 'unreachable' | 'loses_answer' | 'refuses';

/** Does `work`, or what the operator set for this call instead. */
export async function withFaults<T>(
  store: SandboxStore,
  call: FaultyCall,
  intentToken: string,
  work: () => Promise<T>,
): Promise<T> {
  const [fault] = await store.rows<{ how: SandboxFault }>(takeFaultText, [call, intentToken]);
  if (fault?.how === 'unreachable') throw new GatewayOutcomeUnknown('the sandbox gateway could not be reached');
  if (fault?.how === 'refuses') throw refuse('validation_error', `the sandbox gateway refuses to ${call}`);
  const answer = await work();
  if (fault) throw new GatewayOutcomeUnknown('the answer of the sandbox gateway was lost');
  return answer;
}
