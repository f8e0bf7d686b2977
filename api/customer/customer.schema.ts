import { z } from 'zod';
import type { Customer } from '../../db/entities/customer/customer.ts';
import type { IntegrationMapping } from '../../db/entities/integration/integration-mapping.ts';
import type { OnboardingChoice } from '../../services/across/customer-onboarding.ts';
import type { CustomerFields } from '../../services/customer/customer.ts';
import type { CustomerFilters } from '../../services/customer/customer-list.ts';
import { customerMappings, mapping, providerIdsOf, viewMapping } from '../integration/integration-mapping.schema.ts';
import { taxOverridesOf, taxRateOverrides } from '../invoice/tax.schema.ts';
import { expandInput, listOf, listQuery, searchBody } from '../list.ts';
import {
  idListInput,
  idListQuery,
  metadataInput,
  metadataOutput,
  recordOutput,
  timezoneInput,
  viewRecord,
} from '../scalars.schema.ts';

const externalId = z
  .string()
  .min(1)
  .max(255)
  .refine((text) => !/[%\s/\p{Cc}]/u.test(text), {
    message: 'must not contain %, /, white space or control characters',
  });
const name = z.string().trim().min(1).max(255);
const optionalText = (length: number) => z.string().trim().max(length).nullish();

const customerFields = {
  email: z.union([z.literal(''), z.email('must be an e-mail address')]).nullish(),
  contact: optionalText(20),
  timezone: z.union([z.literal(''), timezoneInput()]).nullish(),
  address_line1: optionalText(255),
  address_line2: optionalText(255),
  address_city: optionalText(100),
  address_state: optionalText(100),
  address_postal_code: optionalText(20),
  address_country: z
    .string()
    .refine((text) => text === '' || isCountry(text), { message: 'must be a country of two letters, such as DE' })
    .transform((text) => text.toUpperCase())
    .nullish(),
  metadata: metadataInput().superRefine(checkReservedKeys).nullish(),
  tax_treatment: z.enum(['taxable', 'exempt']).nullish(),
  parent_customer_id: z.string().max(255).nullish(),
  parent_customer_external_id: z.string().max(255).nullish(),
  tax_rate_overrides: taxRateOverrides
    .nullish()
    .describe('Left out: copies of what the environment applies by itself; empty: none. An update replaces the links.'),
  integration_entity_mapping: customerMappings.nullish(),
  skip_onboarding_workflow: z.boolean().nullish(),
  onboarding_workflow_name: z.string().nullish(),
};

/** Metadata keys that are printed on invoices have a form of their own. spec: platform §10.1 Reserved metadata */
function checkReservedKeys(metadata: Record<string, string>, context: z.RefinementCtx): void {
  const { gstin, pan, hsn_sac } = metadata;
  const refuseKey = (key: string, message: string) => context.addIssue({ code: 'custom', path: [key], message });
  if (gstin !== undefined && !/^\d{2}[A-Z]{5}\d{4}[A-Z][1-9A-Z]Z[0-9A-Z]$/.test(gstin)) {
    refuseKey('gstin', 'must be a GSTIN of 15 characters');
  }
  if (pan !== undefined && !/^[A-Z]{5}\d{4}[A-Z]$/.test(pan)) refuseKey('pan', 'must be a PAN of 10 characters');
  if (pan !== undefined && gstin !== undefined && gstin.slice(2, 12) !== pan) {
    refuseKey('pan', 'must equal characters 3 to 12 of gstin');
  }
  if (hsn_sac !== undefined && !/^(\d{4}|\d{6}|\d{8})$/.test(hsn_sac)) {
    refuseKey('hsn_sac', 'must have 4, 6 or 8 digits');
  }
}

export const createCustomerBody = z
  .object({ external_id: externalId, name, ...customerFields, test_clock_id: z.string().max(255).nullish() })
  .meta({
    examples: [{ external_id: 'acme', name: 'Acme Inc.', email: 'billing@acme.example', timezone: 'Europe/Berlin' }],
  });

export const updateCustomerBody = z
  .object({ external_id: externalId.nullish(), name: name.nullish(), ...customerFields })
  .meta({ examples: [{ name: 'Acme Corporation', metadata: { team: 'growth' } }] });

/**
 * The wire shape as the store takes it.
 */
