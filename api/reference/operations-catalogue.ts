/** What operations on features, meters, prices, plans, add-ons, entitlements, groups, custom currencies and costs do, by operation id. */
export const catalogueOperations: Readonly<Record<string, string>> = {
  listFeatures:
    'Published features, newest first; archived ones with `status`. To filter by more than one field, use the search.',
  createFeature:
    'A metered feature gets its meter in the same request, or names one with `meter_id`; from then on events of that name are counted. The type cannot be changed later.',
  queryFeature: 'Filters, sorting and paging in the body. All filters have to fit.',
  getFeature: 'The feature with its meter, archived or not.',
  updateFeature:
    'Members left out stay as they are. Filters that are sent are added to those of its meter, and usage is counted anew by them; none is taken away.',
  deleteFeature:
    'Its meter is archived with it, unless another feature uses that. Refused while an entitlement grants the feature. Past usage and invoices keep showing it.',
  cloneFeature:
    'Makes a second feature with a meter of its own, which counts from now on; name and lookup key are given in the body.',

  getAllMeters: 'Published meters, newest first.',
  createMeter:
    'Says which events are counted and how they become one quantity. Events that came before are counted too. A metered feature makes its meter by itself.',
  getMeter: 'The meter, archived or not.',
  updateMeter:
    'Values of a known property are added to it, other properties become further filters, and usage is counted anew by them. Nothing is taken away; event name and aggregation stay.',
  deleteMeter:
    'New prices and features cannot use it; those that do go on, and so does their counting. Done twice it changes nothing.',
  disableMeter: 'Does the same as `DELETE /v1/meters/{id}`; older clients call it.',

  listPrices: 'Prices of plans and add-ons that are in force, newest first.',
  createPrice:
    'Adds a price to a plan, an add-on or one subscription. New subscriptions take it at once; those that exist get it by a price sync of the plan. Amounts are never edited: another amount is another price.',
  queryPrice:
    'Filters, sorting and paging in the body. With `allow_expired_prices` prices that have ended are found too.',
  getPriceByLookupKey: 'The price with this key of yours that is in force, or else the one that will be.',
  getPrice: 'The price, ended or not, as invoices were made with it.',
  updatePrice:
    'Name, metadata and group change in place. Another amount, model or tier ends this price at `effective_from` and begins a new one with a new id, which is answered; subscriptions move to it by a price sync.',
  deletePrice:
    'Sets the end of the price: now, or `end_date`, which can only come earlier. Items that have it end with the next price sync; past invoices stay.',
  createPricesBulk:
    'Up to 100 prices in one transaction: the first one that is wrong refuses all, and the message says which it was.',
  estimatePrice:
    'Rates a quantity, usage or buckets by a price that is given or stored, the way an invoice line would, with every step. No allowance, coupon, tax or proration.',
  listPriceUnits: 'Custom currencies of the environment, such as credits or tokens.',
  createPriceUnit: 'Prices can be written in it afterwards. Its code has three characters and is none of ISO 4217.',
  queryPriceUnit: 'Filters, sorting and paging in the body.',
  getPriceUnitByCode: 'The published custom currency with this code, in any case of letters.',
  getPriceUnit: 'The custom currency, archived or not.',
  updatePriceUnit:
    'A new rate rewrites the amounts of its prices that have not ended. Drafts follow when they are computed; final invoices keep the rate they were converted with.',
  deletePriceUnit: 'No new price can be written in it. Prices that are keep their rate and go on.',

  listPlans: 'Published plans, newest first, without their prices.',
  createPlan:
    'A plan is what subscriptions are made from. Prices, entitlements and credit grants are added to it afterwards.',
  queryPlan: 'Filters, sorting and paging in the body; `expand` brings prices, entitlements and credit grants.',
  getPlan: 'The plan with its prices in force, entitlements and credit grants, archived or not.',
  updatePlan:
    'Members left out stay as they are. A price or entitlement with an id is changed, where amounts have to stay as they are; one without is added; those left out stay.',
  deletePlan: 'Refused while a subscription is on it. Past invoices keep showing it, and it can still be read.',
  getPlanEntitlements: 'What customers on the plan may use.',
  clonePlan: 'Makes a second plan with copies of prices, entitlements and credit grants. Nobody is moved to it.',
  simulatePlan:
    'Prices the stored usage of past periods by this plan and tells, by customer and currency, who would have paid more or less. Nothing is stored or billed.',
  syncPlanPrices:
    'Gives subscriptions of the plan items for prices added since, and ends those whose price ended. It runs in the background as a durable workflow; the answer names it.',
  syncPlanPricesV2: 'Does the same as the older operation, and answers with the state of the sync.',
  getPlanPriceSync: 'How far the latest sync is, how many subscriptions it changed, and which ones failed and why.',

  listAddons: 'Published add-ons, newest first.',
  createAddon:
    'An add-on is sold on top of a plan. It gets prices and entitlements like a plan, and is attached to subscriptions.',
  queryAddon: 'Filters, sorting and paging in the body; `expand` brings prices and entitlements.',
  getAddonByLookupKey: 'The published add-on with this key of yours.',
  getAddon: 'The add-on with its prices and entitlements, archived or not.',
  updateAddon: 'Members left out stay as they are. Attached ones show the new name from the next invoice on.',
  deleteAddon: 'Refused while it is attached to a subscription, or will be. Past invoices keep showing it.',
  getAddonEntitlements: 'What customers who have the add-on may use besides.',

  listEntitlements: 'Entitlements of plans, add-ons and subscriptions, newest first.',
  createEntitlement:
    'Says what a plan, add-on or subscription may use of a feature: whether, how much in a period, and whether usage above it is billed or stopped.',
  queryEntitlement: 'Filters, sorting and paging in the body.',
  getEntitlement: 'The entitlement with its feature.',
  updateEntitlement: 'A new limit holds for the running period at once; members left out stay as they are.',
  deleteEntitlement: 'The feature is no longer included; usage counts in full from then on.',
  createEntitlementsBulk:
    'Up to 100 entitlements in one transaction: the first one that is wrong refuses all, and the message says which it was.',

  createGroup:
    'Prices of a group are put together on papers and in usage answers; features of a group are listed together.',
  queryGroup: 'Filters, sorting and paging in the body.',
  getGroup: 'The group with the ids of the prices or features in it.',
  deleteGroup: 'Its members stay and are in no group any more.',

  getCatalogue:
    'Everything that is sold, as one document in the form that `POST /v1/catalogue/push` takes; `npx perennial catalogue pull` writes it to a file.',
  pushCatalogue:
    'Makes, changes and supersedes what differs between the document and the environment. With `dry_run` nothing is changed and the answer shows what would be. Objects the document does not have are kept unless `prune` is true.',

  createCostsheet:
    'A cost sheet holds what usage costs you. Its prices are added like those of a plan; the newest sheet is in force.',
  queryCostsheet: 'Filters, sorting and paging in the body.',
  getActiveCostsheet: 'The newest published cost sheet, with its prices.',
  getCostsheet: 'The cost sheet with its prices.',
  updateCostsheet: 'Changes name, description and metadata; prices are changed by the operations on prices.',
  deleteCostsheet: 'It can still be read. Its name and key are free again, and the newest of the others is in force.',
  getDetailedCostAnalytics:
    'Usage of a range, the last seven days when none is given, at the prices of the cost sheet, beside what the customers were billed: margin and return.',
  getDetailedCostAnalyticsV2: 'Answers the same as `POST /v1/costs/analytics`.',

  listCoupons: 'Coupons, newest first.',
  createCoupon:
    'Takes an amount or a share off: once, for some periods, or for ever. It holds for a customer once it was redeemed with a subscription or an invoice.',
  queryCoupon: 'Filters, sorting and paging in the body.',
  getCoupon: 'The coupon with how often it was redeemed.',
  getCouponByCode: 'The published coupon with this code; upper and lower case are the same.',
  updateCoupon: 'What it takes off cannot be changed, since it was promised; make another coupon for that.',
  deleteCoupon: 'It cannot be redeemed any more. Subscriptions that have it keep it until it ends.',
  listCouponAssociations: 'Who redeemed what and until when it holds.',
  getCouponAssociation: 'One redemption, with its coupon.',

  createCreditGrant:
    'Gives credits to a wallet of the customer, once or every period, while a subscription of the plan or with the add-on is in service. For one subscription it begins at once.',
  listCreditGrants: 'Credit grants of plans, add-ons and subscriptions, newest first.',
  updateCreditGrant: 'How much and how often cannot be changed; end it and make another one.',
  deleteCreditGrant: 'No more credits are given from `effective_date` on, now when absent. Credits in wallets stay.',
  getCreditGrant: 'The credit grant, ended or not.',
  getPlanCreditGrants: 'Credits that customers on the plan are given.',
  getAddonCreditGrants: 'Credits that customers who have the add-on are given.',
  getSubscriptionUpcomingGrants: 'The next credits of each grant of the subscription, with their instants.',
  getCustomerUpcomingGrants:
    'The next credits of each grant of all subscriptions of the customer, with their instants.',

  createTaxRate:
    'A percentage under a code. It is charged where it is linked: in the environment, to a customer, a subscription or an invoice.',
  getTaxRates:
    'Tax rates of the environment. Unlike other lists it is a bare array; the headers `x-total-count`, `x-limit` and `x-offset` tell its paging.',
  getTaxRate: 'The tax rate, archived or not.',
  updateTaxRate:
    'What invoices were charged with cannot change: of a rate that is linked or was applied only `tax_rate_status` changes.',
  deleteTaxRate:
    'Refused while something is linked to it, and once invoices were charged with it; set `tax_rate_status` to `INACTIVE` instead.',
  createTaxAssociation:
    'Links a rate, so that invoices computed from now on are charged with it. A link to the environment holds for everybody whose customer or subscription has none of its own.',
  listTaxAssociations: 'Links of tax rates, with their rates.',
  getTaxAssociation: 'The link with its rate.',
  updateTaxAssociation: 'Holds for invoices computed from now on; final ones stay.',
  deleteTaxAssociation: 'Invoices computed from now on are not charged with it; final ones stay.',
};
