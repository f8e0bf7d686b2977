import { writtenMoney } from '../billing/written-money.ts';

/** Fixed words of printed documents. */
interface Words {
  invoice: string;
  creditNote: string;
  draft: string;
  billedTo: string;
  creditedTo: string;
  issueDate: string;
  dueDate: string;
  paidOn: string;
  period: string;
  purchaseOrder: string;
  yourReference: string;
  ofInvoice: string;
  reason: string;
  /** Heads of the table of lines. */
  heads: [description: string, period: string, quantity: string, price: string, amount: string];
  item: string;
  subtotal: string;
  discount: string;
  prepaidCredits: string;
  /** Behind a tax that is part of the prices. */
  included: string;
  total: string;
  creditNotes: string;
  paid: string;
  givenBack: string;
  amountDue: string;
  amountDueBy: string;
  paidInFull: string;
  nothingDue: string;
  voided: string;
  credited: string;
  totalCredited: string;
  payTo: string;
  vatId: string;
  taxNumber: string;
  registered: string;
  exempt: string;
  tax: string;
  stamps: Record<string, string>;
  means: Record<string, string>;
}

const english: Words = {
  ...{
    invoice: 'Invoice',
    creditNote: 'Credit note',
    draft: 'Draft',
    billedTo: 'Billed to',
    creditedTo: 'Credited to',
  },
  ...{ issueDate: 'Issue date', dueDate: 'Due date', paidOn: 'Paid on', period: 'Billing period' },
  ...{ purchaseOrder: 'Your order', yourReference: 'Your reference', ofInvoice: 'Of invoice', reason: 'Reason' },
  heads: ['Description', 'Period', 'Quantity', 'Unit price', 'Amount'],
  ...{ item: 'Item', subtotal: 'Subtotal', discount: 'Discount', prepaidCredits: 'Prepaid credits' },
  ...{ included: 'included', total: 'Total', creditNotes: 'Credit notes', paid: 'Paid', givenBack: 'Given back' },
  ...{
    amountDue: 'Amount due',
    amountDueBy: 'Amount due by',
    paidInFull: 'Paid in full',
    nothingDue: 'Nothing is due',
  },
  ...{ voided: 'This invoice was voided; nothing is due', credited: 'Credited', totalCredited: 'Total credited' },
  ...{ payTo: 'Pay to', vatId: 'VAT', taxNumber: 'Tax number', registered: 'Registered', tax: 'Tax' },
  exempt: 'No tax is charged: the customer is exempt.',
  stamps: { DRAFT: 'DRAFT', VOIDED: 'VOIDED', SKIPPED: 'SKIPPED', PAID: 'PAID', REFUNDED: 'REFUNDED' },
  means: { CARD: 'card', ACH: 'bank debit', UPI: 'UPI', OFFLINE: 'bank transfer or cash', CREDITS: 'credits' },
};

const german: Words = {
  ...{ invoice: 'Rechnung', creditNote: 'Gutschrift', draft: 'Entwurf', billedTo: 'Rechnung an' },
  ...{ creditedTo: 'Gutschrift an', issueDate: 'Rechnungsdatum', dueDate: 'Fällig am', paidOn: 'Bezahlt am' },
  ...{ period: 'Abrechnungszeitraum', purchaseOrder: 'Ihre Bestellung', yourReference: 'Ihr Zeichen' },
  ...{ ofInvoice: 'Zu Rechnung', reason: 'Grund' },
  heads: ['Beschreibung', 'Zeitraum', 'Menge', 'Einzelpreis', 'Betrag'],
  ...{ item: 'Position', subtotal: 'Zwischensumme', discount: 'Rabatt', prepaidCredits: 'Guthaben' },
  ...{ included: 'enthalten', total: 'Gesamtbetrag', creditNotes: 'Gutschriften', paid: 'Bezahlt' },
  ...{
    givenBack: 'Erstattet',
    amountDue: 'Zu zahlen',
    amountDueBy: 'Zu zahlen bis',
    paidInFull: 'Vollständig bezahlt',
  },
  ...{ nothingDue: 'Es ist nichts zu zahlen', voided: 'Diese Rechnung wurde storniert; es ist nichts zu zahlen' },
  ...{ credited: 'Gutgeschrieben', totalCredited: 'Summe der Gutschrift', payTo: 'Zahlbar auf' },
  ...{ vatId: 'USt-IdNr.', taxNumber: 'Steuernummer', registered: 'Register', tax: 'Steuer' },
  exempt: 'Es wird keine Steuer berechnet: Der Kunde ist befreit.',
  stamps: { DRAFT: 'ENTWURF', VOIDED: 'STORNIERT', SKIPPED: 'ENTFALLEN', PAID: 'BEZAHLT', REFUNDED: 'ERSTATTET' },
  means: { CARD: 'Karte', ACH: 'Lastschrift', UPI: 'UPI', OFFLINE: 'Überweisung oder bar', CREDITS: 'Guthaben' },
};

