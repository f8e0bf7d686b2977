import { afterAll } from 'vitest';
import { startChargebeeFake } from '../../../../dev/provider-fakes/chargebee/server.ts';
import { startMoyasarFake } from '../../../../dev/provider-fakes/moyasar/server.ts';
import { startNomodFake } from '../../../../dev/provider-fakes/nomod/server.ts';
import { startPaddleFake } from '../../../../dev/provider-fakes/paddle/server.ts';
import { startRazorpayFake } from '../../../../dev/provider-fakes/razorpay/server.ts';
import { startStripeFake } from '../../../../dev/provider-fakes/stripe/server.ts';
import { startWhopFake } from '../../../../dev/provider-fakes/whop/server.ts';
import { providerAdapters } from '../../../../integrations/connect.ts';

/** A fake of every provider, and the adapters that ask them. They end with the file. */
export async function everyProvider() {
  const [chargebee, moyasar, nomod, paddle, razorpay, stripe, whop] = await Promise.all([
    startChargebeeFake(),
    startMoyasarFake(),
    startNomodFake(),
    startPaddleFake(),
    startRazorpayFake(),
    startStripeFake(),
    startWhopFake(),
  ]);
  const fakes = { chargebee, moyasar, nomod, paddle, razorpay, stripe, whop };
  afterAll(() => Promise.all(Object.values(fakes).map((fake) => fake.close())));
  const urls = Object.fromEntries(Object.entries(fakes).map(([name, fake]) => [name, fake.url]));
  return { fakes, providers: providerAdapters(urls) };
}
