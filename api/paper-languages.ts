/** Fixed words of printed documents. */
export interface PaperTexts {
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
  /** Between a rate and what it was taken of. */
  of: string;
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
  /** Sentences why a document has no tax, by the category of EN 16931. */
  untaxed: Record<'AE' | 'K' | 'G' | 'O' | 'E', string>;
  tax: string;
  /** Reasons of credit notes, by code. */
  reasons: Record<string, string>;
  /** Stamps of invoices, by status. */
  stamps: Record<string, string>;
  /** Means of payment, by type. */
  means: Record<string, string>;
}

const english: PaperTexts = {
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
  ...{
    included: 'included',
    of: 'of',
    total: 'Total',
    creditNotes: 'Credit notes',
    paid: 'Paid',
    givenBack: 'Given back',
  },
  ...{
    amountDue: 'Amount due',
    amountDueBy: 'Amount due by',
    paidInFull: 'Paid in full',
    nothingDue: 'Nothing is due',
  },
  ...{ voided: 'This invoice was voided; nothing is due', credited: 'Credited', totalCredited: 'Total credited' },
  ...{ payTo: 'Pay to', vatId: 'VAT', taxNumber: 'Tax number', registered: 'Registered', tax: 'Tax' },
  untaxed: {
    AE: 'Reverse charge: the customer accounts for the tax.',
    K: 'No tax is charged: intra-Community supply.',
    G: 'No tax is charged: export outside the EU.',
    O: 'Not subject to VAT.',
    E: 'No tax is charged: the customer is exempt.',
  },
  reasons: {
    DUPLICATE: 'Duplicate',
    FRAUDULENT: 'Fraudulent charge',
    ORDER_CHANGE: 'Order changed',
    UNSATISFACTORY: 'Not satisfactory',
    SERVICE_ISSUE: 'Service issue',
    BILLING_ERROR: 'Billing error',
    SUBSCRIPTION_CANCELLATION: 'Subscription cancelled',
  },
  stamps: { DRAFT: 'DRAFT', VOIDED: 'VOIDED', SKIPPED: 'SKIPPED', PAID: 'PAID', REFUNDED: 'REFUNDED' },
  means: { CARD: 'card', ACH: 'bank debit', UPI: 'UPI', OFFLINE: 'bank transfer or cash', CREDITS: 'credits' },
};

const german: PaperTexts = {
  ...{ invoice: 'Rechnung', creditNote: 'Gutschrift', draft: 'Entwurf', billedTo: 'Rechnung an' },
  ...{ creditedTo: 'Gutschrift an', issueDate: 'Rechnungsdatum', dueDate: 'Fällig am', paidOn: 'Bezahlt am' },
  ...{ period: 'Abrechnungszeitraum', purchaseOrder: 'Ihre Bestellung', yourReference: 'Ihr Zeichen' },
  ...{ ofInvoice: 'Zu Rechnung', reason: 'Grund' },
  heads: ['Beschreibung', 'Zeitraum', 'Menge', 'Einzelpreis', 'Betrag'],
  ...{ item: 'Position', subtotal: 'Zwischensumme', discount: 'Rabatt', prepaidCredits: 'Guthaben' },
  ...{ included: 'enthalten', of: 'auf', total: 'Gesamtbetrag', creditNotes: 'Gutschriften', paid: 'Bezahlt' },
  ...{
    givenBack: 'Erstattet',
    amountDue: 'Zu zahlen',
    amountDueBy: 'Zu zahlen bis',
    paidInFull: 'Vollständig bezahlt',
  },
  ...{ nothingDue: 'Es ist nichts zu zahlen', voided: 'Diese Rechnung wurde storniert; es ist nichts zu zahlen' },
  ...{ credited: 'Gutgeschrieben', totalCredited: 'Summe der Gutschrift', payTo: 'Zahlbar auf' },
  ...{ vatId: 'USt-IdNr.', taxNumber: 'Steuernummer', registered: 'Register', tax: 'Steuer' },
  untaxed: {
    AE: 'Steuerschuldnerschaft des Leistungsempfängers (Reverse Charge).',
    K: 'Steuerfreie innergemeinschaftliche Lieferung.',
    G: 'Steuerfreie Ausfuhr.',
    O: 'Nicht steuerbar.',
    E: 'Es wird keine Steuer berechnet: Der Kunde ist befreit.',
  },
  reasons: {
    DUPLICATE: 'Doppelt berechnet',
    FRAUDULENT: 'Missbräuchliche Belastung',
    ORDER_CHANGE: 'Auftrag geändert',
    UNSATISFACTORY: 'Leistung nicht zufriedenstellend',
    SERVICE_ISSUE: 'Störung der Leistung',
    BILLING_ERROR: 'Fehler in der Abrechnung',
    SUBSCRIPTION_CANCELLATION: 'Abonnement gekündigt',
  },
  stamps: { DRAFT: 'ENTWURF', VOIDED: 'STORNIERT', SKIPPED: 'ENTFALLEN', PAID: 'BEZAHLT', REFUNDED: 'ERSTATTET' },
  means: { CARD: 'Karte', ACH: 'Lastschrift', UPI: 'UPI', OFFLINE: 'Überweisung oder bar', CREDITS: 'Guthaben' },
};

