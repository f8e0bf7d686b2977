import { styleText } from 'node:util';

/** A difference as the API tells it. */
export interface Change {
  action: 'create' | 'update' | 'supersede' | 'replace' | 'remove' | 'keep';
  name: string;
  fields: { field: string; from: unknown; to: unknown }[];
}

const signs = { create: '+', update: '~', supersede: '~', replace: '~', remove: '-', keep: ' ' } as const;
const colors = {
  create: 'green',
  update: 'yellow',
  supersede: 'yellow',
  replace: 'yellow',
  remove: 'red',
  keep: 'gray',
} as const;
const notes = {
  create: '',
  update: '',
  supersede: ' (a new price follows it)',
  replace: ' (ends, and a new price takes its place)',
  remove: ' (archived or ended)',
  keep: ' (not in the file; --prune removes it)',
} as const;

/** The differences for a person to read, one object a paragraph; with `isColored` in the colours of a terminal. */
export function diffText(changes: readonly Change[], isColored: boolean): string {
  if (changes.length === 0) return 'Nothing differs.';
  return [...changes.map((change) => paragraph(change, isColored)), '', summary(changes)].join('\n');
}

function paragraph({ action, name, fields }: Change, isColored: boolean): string {
  const paint = (text: string) => (isColored ? styleText(colors[action], text, { validateStream: false }) : text);
  const told = fields.map(({ field, from, to }) =>
    action === 'create' ? `      ${field}: ${shown(to)}` : `      ${field}: ${shown(from)} → ${shown(to)}`,
  );
  return [paint(`${signs[action]} ${name}${notes[action]}`), ...told].join('\n');
}

function shown(value: unknown): string {
  if (value === null || value === '') return 'nothing';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function summary(changes: readonly Change[]): string {
  const count = (actions: readonly Change['action'][]) =>
    changes.filter(({ action }) => actions.includes(action)).length;
  const parts = [
    `${count(['create'])} to create`,
    `${count(['update', 'supersede', 'replace'])} to change`,
    `${count(['remove'])} to remove`,
  ];
  const kept = count(['keep']);
  return `${parts.join(', ')}${kept > 0 ? `, ${kept} kept` : ''}`;
}
