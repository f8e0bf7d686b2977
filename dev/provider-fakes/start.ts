import { providers, urlVariable } from '../../integrations/providers.ts';
import type { OfferedFake } from './shell.ts';

/** Fakes of providers, and the variables by which API and workers find them. */
export interface ProviderFakes {
  variables: Record<string, string>;
  close(): Promise<void>;
}

/** The fake of a provider that payments can be made through. Each has one. */
async function fakeOf(name: string): Promise<OfferedFake> {
  return ((await import(`./${name}/server.ts`)) as { fake: OfferedFake }).fake;
}

/** Starts the fakes of all providers inside this process when `PROVIDER_FAKES=1`, else none. Their books last as long as it. */
export async function startProviderFakes(env: NodeJS.ProcessEnv, say: (line: string) => void): Promise<ProviderFakes> {
  if (env.PROVIDER_FAKES !== '1') return { variables: {}, close: async () => undefined };
  const running = await Promise.all(
    providers
      .filter(({ adapter }) => adapter !== undefined)
      .map(async (provider) => {
        const { start, secrets } = await fakeOf(provider.name);
        return { provider, secrets, fake: await start() };
      }),
  );
  for (const { provider, fake, secrets } of running) {
    say(`A fake ${provider.title} that moves no money is at ${fake.url}; connect it with ${secrets}.`);
  }
  return {
    variables: Object.fromEntries(running.map(({ provider, fake }) => [urlVariable(provider), fake.url])),
    close: async () => {
      await Promise.all(running.map(({ fake }) => fake.close()));
    },
  };
}
