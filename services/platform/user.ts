import { UserAccount } from '../../db/entities/platform/user-account.ts';
import { missing, touch } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';

/** The caller's own account. spec: platform §6 */
export async function findUser(tx: Transaction, id: string): Promise<UserAccount> {
  const user = await tx.em.findOne(UserAccount, { id, tenantId: tx.scope.tenantId });
  if (!user) throw missing('user', id);
  return user;
}

/** Changes the caller's own name and merges metadata; an empty text removes a key. spec: platform §6 PUT /users/me */
export async function updateUser(
  tx: Transaction,
  id: string,
  input: { name?: string | null | undefined; metadata?: Record<string, string> | null | undefined },
): Promise<UserAccount> {
  const user = await findUser(tx, id);
  if (typeof input.name === 'string') user.name = input.name;
  if (input.metadata) {
    const merged = Object.entries({ ...user.metadata, ...input.metadata });
    user.metadata = Object.fromEntries(merged.filter(([, value]) => value !== ''));
  }
  touch(tx, user);
  await tx.em.flush();
  return user;
}
