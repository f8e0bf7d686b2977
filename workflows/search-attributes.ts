import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

/** What operators search workflows by; the launcher registers exactly these. design: architecture §3 */
export const tenantIdKey = defineSearchAttributeKey('TenantId', SearchAttributeType.KEYWORD);
export const environmentIdKey = defineSearchAttributeKey('EnvironmentId', SearchAttributeType.KEYWORD);
export const customerIdKey = defineSearchAttributeKey('CustomerId', SearchAttributeType.KEYWORD);
export const statusKey = defineSearchAttributeKey('ObjectStatus', SearchAttributeType.KEYWORD);
export const nextDueAtKey = defineSearchAttributeKey('NextDueAt', SearchAttributeType.DATETIME);
export const blockedOnKey = defineSearchAttributeKey('BlockedOn', SearchAttributeType.KEYWORD);
export const testClockIdKey = defineSearchAttributeKey('TestClockId', SearchAttributeType.KEYWORD);
