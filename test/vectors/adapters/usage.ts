import type { Adapters } from '../adapter.ts';
import { bucketAdapters } from './bucket.ts';
import { grantAdapters } from './grant.ts';
import { hierarchyAdapters } from './hierarchy.ts';
import { meteringAdapters } from './metering.ts';

/** The kinds that tell events: a usage engine can answer each of them. */
export const usageAdapters: Adapters = {
  ...meteringAdapters,
  ...bucketAdapters,
  ...grantAdapters,
  ...hierarchyAdapters,
};