const french: Words = {
  ...{ invoice: 'Facture', creditNote: 'Avoir', draft: 'Brouillon', billedTo: 'Facturé à', creditedTo: 'Crédité à' },
  ...{ issueDate: 'Date d’émission', dueDate: 'Échéance', paidOn: 'Payée le', period: 'Période de facturation' },
  ...{ purchaseOrder: 'Votre commande', yourReference: 'Votre référence', ofInvoice: 'Sur facture', reason: 'Motif' },
  heads: ['Description', 'Période', 'Quantité', 'Prix unitaire', 'Montant'],
  ...{ item: 'Article', subtotal: 'Sous-total', discount: 'Remise', prepaidCredits: 'Crédits prépayés' },
  ...{ included: 'incluse', total: 'Total', creditNotes: 'Avoirs', paid: 'Payé', givenBack: 'Remboursé' },
  ...{ amountDue: 'Montant dû', amountDueBy: 'Montant dû au plus tard le', paidInFull: 'Entièrement payée' },
  ...{ nothingDue: 'Rien n’est dû', voided: 'Cette facture a été annulée ; rien n’est dû', credited: 'Crédité' },
  ...{ totalCredited: 'Total de l’avoir', payTo: 'À payer sur', vatId: 'N° TVA', taxNumber: 'N° fiscal' },
  ...{ registered: 'Immatriculation', tax: 'Taxe' },
  exempt: 'Aucune taxe n’est facturée : le client est exonéré.',
  stamps: { DRAFT: 'BROUILLON', VOIDED: 'ANNULÉE', SKIPPED: 'SANS OBJET', PAID: 'PAYÉE', REFUNDED: 'REMBOURSÉE' },
  means: { CARD: 'carte', ACH: 'prélèvement', UPI: 'UPI', OFFLINE: 'virement ou espèces', CREDITS: 'crédits' },
};

const spanish: Words = {
  ...{ invoice: 'Factura', creditNote: 'Nota de crédito', draft: 'Borrador', billedTo: 'Facturado a' },
  ...{ creditedTo: 'Abonado a', issueDate: 'Fecha de emisión', dueDate: 'Vencimiento', paidOn: 'Pagada el' },
  ...{ period: 'Período de facturación', purchaseOrder: 'Su pedido', yourReference: 'Su referencia' },
  ...{ ofInvoice: 'De la factura', reason: 'Motivo' },
  heads: ['Descripción', 'Período', 'Cantidad', 'Precio unitario', 'Importe'],
  ...{ item: 'Artículo', subtotal: 'Subtotal', discount: 'Descuento', prepaidCredits: 'Créditos prepagados' },
  ...{ included: 'incluido', total: 'Total', creditNotes: 'Notas de crédito', paid: 'Pagado' },
  ...{ givenBack: 'Devuelto', amountDue: 'Importe pendiente', amountDueBy: 'Importe pendiente hasta el' },
  ...{ paidInFull: 'Pagada por completo', nothingDue: 'No hay nada pendiente' },
  ...{ voided: 'Esta factura fue anulada; no hay nada pendiente', credited: 'Abonado', totalCredited: 'Total abonado' },
  ...{ payTo: 'Pagar a', vatId: 'NIF-IVA', taxNumber: 'N.º fiscal', registered: 'Registro', tax: 'Impuesto' },
  exempt: 'No se cobra impuesto: el cliente está exento.',
  stamps: { DRAFT: 'BORRADOR', VOIDED: 'ANULADA', SKIPPED: 'OMITIDA', PAID: 'PAGADA', REFUNDED: 'DEVUELTA' },
  means: {
    CARD: 'tarjeta',
    ACH: 'domiciliación',
    UPI: 'UPI',
    OFFLINE: 'transferencia o efectivo',
    CREDITS: 'créditos',
  },
};

const arabic: Words = {
  ...{ invoice: 'فاتورة', creditNote: 'إشعار دائن', draft: 'مسودة', billedTo: 'فاتورة إلى', creditedTo: 'إلى' },
  ...{ issueDate: 'تاريخ الإصدار', dueDate: 'تاريخ الاستحقاق', paidOn: 'تاريخ الدفع', period: 'فترة الفوترة' },
  ...{ purchaseOrder: 'رقم طلبكم', yourReference: 'مرجعكم', ofInvoice: 'عن الفاتورة', reason: 'السبب' },
  heads: ['الوصف', 'الفترة', 'الكمية', 'سعر الوحدة', 'المبلغ'],
  ...{ item: 'بند', subtotal: 'المجموع الفرعي', discount: 'خصم', prepaidCredits: 'رصيد مدفوع مسبقًا' },
  ...{ included: 'مشمولة', total: 'الإجمالي', creditNotes: 'إشعارات دائنة', paid: 'المدفوع', givenBack: 'المسترد' },
  ...{ amountDue: 'المبلغ المستحق', amountDueBy: 'المبلغ المستحق حتى', paidInFull: 'مدفوعة بالكامل' },
  ...{ nothingDue: 'لا يوجد مبلغ مستحق', voided: 'أُلغيت هذه الفاتورة، ولا يوجد مبلغ مستحق' },
  ...{ credited: 'المبلغ الدائن', totalCredited: 'إجمالي الإشعار', payTo: 'يُدفع إلى', vatId: 'الرقم الضريبي' },
  ...{ taxNumber: 'رقم الملف الضريبي', registered: 'السجل التجاري', tax: 'ضريبة' },
  exempt: 'لا تُحتسب ضريبة: العميل معفى.',
  stamps: { DRAFT: 'مسودة', VOIDED: 'ملغاة', SKIPPED: 'متجاوزة', PAID: 'مدفوعة', REFUNDED: 'مستردة' },
  means: { CARD: 'بطاقة', ACH: 'خصم مباشر', UPI: 'UPI', OFFLINE: 'تحويل أو نقدًا', CREDITS: 'رصيد' },
};

