interface Schema {
  type?: string;
  format?: string;
  description?: string;
  anyOf?: Schema[];
}
interface Answer {
  content?: Record<string, { schema?: Schema }>;
}

const isFile = (schema: Schema) => schema.format === 'binary';
const mediaTypes = (schema: Schema) => schema.description?.match(/(application|text)\/[a-z+-]+/g) ?? [];
const schemaOf = (type: string) => ({ type: 'string', ...(type.startsWith('text/') ? {} : { format: 'binary' }) });

/**
 * Shows an answer that is a file under its own media types, which its schema names in its description: routes describe every answer as
 * JSON. What the same answer may be besides stays JSON.
 */
export function separateFiles(answer: Answer): void {
  const json = answer.content?.['application/json'];
  const schema = json?.schema;
  if (!schema) return;
  const parts = schema.anyOf ?? [schema];
  const files = parts.filter(isFile);
  if (files.length === 0) return;
  const [other, ...more] = parts.filter((part) => !isFile(part));
  const content = Object.fromEntries(
    files.flatMap((file) => mediaTypes(file).map((type) => [type, { schema: schemaOf(type) }])),
  );
  const rest = other && (more.length === 0 ? other : { ...schema, anyOf: [other, ...more] });
  answer.content = rest ? { 'application/json': { ...json, schema: rest }, ...content } : content;
}
