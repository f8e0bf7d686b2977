import { randomUUID } from 'node:crypto';
import { sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { makeCustomer } from '../account.ts';
import { ownCpuMs, programCpuMs } from '../cpu.ts';
import { compare } from '../measure.ts';
import { type BenchPlatform, withBenchPlatform } from '../platform.ts';

const invoices = 100;
const lanes = 4;
const amount = '25';

/**
 * Processor time of a payment on a page (its session opened, paid by the payer at the sandbox, and read as completed) against that of one
 * charge of a saved card, both of an invoice that is there already; everything included, as API, workers and caller are one process here.
 * The ratio is the one over the other: less is better. Fails unless every invoice is paid once and every invariant holds.
 */
export async function run(): Promise<void> {
  await withBenchPlatform(async (platform) => {
    await platform.startWorkers();
    const card = sandboxCardNumber('succeeds');
    const customerId = await makeCustomer(platform.api, { externalId: 'payer', card });
    const side = (pay: (platform: BenchPlatform, invoiceId: string) => Promise<void>) => async () => {
      const ids: string[] = [];
      for (let index = 0; index < invoices; index += 1) ids.push(await makeInvoice(platform, customerId));
      const before = cpuMs(platform);
      const waiting = ids.values();
      const worker = async () => {
        for (const id of waiting) await pay(platform, id);
      };
      await Promise.all(Array.from({ length: lanes }, worker));
      const each = (cpuMs(platform) - before) / invoices;
      await checkPaid(platform, ids);
      return each;
    };
    await compare({ bench: 'checkout', reference: side(charge), product: side(payOnPage) });
    await platform.checkInvariants();
  });
}

const cpuMs = ({ temporalServer, postgres }: BenchPlatform) =>
  ownCpuMs() + programCpuMs(temporalServer.program) + programCpuMs(postgres.program);

async function makeInvoice({ api }: BenchPlatform, customer_id: string): Promise<string> {
  const line_items = [{ display_name: 'Onboarding', quantity: '1', amount }];
  const totals = { subtotal: amount, total: amount, amount_due: amount };
  const idempotency_key = randomUUID();
  const { id } = await api('POST', '/invoices', {
    customer_id,
    idempotency_key,
    currency: 'usd',
    collection_method: 'send_invoice',
    ...totals,
    line_items,
  });
  return id;
}

const paymentOf = (destination_id: string) => ({
  destination_type: 'INVOICE',
  destination_id,
  amount,
  currency: 'usd',
});

async function charge({ api }: BenchPlatform, invoiceId: string): Promise<void> {
  const body = { ...paymentOf(invoiceId), payment_method_type: 'CARD' };
  const { payment_status } = await api<{ payment_status: string }>('POST', '/payments', body);
  if (payment_status !== 'SUCCEEDED') throw new Error(`the charge of ${invoiceId} is ${payment_status}`);
}

async function payOnPage({ api, gateway }: BenchPlatform, invoiceId: string): Promise<void> {
  const body = { ...paymentOf(invoiceId), payment_method_type: 'PAYMENT_LINK', payment_gateway: 'sandbox' };
  const { id } = await api('POST', '/payments', body);
  await gateway.payer?.payLink(`${id}:1`, { cardNumber: sandboxCardNumber('succeeds') });
  const read = await api<{ payment_status: string }>('GET', `/payments/${id}`);
  if (read.payment_status !== 'SUCCEEDED') throw new Error(`the page of ${invoiceId} is ${read.payment_status}`);
}

async function checkPaid({ api }: BenchPlatform, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const { amount_paid, overpaid_amount } = await api<Record<string, string>>('GET', `/invoices/${id}`);
    if (amount_paid !== amount || overpaid_amount !== '0') throw new Error(`invoice ${id} is paid ${amount_paid}`);
  }
}
