import { expect, test } from 'vitest';
import { openDocumentRenderer } from '../../../integrations/document-renderer/renderer.ts';
import type { EInvoiceDocument, EInvoiceParty } from '../../../integrations/e-invoice/document.ts';
import type { InvoicePage } from '../../../integrations/invoice-pdf/render.ts';

const text = (value: string) => ({ text: value, rtl: false });

function pageOf(lines: number): InvoicePage {
  return {
    title: 'Invoice',
    number: 'INV-1',
    accent: '#1f4e8c',
    paper: 'a4',
    logo: null,
    stamp: null,
    footer: '',
    seller: { name: 'Acme', title: text('Acme'), lines: [] },
    customer: { label: 'Billed to', title: text('Customer'), lines: [] },
    dates: [],
    headline: ['Amount due', '1'],
    lines: Array.from({ length: lines }, () => ({
      name: text('Calls'),
      note: '',
      period: '',
      quantity: '1',
      amount: '1',
    })),
    totals: [],
    notes: [],
  };
}

const refusal = (code: string) => expect.objectContaining({ type: code });

test('a renderer that was made ready makes documents, and ends with its process', async () => {
  const documents = openDocumentRenderer();
  await documents.makeReady();
  expect((await documents.pdf(pageOf(1))).toString('latin1').slice(0, 5)).toBe('%PDF-');
  await documents.close();
});

test('a document that takes too long is refused, and the next one is made', async () => {
  const slow = openDocumentRenderer({ processes: 1, waiting: 4, deadlineMs: 1 });
  await expect(slow.pdf(pageOf(2_000))).rejects.toEqual(refusal('service_unavailable'));
  await slow.close();
  const usual = openDocumentRenderer();
  expect((await usual.pdf(pageOf(1))).toString('latin1').slice(0, 5)).toBe('%PDF-');
  await usual.close();
});

test('more documents than may wait are refused at once', async () => {
  const small = openDocumentRenderer({ processes: 1, waiting: 1, deadlineMs: 60_000 });
  const asked = await Promise.allSettled(Array.from({ length: 4 }, () => small.pdf(pageOf(1))));
  const made = asked.filter(({ status }) => status === 'fulfilled');
  expect(made.length).toBeGreaterThan(0);
  expect(made.length).toBeLessThan(4);
  for (const one of asked) if (one.status === 'rejected') expect(one.reason).toEqual(refusal('service_unavailable'));
  await small.close();
});

test('a page that cannot be shown is an error and no refusal', async () => {
  const documents = openDocumentRenderer();
  const broken = { ...pageOf(1), paper: 'none' } as unknown as InvoicePage;
  await expect(documents.pdf(broken)).rejects.not.toEqual(refusal('service_unavailable'));
  await documents.close();
});

test('a process that made files without pages ends', async () => {
  const documents = openDocumentRenderer();
  const file = await documents.eInvoice(eInvoice, 'ubl');
  expect(file.toString()).toContain('<cbc:ID>INV-1</cbc:ID>');
  await documents.close();
});

const party: EInvoiceParty = {
  ...{ name: 'Acme', country: 'DE', vatId: 'DE123456789', taxNumber: null, registrationId: null },
  ...{ line1: null, line2: null, city: null, postalCode: null, state: null, email: null, phone: null, contact: null },
};

const eInvoice: EInvoiceDocument = {
  ...{ kind: 'invoice', profile: 'en16931', number: 'INV-1', issued: '2026-02-15', due: '2026-03-15', terms: null },
  ...{ currency: 'EUR', notes: [], buyerReference: null, purchaseOrder: null, preceding: null, period: null },
  ...{ seller: party, buyer: party, paymentCode: null, account: null, lines: [], vatRate: '19', exemption: null },
  amounts: {
    ...{
      lines: [],
      allowance: null,
      taxedCredits: null,
      allowanceTotal: null,
      charge: null,
      category: 'S',
      percent: '19',
      prepaid: null,
    },
    ...{ lineTotal: '0', taxable: '0', tax: '0', grandTotal: '0', payable: '0' },
  },
};
