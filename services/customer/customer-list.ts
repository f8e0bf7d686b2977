import { Customer } from '../../db/entities/customer/customer.ts';
import { anyOf, type ListDefinition, type ListPage, type ListQuery, listPage } from '../../db/list.ts';
import type { Transaction } from '../../db/transaction.ts';

/** What a list of customers can be narrowed by. Ids that exist nowhere match nothing. */
export interface CustomerFilters {
  customerIds?: readonly string[] | null | undefined;
  externalIds?: readonly string[] | null | undefined;
  parentCustomerIds?: readonly string[] | null | undefined;
  externalId?: string | null | undefined;
  email?: string | null | undefined;
}

const customers: ListDefinition<Customer> = {
  entity: Customer,
  columns: {
    external_id: 'string',
    name: 'string',
    email: 'string',
    contact: 'string',
    timezone: 'string',
    address_line1: 'string',
    address_line2: 'string',
    address_city: 'string',
    address_state: 'string',
    address_postal_code: 'string',
    address_country: 'string',
    tax_treatment: 'string',
    parent_customer_id: 'string',
    test_clock_id: 'string',
  },
};

/** A page of customers. spec: platform §1.5, §10.2 */
export async function listCustomers(
  tx: Transaction,
  query: ListQuery,
  filters: CustomerFilters,
): Promise<ListPage<Customer>> {
  return listPage(tx, customers, query, {
    ...anyOf('id', filters.customerIds),
    ...anyOf('parentCustomerId', filters.parentCustomerIds),
    $and: [anyOf('externalId', filters.externalIds), filters.externalId ? { externalId: filters.externalId } : {}],
    ...(filters.email ? { email: filters.email } : {}),
  });
}
