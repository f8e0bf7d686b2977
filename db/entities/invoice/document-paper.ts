import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../rows/columns.ts';

/** A party as documents show it, kept once however many documents do, under the SHA-256 of its text. Rows are only ever added. */
const contentSchema = defineEntity({
  name: 'DocumentContent',
  tableName: 'document_content',
  properties: {
    environmentId: p.text().primary(),
    digest: p.text().primary(),
    tenantId: p.text(),
    content: p.json<Record<string, unknown>>(),
  },
});
export class DocumentContent extends contentSchema.class {}
contentSchema.setClass(DocumentContent);

/**
 * Names and texts that an issued invoice or credit note shows beside its amounts, as they were then: both parties by the digests of their contents,
 * and texts of its own. Rows are only ever added. design: quality.md I19
 */
const schema = defineEntity({
  name: 'DocumentPaper',
  tableName: 'document_paper',
  properties: {
    documentId: p.text().primary(),
    tenantId: p.text(),
    environmentId: p.text(),
    seller: p.text(),
    customer: p.text(),
    texts: p.json<Record<string, unknown>>(),
    /** True where the seal of the invoice covers it; a document that was issued before papers were kept has one that was recorded later. */
    isSealed: p.boolean(),
    recordedAt: instant(),
  },
});
export class DocumentPaper extends schema.class {}
schema.setClass(DocumentPaper);