export function customerFieldsOf(body: z.output<typeof updateCustomerBody>): CustomerFields {
  return {
    externalId: body.external_id,
    name: body.name,
    email: body.email,
    contact: body.contact,
    timezone: body.timezone,
    addressLine1: body.address_line1,
    addressLine2: body.address_line2,
    addressCity: body.address_city,
    addressState: body.address_state,
    addressPostalCode: body.address_postal_code,
    addressCountry: body.address_country,
    metadata: body.metadata,
    taxTreatment: body.tax_treatment,
    parentCustomerId: body.parent_customer_id,
    parentCustomerExternalId: body.parent_customer_external_id,
    providerIds: providerIdsOf(body.integration_entity_mapping ?? []),
    taxRateOverrides: body.tax_rate_overrides ? taxOverridesOf(body.tax_rate_overrides) : undefined,
  };
}

const customerOutput = z.object({
  ...recordOutput,
  external_id: z.string(),
  name: z.string(),
  email: z.string().nullable(),
  contact: z.string().nullable(),
  timezone: z.string(),
  address_line1: z.string().nullable(),
  address_line2: z.string().nullable(),
  address_city: z.string().nullable(),
  address_state: z.string().nullable(),
  address_postal_code: z.string().nullable(),
  address_country: z.string().nullable(),
  metadata: metadataOutput(),
  tax_treatment: z.enum(['taxable', 'exempt']),
  parent_customer_id: z.string().nullable(),
  test_clock_id: z.string().nullable(),
  integrations: z.array(mapping).describe('Filled with expand=integrations.'),
});

/** A customer with its parent, if it has one. */
export const customer = customerOutput
  .extend({ parent_customer: customerOutput.extend({ parent_customer: z.null() }).nullable() })
  .meta({ id: 'Customer' });

/** The wire form of a customer; its parent and what it is called at providers are shown where they are given. */
export function viewCustomer(
  row: Customer,
  parent: Customer | null = null,
  mappings: readonly IntegrationMapping[] = [],
): z.output<typeof customer> {
  return {
    ...viewFields(row),
    integrations: mappings.map(viewMapping),
    parent_customer: parent ? { ...viewFields(parent), parent_customer: null } : null,
  };
}

const expandable = ['integrations'];

export const customerExpandQuery = z.object({ expand: expandInput(expandable).optional() });

export const updateCustomerQuery = z.object({
  id: z.string().max(255).optional(),
  external_customer_id: z.string().max(255).optional(),
});

export const customerListQuery = listQuery(
  {
    customer_ids: idListQuery().optional(),
    external_ids: idListQuery().optional(),
    parent_customer_ids: idListQuery().optional(),
    external_id: z.string().optional(),
    email: z.string().optional(),
  },
  expandable,
);

export const customerSearchBody = searchBody(
  {
    customer_ids: idListInput().nullish(),
    external_ids: idListInput().nullish(),
    parent_customer_ids: idListInput().nullish(),
    external_id: z.string().nullish(),
    email: z.string().nullish(),
  },
  expandable,
);

export const customerList = listOf(customer, 'ListCustomersResponse');

export function customerFiltersOf(
  input: z.output<typeof customerListQuery> | z.output<typeof customerSearchBody>,
): CustomerFilters {
  return {
    customerIds: input?.customer_ids,
    externalIds: input?.external_ids,
    parentCustomerIds: input?.parent_customer_ids,
    externalId: input?.external_id,
    email: input?.email,
  };
}

/** What the body says about the onboarding of a new customer. spec: platform §10.1 */
export function onboardingOf(body: z.output<typeof createCustomerBody>): OnboardingChoice {
  return { skip: body.skip_onboarding_workflow ?? false, workflowName: body.onboarding_workflow_name || null };
}

function viewFields(row: Customer): z.output<typeof customerOutput> {
  return {
    ...viewRecord(row),
    external_id: row.externalId,
    name: row.name,
    email: row.email ?? null,
    contact: row.contact ?? null,
    timezone: row.timezone,
    address_line1: row.addressLine1 ?? null,
    address_line2: row.addressLine2 ?? null,
    address_city: row.addressCity ?? null,
    address_state: row.addressState ?? null,
    address_postal_code: row.addressPostalCode ?? null,
    address_country: row.addressCountry ?? null,
    metadata: row.metadata,
    tax_treatment: row.taxTreatment as 'taxable' | 'exempt',
    parent_customer_id: row.parentCustomerId ?? null,
    test_clock_id: row.testClockId ?? null,
    integrations: [],
  };
}

const countries = new Set(
  `AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC
  CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE
  GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM
  KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ
  NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH
  SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG
  VI VN VU WF WS YE YT ZA ZM ZW`.split(/\s+/),
);

function isCountry(code: string): boolean {
  return countries.has(code.toUpperCase());
}
