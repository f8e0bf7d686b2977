import { z } from 'zod';

const message = z.string();

/** The workflow of one object that was told to look again. */
export const workflowTriggered = z.object({ workflow_id: z.string(), run_id: z.string(), message }).meta({
  id: 'TriggerSubscriptionWorkflowResponse',
  examples: [
    {
      workflow_id: 'subscription/subs_01JD…',
      run_id: '0198c7a1-6f0e-7c3e-9a57-3f8f0d7d2b11',
      message: 'the workflow does what is due: closePeriod, finalizeInvoice',
    },
  ],
});

/** The same under the name that the interface gives it for invoices. */
export const workflowStarted = z.object({ message, workflow_id: z.string(), run_id: z.string() }).meta({
  id: 'WorkflowStartedResponse',
  examples: [
    {
      message: 'invoice finalized successfully',
      workflow_id: 'invoice/inv_01JD…',
      run_id: '0198c7a1-6f0e-7c3e-9a57-3f8f0d7d2b11',
    },
  ],
});

/** Every object has a workflow of its own, so that of many there is none to name. */
export const workflowsTriggered = z
  .object({
    workflow_id: z.string().nullable().describe('Of the only one that was woken; null for none and for several.'),
    run_id: z.string().nullable(),
    message,
    woken: z.int().describe('How many objects had something due and were told.'),
  })
  .meta({
    id: 'TriggerWorkflowsResponse',
    examples: [{ workflow_id: null, run_id: null, message: '2 objects had something due and were woken', woken: 2 }],
  });
