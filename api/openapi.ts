import { writeFile } from 'node:fs/promises';
import { openApiDocument } from './openapi-document.ts';

/** `npm run openapi`: writes the document that a test compares with the routes. */
await writeFile(new URL('../docs/openapi.json', import.meta.url), await openApiDocument());
