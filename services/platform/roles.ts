/** What a role may do: entity and action, `*` for all. spec: platform §4.1 */
export interface Role {
  id: string;
  name: string;
  description: string;
  permissions: Readonly<Record<string, readonly Action[]>>;
  userTypes: readonly UserType[];
}

export type Action = 'read' | 'write';
export type UserType = 'user' | 'service_account';

export const entities = [
  'user',
  'environment',
  'event',
  'meter',
  'price',
  'customer',
  'plan',
  'addon',
  'group',
  'alert_settings',
  'subscription',
  'wallet',
  'tenant',
  'invoice',
  'feature',
  'entitlement',
  'creditgrant',
  'payment',
  'integration',
  'task',
  'tax',
  'secret',
  'connection',
  'costsheet',
  'creditnote',
  'coupon',
  'ai',
  'portal',
  'webhook',
  'cron',
  'setting',
  'oauth',
  'checkoutsession',
  'workflow',
] as const;

export type Permission = `${(typeof entities)[number]}:${Action}`;

const everyEntity = (actions: readonly Action[]) => Object.fromEntries(entities.map((entity) => [entity, actions]));

/** The one role of publishable keys. Of what it permits, a route opens to it what is declared `publishable`. */
export const publishableRole = 'publishable';

export const roles: readonly Role[] = [
  {
    id: 'super_admin',
    name: 'Super Admin',
    description: 'Everything.',
    permissions: { '*': ['read', 'write'] },
    userTypes: ['user', 'service_account'],
  },
  {
    id: 'all_reader',
    name: 'All Reader',
    description: 'Reads everything.',
    permissions: everyEntity(['read']),
    userTypes: ['user'],
  },
  {
    id: 'all_writer',
    name: 'All Writer',
    description: 'Reads and writes everything except what only a super admin may.',
    permissions: everyEntity(['read', 'write']),
    userTypes: ['user'],
  },
  {
    id: 'event_ingestor',
    name: 'Event Ingestor',
    description: 'Sends usage events.',
    permissions: { event: ['write'] },
    userTypes: ['service_account'],
  },
  {
    id: 'event_reader',
    name: 'Event Reader',
    description: 'Reads usage events.',
    permissions: { event: ['read'] },
    userTypes: ['service_account'],
  },
  {
    id: publishableRole,
    name: 'Publishable',
    description:
      'The role of every publishable key, and of nobody else: sends usage events and reads plans, add-ons and features.',
    permissions: { event: ['write'], plan: ['read'], addon: ['read'], feature: ['read'] },
    userTypes: [],
  },
];

const allPermissions: ReadonlySet<string> = new Set(
  entities.flatMap((entity) => [`${entity}:read`, `${entity}:write`]),
);
const permissionsOfRole = new Map<string, ReadonlySet<string>>(
  roles.map((role) => [
    role.id,
    '*' in role.permissions
      ? allPermissions
      : new Set(Object.entries(role.permissions).flatMap(([entity, actions]) => actions.map((a) => `${entity}:${a}`))),
  ]),
);

/** The permissions of several roles, united. An unknown role and no role at all grant nothing. spec: platform §4.1 */
export function permissionsOf(roleIds: readonly string[]): ReadonlySet<string> {
  const [only] = roleIds;
  if (roleIds.length === 1 && only !== undefined) return permissionsOfRole.get(only) ?? new Set();
  return new Set(roleIds.flatMap((id) => [...(permissionsOfRole.get(id) ?? [])]));
}