const french: PaperTexts = {
  ...{ invoice: 'Facture', creditNote: 'Avoir', draft: 'Brouillon', billedTo: 'Facturé à', creditedTo: 'Crédité à' },
  ...{ issueDate: 'Date d’émission', dueDate: 'Échéance', paidOn: 'Payée le', period: 'Période de facturation' },
  ...{ purchaseOrder: 'Votre commande', yourReference: 'Votre référence', ofInvoice: 'Sur facture', reason: 'Motif' },
  heads: ['Description', 'Période', 'Quantité', 'Prix unitaire', 'Montant'],
  ...{ item: 'Article', subtotal: 'Sous-total', discount: 'Remise', prepaidCredits: 'Crédits prépayés' },
  ...{ included: 'incluse', of: 'sur', total: 'Total', creditNotes: 'Avoirs', paid: 'Payé', givenBack: 'Remboursé' },
  ...{ amountDue: 'Montant dû', amountDueBy: 'Montant dû au plus tard le', paidInFull: 'Entièrement payée' },
  ...{ nothingDue: 'Rien n’est dû', voided: 'Cette facture a été annulée ; rien n’est dû', credited: 'Crédité' },
  ...{ totalCredited: 'Total de l’avoir', payTo: 'À payer sur', vatId: 'N° TVA', taxNumber: 'N° fiscal' },
  ...{ registered: 'Immatriculation', tax: 'Taxe' },
  untaxed: {
    AE: 'Autoliquidation : la taxe est due par le client.',
    K: 'Livraison intracommunautaire exonérée de taxe.',
    G: 'Exportation hors de l’UE exonérée de taxe.',
    O: 'Non soumis à la TVA.',
    E: 'Aucune taxe n’est facturée : le client est exonéré.',
  },
  reasons: {
    DUPLICATE: 'Facturé en double',
    FRAUDULENT: 'Débit frauduleux',
    ORDER_CHANGE: 'Commande modifiée',
    UNSATISFACTORY: 'Prestation non satisfaisante',
    SERVICE_ISSUE: 'Incident de service',
    BILLING_ERROR: 'Erreur de facturation',
    SUBSCRIPTION_CANCELLATION: 'Abonnement résilié',
  },
  stamps: { DRAFT: 'BROUILLON', VOIDED: 'ANNULÉE', SKIPPED: 'SANS OBJET', PAID: 'PAYÉE', REFUNDED: 'REMBOURSÉE' },
  means: { CARD: 'carte', ACH: 'prélèvement', UPI: 'UPI', OFFLINE: 'virement ou espèces', CREDITS: 'crédits' },
};

