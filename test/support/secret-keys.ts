/** The keys that the tests' installations seal secrets with: the first seals, both open. */
export const testSecretKeys = {
  secretEncryptionKeys: [
    { id: 'current', key: 'c0'.repeat(32) },
    { id: 'former', key: 'f0'.repeat(32) },
  ],
} as const;
