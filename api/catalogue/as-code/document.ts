import { z } from 'zod';
import { addonNoun } from './addon.ts';
import { featureNoun } from './feature.ts';
import { groupNoun } from './group.ts';
import type { CatalogueNoun, Entry } from './noun.ts';
import { planNoun } from './plan.ts';
import { priceUnitNoun } from './price-unit.ts';

/** The kinds of a catalogue in the order they are made: whatever is referred to comes first. */
export const catalogueNouns: readonly CatalogueNoun[] = [priceUnitNoun, groupNoun, featureNoun, planNoun, addonNoun];

const maxEntries = 1000;

/**
 * A catalogue as one document. A section, or the prices or entitlements of an owner, that is absent is left as it is; one
 * that is present is the whole of it.
 */
export const catalogueDocument = z
  .strictObject(
    Object.fromEntries(
      catalogueNouns.map(({ section, schema }) => [section, z.array(schema).max(maxEntries).optional()]),
    ) as Record<string, z.ZodOptional<z.ZodArray<z.ZodType<Entry>>>>,
  )
  .meta({ id: 'Catalogue' });

export type CatalogueDocument = z.output<typeof catalogueDocument>;
