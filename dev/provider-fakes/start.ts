import { startRazorpayFake } from './razorpay/server.ts';
import { startStripeFake } from './stripe/server.ts';

/** Fakes of providers, and the variables by which API and workers find them. */
export interface ProviderFakes {
  variables: Record<string, string>;
  close(): Promise<void>;
}

/** Starts the fakes of all providers inside this process when `PROVIDER_FAKES=1`, else none. Their books last as long as it. */
export async function startProviderFakes(env: NodeJS.ProcessEnv, say: (line: string) => void): Promise<ProviderFakes> {
  if (env.PROVIDER_FAKES !== '1') return { variables: {}, close: async () => undefined };
  const [razorpay, stripe] = await Promise.all([startRazorpayFake(), startStripeFake()]);
  say(`A fake Stripe that moves no money is at ${stripe.url}; connect it with any key that begins with sk_test_.`);
  say(
    `A fake Razorpay that moves no money is at ${razorpay.url}; connect it with a key_id rzp_test_NAME and its secret_key secret_NAME.`,
  );
  return {
    variables: { RAZORPAY_API_URL: razorpay.url, STRIPE_API_URL: stripe.url },
    close: async () => {
      await Promise.all([razorpay.close(), stripe.close()]);
    },
  };
}
