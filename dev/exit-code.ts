import { UnusableDatabaseUrl } from '../database-url.ts';

/** The exit code of a command. A database URL that cannot be used is said in a sentence. */
export async function exitCodeOf(main: () => Promise<number>): Promise<number> {
  try {
    return await main();
  } catch (error) {
    if (!(error instanceof UnusableDatabaseUrl)) throw error;
    console.error(`DATABASE_URL: ${error.message}.`);
    return 1;
  }
}
