/** Whose a session is, and what time it is for them. */
export interface CheckoutOwner {
  customerId: string;
  testClockId: string | null;
  at: string;
}
