import { create } from 'xmlbuilder2';

/** An element: attributes under `@name`, its text under `#`, children in their order; null and empty lists leave no element. */
export type XmlNode = { [name: string]: XmlValue };
export type XmlValue = string | null | XmlNode | XmlNode[] | string[];

/** An XML file of one root element. What XML cannot hold, as control characters, is shown as U+FFFD. */
export function xmlFile(root: string, content: XmlNode): string {
  const options = { version: '1.0', encoding: 'UTF-8', invalidCharReplacement: '�' } as const;
  return create(options, { [root]: content }).end({ prettyPrint: true });
}
