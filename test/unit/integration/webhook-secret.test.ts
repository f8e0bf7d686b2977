import { expect, test } from 'vitest';
import {
  webhookSecretsOf,
  withFormerSecrets,
  withoutFormerSecrets,
} from '../../../services/integration/webhook-secret.ts';

const hourMs = 3_600_000;
const start = Date.UTC(2026, 0, 1);
const after = (hours: number) => new Date(start + hours * hourMs).toISOString();
const at = (hours: number) => start + hours * hourMs;
const secrets = (webhook_secret?: string) => ({ secret_key: 'sk_1', ...(webhook_secret && { webhook_secret }) });

test('a replaced secret verifies for 72 hours more', () => {
  const rotated = withFormerSecrets(secrets('one'), secrets('two'), after(0));
  expect(webhookSecretsOf(rotated, at(0))).toEqual(['two', 'one']);
  expect(webhookSecretsOf(rotated, at(71.999))).toEqual(['two', 'one']);
  expect(webhookSecretsOf(rotated, at(72))).toEqual(['two']);
});

test('of two that were replaced within 72 hours each has its own time', () => {
  const once = withFormerSecrets(secrets('one'), secrets('two'), after(0));
  const twice = withFormerSecrets(once, secrets('three'), after(24));
  expect(webhookSecretsOf(twice, at(25))).toEqual(['three', 'two', 'one']);
  expect(webhookSecretsOf(twice, at(80))).toEqual(['three', 'two']);
  const later = withFormerSecrets(twice, secrets('four'), after(80));
  expect(webhookSecretsOf(later, at(80))).toEqual(['four', 'three', 'two']);
});

test('a change of other secrets leaves them as they are, and a return to the first forgets it as a former one', () => {
  const rotated = withFormerSecrets(secrets('one'), secrets('two'), after(0));
  const changed = withFormerSecrets(rotated, { ...secrets('two'), secret_key: 'sk_2' }, after(1));
  expect(webhookSecretsOf(changed, at(1))).toEqual(['two', 'one']);
  const back = withFormerSecrets(rotated, secrets('one'), after(2));
  expect(webhookSecretsOf(back, at(2))).toEqual(['one', 'two']);
});

test('a secret that is taken away verifies nothing any more, and neither does the one before', () => {
  const rotated = withFormerSecrets(secrets('one'), secrets('two'), after(0));
  const removed = withFormerSecrets(rotated, secrets(), after(1));
  expect(webhookSecretsOf(removed, at(1))).toEqual([]);
  expect(removed).toEqual(secrets());
});

test('nobody sees former secrets', () => {
  const rotated = withFormerSecrets(secrets('one'), secrets('two'), after(0));
  expect(withoutFormerSecrets(rotated)).toEqual(secrets('two'));
});

test('a user and password verify as one, and stay valid together for 72 hours after one of them was replaced', () => {
  const credentials = (webhook_password: string) => ({ api_key: 'k', webhook_username: 'u', webhook_password });
  const rotated = withFormerSecrets(credentials('one'), credentials('two'), after(0));
  expect(webhookSecretsOf(rotated, at(71.999))).toEqual(['u:two', 'u:one']);
  expect(webhookSecretsOf(rotated, at(72))).toEqual(['u:two']);
  expect(webhookSecretsOf({ api_key: 'k', webhook_username: 'u' }, at(0))).toEqual([]);
});
