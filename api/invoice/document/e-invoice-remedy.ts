/** Where what an e-invoice shows of a party is set, for messages. */
export const ofTenant = 'set it with PUT /tenants/update';
export const ofSetting = 'set it with PUT /settings/e_invoice_config';
export const ofCustomer = 'set it with PUT /customers/{id}';
