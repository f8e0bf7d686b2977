import { portalPage, portalPageBody } from '../../../api/customer/portal.schema.ts';
import type { Adapters } from '../adapter.ts';

export const portalAdapters: Adapters = {
  portal_page: (given) => portalPage(portalPageBody.parse(given)),
};
