import { describe, expect, it } from 'vitest';
import {
  assertEditable,
  type EditableInvoice,
  type EditedLine,
  type LineEdit,
  planEdit,
  type UpdatedLine,
} from '../../../../billing/invoice/invoice-edit.ts';
import { refusalOf } from '../refused.ts';

const draft: EditableInvoice = {
  invoiceStatus: 'DRAFT',
  paymentStatus: 'PENDING',
  recalculatedInvoiceId: null,
  sourceType: '',
};

describe('an invoice is edited (subscriptions-and-invoicing §2.15.8, §2.15.11)', () => {
  it.each([
    ['a draft', {}],
    ['a final one', { invoiceStatus: 'FINALIZED' }],
    ['a paid one', { invoiceStatus: 'FINALIZED', paymentStatus: 'SUCCEEDED' }],
    ['a final one that came from a checkout', { invoiceStatus: 'FINALIZED', sourceType: 'checkout' }],
  ])('that is %s', (_name, members) => {
    expect(refusalOf(() => assertEditable({ ...draft, ...members }))).toBeNull();
  });

  it.each([
    ['voided', { invoiceStatus: 'VOIDED' }, 'validation_error'],
    ['skipped', { invoiceStatus: 'SKIPPED' }, 'validation_error'],
    ['refunded', { invoiceStatus: 'FINALIZED', paymentStatus: 'REFUNDED' }, 'validation_error'],
    ['refunded in part', { invoiceStatus: 'FINALIZED', paymentStatus: 'PARTIALLY_REFUNDED' }, 'validation_error'],
    ['replaced before', { invoiceStatus: 'FINALIZED', recalculatedInvoiceId: 'inv_2' }, 'validation_error'],
    ['waiting for its checkout', { sourceType: 'checkout' }, 'invalid_operation'],
  ])('but not one that is %s', (_name, members, code) => {
    expect(refusalOf(() => assertEditable({ ...draft, ...members }))).toMatchObject({ code });
  });
});

describe('an edit of lines (subscriptions-and-invoicing §1.11.2)', () => {
  const lines: EditedLine[] = [
    { id: 'line_1', position: 0, amount: '30', quantity: '1' },
    { id: 'line_2', position: 4, amount: '0.50', quantity: '5' },
  ];
  const plan = (edit: LineEdit, of = lines) => {
    let made = 0;
    return planEdit(of, edit, () => {
      made += 1;
      return `new_${made}`;
    });
  };
  const added = { displayName: 'Work', amount: '-10', quantity: '1', metadata: {}, periodStart: null, periodEnd: null };
  const updated = (members: Partial<UpdatedLine> = {}): UpdatedLine => ({
    ...{ lineItemId: 'line_2', displayName: null, amount: null, quantity: null, metadata: null },
    field: 'line_item_params.items[0].line_item_id',
    ...members,
  });
  const fieldsOf = (edit: LineEdit) => {
    const refused = refusalOf(() => plan(edit));
    return refused && [refused.code, Object.keys((refused.details as { fields: object }).fields)[0]];
  };

  it('adds behind the last line, in the order given, and below zero where that is asked for', () => {
    const planned = plan({ action: 'add', items: [added, { ...added, displayName: 'More' }] });
    expect(planned).toMatchObject({ removed: [], replaced: [] });
    expect(planned.added).toMatchObject([
      { displayName: 'Work', amount: '-10', newId: 'new_1', position: 5 },
      { displayName: 'More', newId: 'new_2', position: 6 },
    ]);
    expect(plan({ action: 'add', items: [added] }, []).added).toMatchObject([{ position: 0 }]);
  });

  it('removes the lines it names', () => {
    expect(plan({ action: 'remove', lineItemIds: ['line_2', 'line_1'] })).toEqual({
      removed: ['line_2', 'line_1'],
      replaced: [],
      added: [],
    });
  });

  it('puts another line with a new id in the place of one it updates', () => {
    const planned = plan({ action: 'update', items: [updated({ amount: '2' })] });
    expect(planned).toMatchObject({ removed: ['line_2'], added: [] });
    expect(planned.replaced).toMatchObject([{ lineItemId: 'line_2', newId: 'new_1', keepsDerivation: false }]);
  });

  it.each([
    ['its name', 'keeps', { displayName: 'Agreed' }],
    ['the amount it has, in other digits,', 'keeps', { amount: '0.5', quantity: '5.00' }],
    ['its amount', 'gives up', { amount: '0.51' }],
    ['its quantity', 'gives up', { quantity: '6' }],
  ])('that changes %s %s the derivation', (_name, verb, members) => {
    const keepsDerivation = verb === 'keeps';
    expect(plan({ action: 'update', items: [updated(members)] }).replaced).toMatchObject([{ keepsDerivation }]);
  });

  it('of a line that is not on the invoice is refused, naming the field', () => {
    expect(fieldsOf({ action: 'remove', lineItemIds: ['line_1', 'other'] })).toEqual([
      'not_found',
      'line_item_params.line_item_ids[1]',
    ]);
    const field = 'line_item_params.items[0].line_item_id';
    expect(fieldsOf({ action: 'update', items: [updated({ lineItemId: 'other' })] })).toEqual(['not_found', field]);
  });

  it('that names a line twice is refused', () => {
    expect(fieldsOf({ action: 'remove', lineItemIds: ['line_1', 'line_1'] })).toEqual([
      'validation_error',
      'line_item_params.line_item_ids[1]',
    ]);
    const twice = [updated(), updated({ field: 'line_item_params.items[1].line_item_id' })];
    expect(fieldsOf({ action: 'update', items: twice })).toEqual([
      'validation_error',
      'line_item_params.items[1].line_item_id',
    ]);
  });

  it('that adds a line whose period ends before it begins is refused', () => {
    const period = { periodStart: '2026-02-01T00:00:00.000Z', periodEnd: '2026-01-01T00:00:00.000Z' };
    expect(fieldsOf({ action: 'add', items: [added, { ...added, ...period }] })).toEqual([
      'validation_error',
      'line_item_params.items[1].period_end',
    ]);
  });
});
