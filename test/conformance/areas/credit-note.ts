import { expect } from 'vitest';
import { type AreaCalls, type Conversation, present } from '../conversation.ts';

/** Credit notes, on the invoice that payments were made on. */
export function creditNoteCalls({ client, made }: Conversation): Record<string, AreaCalls> {
  let draftId = '';
  let adjustmentId = '';
  const body = async (amount: string) => {
    const invoice = await client.invoices.getInvoice(made.invoiceId);
    const [line] = present(invoice.lineItems);
    return {
      invoiceId: made.invoiceId,
      reason: 'SERVICE_ISSUE' as const,
      memo: 'Outage',
      lineItems: [{ invoiceLineItemId: present(line?.id), amount }],
      metadata: { ticket: '7' },
    };
  };
  return {
    'credit-notes': {
      async createCreditNote() {
        const note = await client.creditNotes.createCreditNote({ ...(await body('1')), processCreditNote: false });
        expect(note).toMatchObject({
          invoiceId: made.invoiceId,
          creditNoteStatus: 'DRAFT',
          creditNoteType: 'ADJUSTMENT',
          reason: 'SERVICE_ISSUE',
          totalAmount: '1',
          memo: 'Outage',
          metadata: { ticket: '7' },
          lineItems: [{ amount: '1', currency: 'usd' }],
        });
        draftId = present(note.id);
      },
      async getCreditNote() {
        const note = await client.creditNotes.getCreditNote(draftId);
        expect(note).toMatchObject({ id: draftId, invoice: { id: made.invoiceId } });
      },
      async processCreditNote() {
        const note = await client.creditNotes.processCreditNote(draftId);
        expect(note).toMatchObject({ id: draftId, creditNoteStatus: 'FINALIZED' });
        adjustmentId = draftId;
      },
      async voidCreditNote() {
        const note = await client.creditNotes.voidCreditNote(adjustmentId);
        expect(note).toMatchObject({ id: adjustmentId, creditNoteStatus: 'VOIDED' });
      },
    },
  };
}
