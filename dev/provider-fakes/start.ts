import { startChargebeeFake } from './chargebee/server.ts';
import { startMoyasarFake } from './moyasar/server.ts';
import { startNomodFake } from './nomod/server.ts';
import { startPaddleFake } from './paddle/server.ts';
import { startRazorpayFake } from './razorpay/server.ts';
import { startStripeFake } from './stripe/server.ts';
import { startWhopFake } from './whop/server.ts';

/** Fakes of providers, and the variables by which API and workers find them. */
export interface ProviderFakes {
  variables: Record<string, string>;
  close(): Promise<void>;
}

/** Each fake, the variable that holds its address, and what connects to it. */
const fakes = [
  { name: 'Stripe', start: startStripeFake, variable: 'STRIPE_API_URL', secrets: 'any key that begins with sk_test_' },
  {
    name: 'Razorpay',
    start: startRazorpayFake,
    variable: 'RAZORPAY_API_URL',
    secrets: 'a key_id rzp_test_NAME and its secret_key secret_NAME',
  },
  {
    name: 'Moyasar',
    start: startMoyasarFake,
    variable: 'MOYASAR_API_URL',
    secrets: 'a secret_key sk_test_NAME and its publishable_key pk_test_NAME',
  },
  { name: 'Nomod', start: startNomodFake, variable: 'NOMOD_API_URL', secrets: 'any key that begins with sk_test_' },
  {
    name: 'Whop',
    start: startWhopFake,
    variable: 'WHOP_API_URL',
    secrets: 'an api_key apik_NAME and its company_id biz_NAME',
  },
  {
    name: 'Chargebee',
    start: startChargebeeFake,
    variable: 'CHARGEBEE_API_URL',
    secrets: 'any site, webhook_username and webhook_password and any api_key that begins with test_',
  },
  {
    name: 'Paddle',
    start: startPaddleFake,
    variable: 'PADDLE_API_URL',
    secrets: 'any api_key that begins with pdl_sdbx_ and any client_side_token that begins with test_',
  },
];

/** Starts the fakes of all providers inside this process when `PROVIDER_FAKES=1`, else none. Their books last as long as it. */
export async function startProviderFakes(env: NodeJS.ProcessEnv, say: (line: string) => void): Promise<ProviderFakes> {
  if (env.PROVIDER_FAKES !== '1') return { variables: {}, close: async () => undefined };
  const running = await Promise.all(fakes.map(async ({ start, ...told }) => ({ ...told, fake: await start() })));
  for (const { name, fake, secrets } of running) {
    say(`A fake ${name} that moves no money is at ${fake.url}; connect it with ${secrets}.`);
  }
  return {
    variables: Object.fromEntries(running.map(({ variable, fake }) => [variable, fake.url])),
    close: async () => {
      await Promise.all(running.map(({ fake }) => fake.close()));
    },
  };
}