const spanish: PaperTexts = {
  ...{ invoice: 'Factura', creditNote: 'Nota de crédito', draft: 'Borrador', billedTo: 'Facturado a' },
  ...{ creditedTo: 'Abonado a', issueDate: 'Fecha de emisión', dueDate: 'Vencimiento', paidOn: 'Pagada el' },
  ...{ period: 'Período de facturación', purchaseOrder: 'Su pedido', yourReference: 'Su referencia' },
  ...{ ofInvoice: 'De la factura', reason: 'Motivo' },
  heads: ['Descripción', 'Período', 'Cantidad', 'Precio unitario', 'Importe'],
  ...{ item: 'Artículo', subtotal: 'Subtotal', discount: 'Descuento', prepaidCredits: 'Créditos prepagados' },
  ...{ included: 'incluido', of: 'sobre', total: 'Total', creditNotes: 'Notas de crédito', paid: 'Pagado' },
  ...{ givenBack: 'Devuelto', amountDue: 'Importe pendiente', amountDueBy: 'Importe pendiente hasta el' },
  ...{ paidInFull: 'Pagada por completo', nothingDue: 'No hay nada pendiente' },
  ...{ voided: 'Esta factura fue anulada; no hay nada pendiente', credited: 'Abonado', totalCredited: 'Total abonado' },
  ...{ payTo: 'Pagar a', vatId: 'NIF-IVA', taxNumber: 'N.º fiscal', registered: 'Registro', tax: 'Impuesto' },
  untaxed: {
    AE: 'Inversión del sujeto pasivo: el cliente liquida el impuesto.',
    K: 'Entrega intracomunitaria exenta de impuesto.',
    G: 'Exportación fuera de la UE exenta de impuesto.',
    O: 'No sujeto a IVA.',
    E: 'No se cobra impuesto: el cliente está exento.',
  },
  reasons: {
    DUPLICATE: 'Facturado dos veces',
    FRAUDULENT: 'Cargo fraudulento',
    ORDER_CHANGE: 'Pedido modificado',
    UNSATISFACTORY: 'Servicio no satisfactorio',
    SERVICE_ISSUE: 'Incidencia del servicio',
    BILLING_ERROR: 'Error de facturación',
    SUBSCRIPTION_CANCELLATION: 'Suscripción cancelada',
  },
  stamps: { DRAFT: 'BORRADOR', VOIDED: 'ANULADA', SKIPPED: 'OMITIDA', PAID: 'PAGADA', REFUNDED: 'DEVUELTA' },
  means: {
    CARD: 'tarjeta',
    ACH: 'domiciliación',
    UPI: 'UPI',
    OFFLINE: 'transferencia o efectivo',
    CREDITS: 'créditos',
  },
};

const arabic: PaperTexts = {
  ...{ invoice: 'فاتورة', creditNote: 'إشعار دائن', draft: 'مسودة', billedTo: 'فاتورة إلى', creditedTo: 'إلى' },
  ...{ issueDate: 'تاريخ الإصدار', dueDate: 'تاريخ الاستحقاق', paidOn: 'تاريخ الدفع', period: 'فترة الفوترة' },
  ...{ purchaseOrder: 'رقم طلبكم', yourReference: 'مرجعكم', ofInvoice: 'عن الفاتورة', reason: 'السبب' },
  heads: ['الوصف', 'الفترة', 'الكمية', 'سعر الوحدة', 'المبلغ'],
  ...{ item: 'بند', subtotal: 'المجموع الفرعي', discount: 'خصم', prepaidCredits: 'رصيد مدفوع مسبقًا' },
  ...{
    included: 'مشمولة',
    of: 'من',
    total: 'الإجمالي',
    creditNotes: 'إشعارات دائنة',
    paid: 'المدفوع',
    givenBack: 'المسترد',
  },
  ...{ amountDue: 'المبلغ المستحق', amountDueBy: 'المبلغ المستحق حتى', paidInFull: 'مدفوعة بالكامل' },
  ...{ nothingDue: 'لا يوجد مبلغ مستحق', voided: 'أُلغيت هذه الفاتورة، ولا يوجد مبلغ مستحق' },
  ...{ credited: 'المبلغ الدائن', totalCredited: 'إجمالي الإشعار', payTo: 'يُدفع إلى', vatId: 'الرقم الضريبي' },
  ...{ taxNumber: 'رقم الملف الضريبي', registered: 'السجل التجاري', tax: 'ضريبة' },
  untaxed: {
    AE: 'احتساب عكسي: يتولى العميل أداء الضريبة.',
    K: 'لا تُحتسب ضريبة: توريد داخل الاتحاد الأوروبي.',
    G: 'لا تُحتسب ضريبة: تصدير إلى خارج الاتحاد الأوروبي.',
    O: 'غير خاضع لضريبة القيمة المضافة.',
    E: 'لا تُحتسب ضريبة: العميل معفى.',
  },
  reasons: {
    DUPLICATE: 'فوترة مكررة',
    FRAUDULENT: 'تحصيل احتيالي',
    ORDER_CHANGE: 'تغيير الطلب',
    UNSATISFACTORY: 'خدمة غير مرضية',
    SERVICE_ISSUE: 'مشكلة في الخدمة',
    BILLING_ERROR: 'خطأ في الفوترة',
    SUBSCRIPTION_CANCELLATION: 'إلغاء الاشتراك',
  },
  stamps: { DRAFT: 'مسودة', VOIDED: 'ملغاة', SKIPPED: 'متجاوزة', PAID: 'مدفوعة', REFUNDED: 'مستردة' },
  means: { CARD: 'بطاقة', ACH: 'خصم مباشر', UPI: 'UPI', OFFLINE: 'تحويل أو نقدًا', CREDITS: 'رصيد' },
};