const japanese: Words = {
  ...{ invoice: '請求書', creditNote: '返還請求書', draft: '下書き', billedTo: '請求先', creditedTo: '宛先' },
  ...{ issueDate: '発行日', dueDate: '支払期限', paidOn: '支払日', period: '請求期間', purchaseOrder: '注文番号' },
  ...{ yourReference: '貴社参照番号', ofInvoice: '対象の請求書', reason: '理由' },
  heads: ['内容', '期間', '数量', '単価', '金額'],
  ...{ item: '項目', subtotal: '小計', discount: '割引', prepaidCredits: '前払いクレジット', included: '内税' },
  ...{ total: '合計', creditNotes: '返還', paid: '支払済み', givenBack: '返金', amountDue: 'ご請求額' },
  ...{ amountDueBy: 'ご請求額、支払期限', paidInFull: '全額支払済み', nothingDue: 'ご請求はありません' },
  ...{ voided: 'この請求書は取り消されました。ご請求はありません', credited: '返還額', totalCredited: '返還合計' },
  ...{ payTo: '振込先', vatId: '登録番号', taxNumber: '税務番号', registered: '法人番号', tax: '税' },
  exempt: '課税されません。お客様は免税です。',
  stamps: { DRAFT: '下書き', VOIDED: '取消', SKIPPED: '対象外', PAID: '支払済み', REFUNDED: '返金済み' },
  means: { CARD: 'カード', ACH: '口座振替', UPI: 'UPI', OFFLINE: '振込または現金', CREDITS: 'クレジット' },
};

const languages = {
  en: { words: english, locale: 'en-GB' },
  de: { words: german, locale: 'de-DE' },
  fr: { words: french, locale: 'fr-FR' },
  es: { words: spanish, locale: 'es-ES' },
  ar: { words: arabic, locale: 'ar-EG-u-nu-latn' },
  ja: { words: japanese, locale: 'ja-JP' },
};
export type PaperLanguage = keyof typeof languages;

/** Words, dates and numbers of a document in one language. */
export interface PaperWords extends Words {
  language: PaperLanguage;
  /** An amount with its currency; more digits than the currency has are kept, as those of a unit price. */
  money(amount: string, currency: string): string;
  quantity(plain: string): string;
  day(instant: string, timezone: string): string;
  /** First and last day of a period, whose end does not belong to it; empty without one. */
  days(start: string | null | undefined, end: string | null | undefined, timezone: string): string;
}

/** Language of a document: the customer's metadata `language` (`de`, `de-AT`); one that there is not is English. */
export function paperWords(wanted: string | null | undefined): PaperWords {
  const code = (wanted ?? '').toLowerCase().split(/[-_]/)[0] ?? '';
  const language = (Object.hasOwn(languages, code) ? code : 'en') as PaperLanguage;
  const { words, locale } = languages[language];
  const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 20 });
  return {
    ...words,
    language,
    money: (amount, currency) => moneyIn(locale, amount, currency),
    quantity: (plain) => numbers.format(plain as `${number}`),
    day: (instant, timezone) =>
      new Intl.DateTimeFormat(locale, { timeZone: timezone, dateStyle: 'long' }).format(new Date(instant)),
    days(start, end, timezone) {
      if (!start || !end) return '';
      const last = new Date(Math.max(Date.parse(end) - 1, Date.parse(start)));
      return new Intl.DateTimeFormat(locale, { timeZone: timezone, dateStyle: 'medium' }).formatRange(
        new Date(start),
        last,
      );
    },
  };
}

const currencies = new Set(Intl.supportedValuesOf('currency'));

/** English documents write money as all texts of the product do. Exact: a decimal text is formatted digit by digit. */
function moneyIn(locale: string, amount: string, currency: string): string {
  const code = currency.toUpperCase();
  const [, fraction = ''] = amount.split('.');
  if (!currencies.has(code)) return writtenMoney(amount, currency);
  const usual = new Intl.NumberFormat(locale, { style: 'currency', currency: code });
  const digits = usual.resolvedOptions().maximumFractionDigits ?? 2;
  if (fraction.length <= digits) {
    return locale === 'en-GB' ? writtenMoney(amount, currency) : usual.format(amount as `${number}`);
  }
  const exact = { style: 'currency', currency: code, maximumFractionDigits: Math.min(fraction.length, 20) } as const;
  return new Intl.NumberFormat(locale === 'en-GB' ? 'en-US' : locale, exact).format(amount as `${number}`);
}
