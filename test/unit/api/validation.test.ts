import { describe, expect, it } from 'vitest';
import { firstFailure } from '../../../api/validation.ts';

const issue = (instancePath: string, message: string) => ({
  instancePath,
  message,
  keyword: 'custom',
  schemaPath: '',
  params: {},
});

describe('the sentence about what fails', () => {
  it('is about the first field', () => {
    expect(firstFailure([issue('/name', 'must not be blank'), issue('/code', 'is required')])).toBe(
      'name must not be blank',
    );
    expect(
      firstFailure([issue('/tiers/0/up_to', 'must be positive'), issue('/tiers/0/unit_amount', 'is required')]),
    ).toBe('tiers[0].up_to must be positive');
    expect(firstFailure([issue('', 'is required')])).toBe('A JSON object is required as body.');
    expect(firstFailure([])).toBe('The request is malformed.');
  });

  it('names the first field of every bad element of a list', () => {
    expect(
      firstFailure([
        issue('/items/0/currency', 'must be a currency'),
        issue('/items/0/amount', 'is required'),
        issue('/items/12/tiers/3/up_to', 'must be positive'),
      ]),
    ).toBe('items[0].currency must be a currency; items[12].tiers[3].up_to must be positive');
    const many = Array.from({ length: 25 }, (_, index) => issue(`/items/${index}/name`, 'is required'));
    expect(firstFailure(many)).toMatch(/^items\[0\]\.name is required; .*items\[19\]\.name is required; and 5 more$/);
  });
});
