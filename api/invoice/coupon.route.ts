import { z } from 'zod';
import {
  archiveCoupon,
  createCoupon,
  findCoupon,
  findCouponByCode,
  listCoupons,
  updateCoupon,
} from '../../services/invoice/terms/coupon.ts';
import { findCouponAssociation, listCouponAssociations } from '../../services/invoice/terms/coupon-association.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { toListQuery, viewList } from '../list.ts';
import { idParams, optionalBody } from '../scalars.schema.ts';
import {
  coupon,
  couponAssociation,
  couponAssociationList,
  couponAssociationListQuery,
  couponAssociationQuery,
  couponList,
  couponListQuery,
  couponSearchBody,
  createCouponBody,
  newCoupon,
  updateCouponBody,
  viewCoupon,
  viewCouponAssociation,
} from './coupon.schema.ts';

const tags = ['Coupons'];
const codeParams = z.object({ code: z.string().min(1).max(255) });

/** Coupons, and who redeemed them. spec: subscriptions-and-invoicing §1.14, §2.17 */
export async function couponRoutes(app: Api): Promise<void> {
  readingRoutes(app);
  associationRoutes(app);

  app.post('/coupons', {
    schema: {
      operationId: 'createCoupon',
      tags,
      summary: 'Create a coupon',
      body: createCouponBody,
      response: { 201: coupon, ...errorResponses },
    },
    config: { permission: 'coupon:write' },
    handler: async ({ body, transaction }) =>
      transaction(async (tx) => viewCoupon(await createCoupon(tx, newCoupon(body)))),
  });

  app.put('/coupons/:id', {
    schema: {
      operationId: 'updateCoupon',
      tags,
      summary: 'Change name or metadata of a coupon',
      params: idParams,
      body: updateCouponBody,
      response: { 200: coupon, ...errorResponses },
    },
    config: { permission: 'coupon:write' },
    handler: async ({ params, body, transaction }) => {
      const change = { name: body.name ?? undefined, metadata: body.metadata ?? undefined };
      return transaction(async (tx) => viewCoupon(await updateCoupon(tx, params.id, change)));
    },
  });

  app.delete('/coupons/:id', {
    schema: {
      operationId: 'deleteCoupon',
      tags,
      summary: 'Archive a coupon; who redeemed it keeps it',
      params: idParams,
      body: optionalBody,
      response: { 200: z.object({ message: z.string() }), ...errorResponses },
    },
    config: { permission: 'coupon:write' },
    handler: async ({ params, transaction }) => {
      await transaction((tx) => archiveCoupon(tx, params.id));
      return { message: `coupon ${params.id} is archived` };
    },
  });
}

function readingRoutes(app: Api): void {
  app.get('/coupons', {
    schema: {
      operationId: 'listCoupons',
      tags,
      summary: 'List coupons',
      querystring: couponListQuery,
      response: { 200: couponList, ...errorResponses },
    },
    config: { permission: 'coupon:read' },
    handler: async ({ query, transaction }) => {
      const filters = { couponIds: query.coupon_ids, couponCodes: query.coupon_codes };
      return transaction(async (tx) =>
        viewList(await listCoupons(tx, toListQuery(query), filters), viewCoupon, 'echo'),
      );
    },
  });

  app.post('/coupons/search', {
    schema: {
      operationId: 'queryCoupon',
      tags,
      summary: 'Search coupons',
      body: couponSearchBody,
      response: { 200: couponList, ...errorResponses },
    },
    config: { permission: 'coupon:read' },
    handler: async ({ body, transaction }) => {
      const filters = { couponIds: body?.coupon_ids, couponCodes: body?.coupon_codes };
      return transaction(async (tx) => viewList(await listCoupons(tx, toListQuery(body), filters), viewCoupon, 'echo'));
    },
  });

  app.get('/coupons/:id', {
    schema: {
      operationId: 'getCoupon',
      tags,
      summary: 'Get a coupon, archived or not',
      params: idParams,
      response: { 200: coupon, ...errorResponses },
    },
    config: { permission: 'coupon:read' },
    handler: async ({ params, transaction }) => transaction(async (tx) => viewCoupon(await findCoupon(tx, params.id))),
  });

  app.get('/coupons/code/:code', {
    schema: {
      operationId: 'getCouponByCode',
      tags,
      summary: 'Get the published coupon with a code, in any case of letters',
      params: codeParams,
      response: { 200: coupon, ...errorResponses },
    },
    config: { permission: 'coupon:read' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => viewCoupon(await findCouponByCode(tx, params.code))),
  });
}

function associationRoutes(app: Api): void {
  app.get('/coupons/associations', {
    schema: {
      operationId: 'listCouponAssociations',
      tags,
      summary: 'List who redeemed which coupons',
      querystring: couponAssociationListQuery,
      response: { 200: couponAssociationList, ...errorResponses },
    },
    config: { permission: 'coupon:read' },
    handler: async ({ query, transaction }) => {
      const filters = {
        subscriptionIds: query.subscription_ids,
        couponIds: query.coupon_ids,
        activeOnly: query.active_only,
      };
      return transaction(async (tx) =>
        viewList(await listCouponAssociations(tx, toListQuery(query), filters), viewCouponAssociation, 'echo'),
      );
    },
  });

  app.get('/coupons/associations/:id', {
    schema: {
      operationId: 'getCouponAssociation',
      tags,
      summary: 'Get a coupon association',
      params: idParams,
      querystring: couponAssociationQuery,
      response: { 200: couponAssociation, ...errorResponses },
    },
    config: { permission: 'coupon:read' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => viewCouponAssociation(await findCouponAssociation(tx, params.id))),
  });
}
