import { readFile, writeFile } from 'node:fs/promises';
import { openApiDocument } from './openapi-document.ts';
import { withEventTable } from './reference/event-table.ts';

/** `npm run openapi`: writes the documents that tests compare with the routes and with the catalogue of outbound events. */
await writeFile(new URL('../docs/openapi.json', import.meta.url), await openApiDocument());
const page = new URL('../docs/outbound-events.md', import.meta.url);
await writeFile(page, withEventTable(await readFile(page, 'utf8')));
