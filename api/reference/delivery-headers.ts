/** A header of every request to a receiver of outbound events. */
interface DeliveryHeader {
  name: string;
  text: string;
  schema: object;
  example: string;
  isOptional?: true;
}

const text = { type: 'string' };
const count = (minimum: number) => ({ type: 'integer', minimum });

/** Id, time and signature by Standard Webhooks. */
const signed: DeliveryHeader[] = [
  {
    name: 'webhook-id',
    text: 'Id of the event: the same for every receiver and every attempt. Keep it, and do nothing twice.',
    schema: text,
    example: 'sys_event_01M8BZAQZK1GEHZWA2MK05HKTK',
  },
  {
    name: 'webhook-timestamp',
    text: 'When this attempt began, in seconds since 1970, by the real clock. Refuse what is off by more than 5 minutes.',
    schema: count(0),
    example: '1769817600',
  },
  {
    name: 'webhook-signature',
    text: 'Signatures, separated by spaces: `v1,` and the base64 of HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<body>`, by the secret of the endpoint without `whsec_`, decoded.',
    schema: text,
    example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  },
];

/** Headers of a request to a receiver, beside those that it asked for. design: people-and-events §A 4, B 13, 14 */
export const deliveryHeaders: readonly DeliveryHeader[] = [
  ...signed,
  ...signed.map((header) => ({
    ...header,
    name: header.name.replace('webhook-', 'svix-'),
    text: `The same as \`${header.name}\`, for receivers that know Svix.`,
  })),
  {
    name: 'webhook-object',
    text: 'Id of the object that the event is about. This and what follows is not signed: it is for checking order, never for authorisation.',
    schema: text,
    example: 'inv_01M8BZAQZK1GEHZWA2MK05HKTK',
  },
  {
    name: 'webhook-sequence',
    text: 'Number of the event among those of its object, from 1 without a gap.',
    schema: count(1),
    example: '7',
  },
  {
    name: 'webhook-previous',
    text: 'Number of the event of this object that this endpoint was due before; 0 for its first. If you have not received that one, something is missing.',
    schema: count(0),
    example: '4',
  },
  {
    name: 'webhook-skipped',
    text: 'Events of this object in a row before this one that were given up.',
    schema: count(0),
    example: '0',
  },
  { name: 'webhook-attempt', text: 'Number of the attempt, from 1.', schema: count(1), example: '1' },
  {
    name: 'webhook-occurred-at',
    text: 'When it happened, on the clock of the object: with a test clock the simulated time.',
    schema: { type: 'string', format: 'date-time' },
    example: '2026-01-31T00:00:00.000Z',
  },
  {
    name: 'webhook-replay',
    text: 'Only where the event is sent because somebody asked for it again: `true`. It may come after later ones.',
    schema: text,
    example: 'true',
    isOptional: true,
  },
  {
    name: 'webhook-state-sequence',
    text: 'Only where the body shows the object as it was after later events: the number of the last of them.',
    schema: count(1),
    example: '9',
    isOptional: true,
  },
];
