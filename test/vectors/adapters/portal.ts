import { portalPage, portalPageBody } from '../../../api/schemas/portal.ts';
import type { Adapters } from '../adapter.ts';

export const portalAdapters: Adapters = {
  portal_page: (given) => portalPage(portalPageBody.parse(given)),
};
