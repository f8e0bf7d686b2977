import { startMoyasarFake } from './moyasar/server.ts';
import { startRazorpayFake } from './razorpay/server.ts';
import { startStripeFake } from './stripe/server.ts';
import { startWhopFake } from './whop/server.ts';

/** Fakes of providers, and the variables by which API and workers find them. */
export interface ProviderFakes {
  variables: Record<string, string>;
  close(): Promise<void>;
}

/** Starts the fakes of all providers inside this process when `PROVIDER_FAKES=1`, else none. Their books last as long as it. */
export async function startProviderFakes(env: NodeJS.ProcessEnv, say: (line: string) => void): Promise<ProviderFakes> {
  if (env.PROVIDER_FAKES !== '1') return { variables: {}, close: async () => undefined };
  const [moyasar, razorpay, stripe, whop] = await Promise.all([
    startMoyasarFake(),
    startRazorpayFake(),
    startStripeFake(),
    startWhopFake(),
  ]);
  say(`A fake Stripe that moves no money is at ${stripe.url}; connect it with any key that begins with sk_test_.`);
  say(
    `A fake Razorpay that moves no money is at ${razorpay.url}; connect it with a key_id rzp_test_NAME and its secret_key secret_NAME.`,
  );
  say(`A fake Moyasar that moves no money is at ${moyasar.url}; connect it with any key that begins with sk_test_.`);
  say(
    `A fake Whop that moves no money is at ${whop.url}; connect it with an api_key apik_NAME and its company_id biz_NAME.`,
  );
  return {
    variables: {
      MOYASAR_API_URL: moyasar.url,
      RAZORPAY_API_URL: razorpay.url,
      STRIPE_API_URL: stripe.url,
      WHOP_API_URL: whop.url,
    },
    close: async () => {
      await Promise.all([moyasar.close(), razorpay.close(), stripe.close(), whop.close()]);
    },
  };
}
