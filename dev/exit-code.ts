import { UnusableDatabaseUrl } from '../database-url.ts';
import { UnusableTemporalSettings } from '../temporal-connection.ts';

/** The exit code of a command. Settings of database or Temporal that cannot be used are said in a sentence. */
export async function exitCodeOf(main: () => Promise<number>): Promise<number> {
  try {
    return await main();
  } catch (error) {
    const isTemporal = error instanceof UnusableTemporalSettings;
    if (!isTemporal && !(error instanceof UnusableDatabaseUrl)) throw error;
    console.error(isTemporal ? `${error.message}.` : `DATABASE_URL: ${error.message}.`);
    return 1;
  }
}
