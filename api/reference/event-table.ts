import { eventCatalogue } from '../../services/platform/event-catalogue/event-catalogue.ts';

const [begin, end] = ['<!-- types: written by npm run openapi -->', '<!-- end of types -->'];

/** The page of outbound events with the table of all types in its place. Throws where the page has no place for it. */
export function withEventTable(page: string): string {
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`the page has no ${begin} … ${end}`);
  return `${before}${begin}\n${eventTable()}\n${end}${after}`;
}

function eventTable(): string {
  const rows = Array.from(eventCatalogue.values(), ({ type, sentence, family }) => {
    const members = Object.keys(family.payload.shape).map((member) => `\`${member}\``);
    return `| \`${type}\` | ${sentence} | ${members.join(', ')} |`;
  });
  return ['| Type | Sent when | Members |', '|---|---|---|', ...rows].join('\n');
}
