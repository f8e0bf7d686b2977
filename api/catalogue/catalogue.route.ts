import { z } from 'zod';
import { refuse } from '../../billing/refusal.ts';
import { realNow } from '../../db/clock.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { timestampInput } from '../scalars.schema.ts';
import { beginMeterBuilds } from '../usage/meter-build.ts';
import { type CatalogueDocument, catalogueDocument, catalogueNouns } from './as-code/document.ts';
import { pullCatalogue } from './as-code/pull.ts';
import { pushCatalogue } from './as-code/push.ts';

const tags = ['Catalogue'];

const pushBody = z.object({
  catalogue: catalogueDocument,
  /** Says what a push would do, and what would be refused, without doing it. */
  dry_run: z.boolean().nullish(),
  /** Archives or ends what a section that is present does not name. */
  prune: z.boolean().nullish(),
  /** When new prices begin and those they replace end; now by default. */
  effective_from: timestampInput().nullish(),
});

const change = z.object({
  action: z.enum(['create', 'update', 'supersede', 'replace', 'remove', 'keep']),
  noun: z.string(),
  name: z.string(),
  fields: z.array(z.object({ field: z.string(), from: z.unknown(), to: z.unknown() })),
});

const pushed = z
  .object({
    applied: z.boolean(),
    /** Differences that are done or, with `dry_run`, would be; those of action `keep` are never done. */
    changes: z.array(change),
  })
  .meta({ id: 'CataloguePush' });

/** The catalogue as one document, for `perennial catalogue`. See docs/catalogue-as-code.md. */
export async function catalogueRoutes(app: Api): Promise<void> {
  app.get('/catalogue', {
    schema: {
      operationId: 'getCatalogue',
      tags,
      summary: 'Get price units, groups, features, plans and add-ons as one document',
      response: {
        200: z.record(z.string(), z.array(z.record(z.string(), z.unknown()))).meta({ id: 'CatalogueDocument' }),
        ...errorResponses,
      },
    },
    config: { permission: 'plan:read' },
    handler: async ({ transaction }) =>
      transaction(async (tx) => (await pullCatalogue(tx, realNow())) as Record<string, Record<string, unknown>[]>),
  });

  app.post('/catalogue/push', {
    schema: {
      operationId: 'pushCatalogue',
      tags,
      summary: 'Bring the catalogue to what a document says, in one transaction, or say what that would do',
      body: pushBody,
      response: { 200: pushed, ...errorResponses },
    },
    config: { permission: 'plan:write' },
    handler: async (request) => {
      const { body, caller, transaction } = request;
      refuseWithout(caller.permissions, body.catalogue);
      const dryRun = body.dry_run ?? false;
      const options = { dryRun, prune: body.prune ?? false, effectiveFrom: body.effective_from ?? realNow() };
      const pushed = await transaction(async (tx) => ({
        applied: !dryRun,
        changes: await pushCatalogue(tx, body.catalogue, options),
      }));
      if (!dryRun) await beginMeterBuilds(request, app.dependencies.database);
      return pushed;
    },
  });
}

/** A push does what other operations do, so it needs what they need, for each section it holds. */
function refuseWithout(permissions: ReadonlySet<string>, document: CatalogueDocument): void {
  const nouns = catalogueNouns.filter(({ section }) => document[section] !== undefined);
  const needed = nouns.flatMap(({ permission, parts }) => [
    permission,
    ...(parts ?? []).map((part) => part.permission),
  ]);
  const missing = needed.find((permission) => !permissions.has(permission));
  if (missing) throw refuse('permission_denied', `This catalogue needs the permission ${missing}.`);
}
