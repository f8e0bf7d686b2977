import { condition, defineQuery, defineSignal, defineUpdate, setHandler } from '@temporalio/workflow';

/**
 * A workflow with as many handlers as a subscription's and one timer, which does nothing else: what Temporal itself costs.
 */
export async function empty({ waitMs }: { waitMs: number }): Promise<void> {
  let told = 0;
  const tell = () => {
    told += 1;
  };
  for (const name of ['settle', 'retry', 'create', 'cancel', 'update']) setHandler(defineUpdate(name), tell);
  setHandler(defineSignal('rowChanged'), tell);
  setHandler(defineQuery('waitingFor'), () => told);
  if (waitMs > 0) await condition(() => told > 1_000, waitMs);
}
