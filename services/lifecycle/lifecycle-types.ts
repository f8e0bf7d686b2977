import { kindsThat, lifecycleKindNames } from '../../lifecycles/kinds.ts';

const listed = (kinds: readonly string[]) => kinds.map((kind) => `'${kind}'`).join(', ');

/** The object types with a lifecycle, for `in (…)`. */
export const lifecycleTypesText = listed(lifecycleKindNames);

/** Kinds that act behind everything else of their instant. */
export const lastTypesText = listed(kindsThat('actsLast'));
