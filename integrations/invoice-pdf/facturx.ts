import { PDFDocument, PDFName, PDFStream } from '@cantoo/pdf-lib';
import { ciiFile } from '../e-invoice/cii.ts';
import type { EInvoiceDocument } from '../e-invoice/document.ts';
import { type InvoicePage, renderInvoicePdf } from './render.ts';

/** The name that readers look for. Factur-X 1.0 §6.2 */
const fileName = 'factur-x.xml';
const namespace = 'urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#';

/** The pages of an invoice with its e-invoice (CII) inside: a Factur-X file of profile EN 16931, which is ZUGFeRD 2 too. */
export async function facturxFile(page: InvoicePage, document: EInvoiceDocument): Promise<Uint8Array> {
  const attachment = {
    name: fileName,
    description: `${page.title} ${page.number} as EN 16931`,
    issued: document.issued,
    bytes: Buffer.from(ciiFile(document)),
  };
  return withMetadata(renderInvoicePdf(page, attachment));
}

/** What Typst cannot say of a file: which kind of e-invoice it holds, and, as PDF/A demands, what that statement means. */
async function withMetadata(file: Uint8Array): Promise<Uint8Array> {
  const document = await PDFDocument.load(file, { updateMetadata: false });
  const { catalog, context } = document;
  const stream = catalog.lookup(PDFName.of('Metadata'), PDFStream);
  const metadata = new TextDecoder().decode(stream.getContents());
  const named = within(metadata, '</rdf:RDF>', statement);
  // The list of explained properties is there where Typst uses some of its own.
  const explained = named.includes('</pdfaExtension:schemas>')
    ? named.replace(/<\/rdf:Bag>\s*<\/pdfaExtension:schemas>/, `${explanation}</rdf:Bag></pdfaExtension:schemas>`)
    : within(named, '</rdf:RDF>', explanations);
  if (!explained.includes(explanation)) throw new Error('the metadata of the PDF has no place for what it holds');
  const made = context.stream(explained, { Type: 'Metadata', Subtype: 'XML' });
  catalog.set(PDFName.of('Metadata'), context.register(made));
  return document.save({ useObjectStreams: false, addDefaultPage: false, updateFieldAppearances: false });
}

function within(text: string, end: string, more: string): string {
  const place = text.lastIndexOf(end);
  if (place < 0) throw new Error(`the metadata of the PDF has no ${end}`);
  return text.slice(0, place) + more + text.slice(place);
}

const statement = `<rdf:Description rdf:about="" xmlns:fx="${namespace}"><fx:DocumentType>INVOICE</fx:DocumentType><fx:DocumentFileName>${fileName}</fx:DocumentFileName><fx:Version>1.0</fx:Version><fx:ConformanceLevel>EN 16931</fx:ConformanceLevel></rdf:Description>`;

const property = (name: string, meaning: string) =>
  `<rdf:li rdf:parseType="Resource"><pdfaProperty:name>${name}</pdfaProperty:name><pdfaProperty:valueType>Text</pdfaProperty:valueType><pdfaProperty:category>external</pdfaProperty:category><pdfaProperty:description>${meaning}</pdfaProperty:description></rdf:li>`;

const explanation = `<rdf:li rdf:parseType="Resource"><pdfaSchema:schema>Factur-X PDFA Extension Schema</pdfaSchema:schema><pdfaSchema:namespaceURI>${namespace}</pdfaSchema:namespaceURI><pdfaSchema:prefix>fx</pdfaSchema:prefix><pdfaSchema:property><rdf:Seq>${[
  property('DocumentFileName', 'The name of the embedded XML document'),
  property('DocumentType', 'The type of the hybrid document in capital letters'),
  property('Version', 'The version of the standard that the embedded XML document follows'),
  property('ConformanceLevel', 'The conformance level of the embedded XML document'),
].join('')}</rdf:Seq></pdfaSchema:property></rdf:li>`;

const explanations = `<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#"><pdfaExtension:schemas><rdf:Bag>${explanation}</rdf:Bag></pdfaExtension:schemas></rdf:Description>`;
