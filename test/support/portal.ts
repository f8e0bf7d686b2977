/** How the tests' installations sign and place portal sessions. */
export const testPortal = {
  portalUrl: 'https://portal.example/home',
  portalSigningKeys: ['the-key-that-signs-portal-sessions-in-tests', 'the-key-before-it-which-is-still-accepted'],
} as const;
