import type { FastifyRequest } from 'fastify';
import { refuse } from '../../billing/refusal.ts';
import type { Connection } from '../../db/entities/integration/connection.ts';
import type { SyncConfig } from '../../db/entities/integration/sync-config.ts';
import { badField } from '../../db/rows/record.ts';
import { inTransaction } from '../../db/transaction.ts';
import { type AwsRole, RoleNotAssumed } from '../../integrations/aws-roles.ts';
import {
  type ConnectionChange,
  type CurrentConnection,
  createConnection,
  type DecideChange,
  type NewConnection,
  refuseTakenProvider,
  rehearseChange,
  updateConnection,
} from '../../services/integration/connection.ts';
import type { ConnectionSecrets } from '../../services/integration/connection-secret.ts';
import { isOtherKey, providerAccountOf, toldModes } from './provider-account.ts';

/**
 * Creates a connection. A role at AWS is assumed before, outside any transaction; what another connection forbids is told first.
 * `field` is where the secrets were sent. spec: platform §13
 */
export async function saveNewConnection<View>(
  request: FastifyRequest,
  input: NewConnection,
  view: (row: Connection) => View,
  field?: string,
): Promise<View> {
  const { database, config } = request.server.dependencies;
  const id = request.newId('conn');
  const role = roleOf(input.providerType, input.secrets, input.syncConfig);
  if (role) {
    await inTransaction(database, request.scope, (tx) => refuseTakenProvider(tx, input.providerType, id));
    await checkRole(request, role, field);
  }
  const keys = config.secretEncryptionKeys ?? [];
  const providerAccount = await providerAccountOf(request, input.providerType, input.secrets, field);
  const modes = toldModes(input.providerType, input.secrets);
  return request.transaction(async (tx) =>
    view(await createConnection(tx, keys, id, { ...input, providerAccount, modes })),
  );
}

/**
 * Changes a connection. Where its role at AWS or its region changes, the role is assumed first; when somebody else changed them
 * meanwhile, nothing is written. spec: platform §13
 */
export async function saveConnectionChange<View>(
  request: FastifyRequest,
  id: string,
  decide: DecideChange,
  view: (row: Connection) => View,
  field?: string,
): Promise<View> {
  const { database, config } = request.server.dependencies;
  const keys = config.secretEncryptionKeys ?? [];
  const { current, change } = await inTransaction(database, request.scope, (tx) =>
    rehearseChange(tx, keys, id, decide),
  );
  const checked = changedRole(current, change);
  if (checked) await checkRole(request, checked, field);
  const account = await changedAccount(request, current, change, field);
  const decideAsChecked: DecideChange = (now) => {
    const decided = decide(now);
    const role = changedRole(now, decided);
    if (role && JSON.stringify(role) !== JSON.stringify(checked)) {
      throw refuse('version_conflict', `connection ${id} was changed meanwhile; read it and send the change again`);
    }
    return { ...decided, ...account, modes: toldModes(now.providerType, decided.secrets ?? null) };
  };
  return request.transaction(async (tx) => view(await updateConnection(tx, keys, id, decideAsChecked)));
}

/** The account that new keys of a provider are of; empty where the keys stay as they are. */
async function changedAccount(
  request: FastifyRequest,
  current: CurrentConnection,
  { secrets }: ConnectionChange,
  field?: string,
): Promise<Pick<ConnectionChange, 'providerAccount'>> {
  const isAsked = request.server.dependencies.providers?.has(current.providerType) ?? false;
  if (!isAsked || !secrets || !isOtherKey(current.secrets(), secrets)) return {};
  return { providerAccount: await providerAccountOf(request, current.providerType, secrets, field) };
}

/** The role to assume after a change, null when it stays as it was proved. */
function changedRole(current: CurrentConnection, change: ConnectionChange): AwsRole | null {
  if (!change.secrets && !change.syncConfig) return null;
  if (current.providerType !== 'aws_marketplace') return null;
  const region = change.syncConfig?.aws_marketplace?.region;
  if (!change.secrets && region === current.syncConfig.aws_marketplace?.region) return null;
  const secrets = change.secrets ?? current.secrets();
  return roleOf(current.providerType, secrets, change.syncConfig ?? current.syncConfig);
}

function roleOf(provider: string, secrets: ConnectionSecrets | null, config: SyncConfig): AwsRole | null {
  if (provider !== 'aws_marketplace') return null;
  const { role_arn: roleArn = '', external_id: externalId = '' } = secrets ?? {};
  return { roleArn, externalId, region: config.aws_marketplace?.region ?? '' };
}

async function checkRole(request: FastifyRequest, role: AwsRole, field = 'encrypted_secret_data'): Promise<void> {
  const { awsRoles } = request.server.dependencies;
  if (!awsRoles) {
    const variables = 'AWS_MARKETPLACE_ACCESS_KEY_ID and AWS_MARKETPLACE_SECRET_ACCESS_KEY';
    throw refuse('not_implemented', `aws_marketplace is not configured here; set ${variables} for the API`, {
      fields: { provider_type: `needs ${variables}` },
    });
  }
  try {
    await awsRoles.check(role);
  } catch (error) {
    if (!(error instanceof RoleNotAssumed)) throw error;
    throw badField(`${field}.role_arn`, `could not be assumed: ${error.message}`);
  }
}