const japanese: PaperTexts = {
  ...{ invoice: '請求書', creditNote: '返還請求書', draft: '下書き', billedTo: '請求先', creditedTo: '宛先' },
  ...{ issueDate: '発行日', dueDate: '支払期限', paidOn: '支払日', period: '請求期間', purchaseOrder: '注文番号' },
  ...{ yourReference: '貴社参照番号', ofInvoice: '対象の請求書', reason: '理由' },
  heads: ['内容', '期間', '数量', '単価', '金額'],
  ...{
    item: '項目',
    subtotal: '小計',
    discount: '割引',
    prepaidCredits: '前払いクレジット',
    included: '内税',
    of: '対象額',
  },
  ...{ total: '合計', creditNotes: '返還', paid: '支払済み', givenBack: '返金', amountDue: 'ご請求額' },
  ...{ amountDueBy: 'ご請求額、支払期限', paidInFull: '全額支払済み', nothingDue: 'ご請求はありません' },
  ...{ voided: 'この請求書は取り消されました。ご請求はありません', credited: '返還額', totalCredited: '返還合計' },
  ...{ payTo: '振込先', vatId: '登録番号', taxNumber: '税務番号', registered: '法人番号', tax: '税' },
  untaxed: {
    AE: 'リバースチャージ方式：消費税はお客様が申告・納付します。',
    K: '課税されません。EU域内の供給です。',
    G: '課税されません。EU域外への輸出です。',
    O: '付加価値税の対象外です。',
    E: '課税されません。お客様は免税です。',
  },
  reasons: {
    DUPLICATE: '二重請求',
    FRAUDULENT: '不正な請求',
    ORDER_CHANGE: '注文の変更',
    UNSATISFACTORY: '品質上の問題',
    SERVICE_ISSUE: 'サービスの障害',
    BILLING_ERROR: '請求の誤り',
    SUBSCRIPTION_CANCELLATION: '契約の解約',
  },
  stamps: { DRAFT: '下書き', VOIDED: '取消', SKIPPED: '対象外', PAID: '支払済み', REFUNDED: '返金済み' },
  means: { CARD: 'カード', ACH: '口座振替', UPI: 'UPI', OFFLINE: '振込または現金', CREDITS: 'クレジット' },
};

/** Languages of documents, with the locale of their dates and numbers. */
export const languages = {
  en: { words: english, locale: 'en-GB' },
  de: { words: german, locale: 'de-DE' },
  fr: { words: french, locale: 'fr-FR' },
  es: { words: spanish, locale: 'es-ES' },
  ar: { words: arabic, locale: 'ar-EG-u-nu-latn' },
  ja: { words: japanese, locale: 'ja-JP' },
};
