import { homeDirectory, readRunning } from './home.ts';
import { StartupProblem } from './processes.ts';

/** The API a program of this repository talks to. */
export interface ApiTarget {
  /** Without `/v1` and without a slash at the end. */
  apiUrl: string;
  apiKey: string;
}

/** The API that PERENNIAL_URL and PERENNIAL_API_KEY name, else the one `npm start` runs here. */
export function apiTarget(env: NodeJS.ProcessEnv = process.env): ApiTarget {
  const running = env.PERENNIAL_URL ? undefined : readRunning(homeDirectory(env));
  const apiUrl = env.PERENNIAL_URL || running?.apiUrl;
  const apiKey = env.PERENNIAL_API_KEY || running?.apiKey;
  if (!apiUrl)
    throw new StartupProblem(
      'Perennial does not run here: start it with npm start, or set PERENNIAL_URL and PERENNIAL_API_KEY.',
    );
  if (!apiKey)
    throw new StartupProblem(
      `PERENNIAL_URL is ${apiUrl}, but PERENNIAL_API_KEY is not set: give a key of that installation.`,
    );
  return { apiUrl: apiUrl.replace(/\/(v1\/?)?$/, ''), apiKey };
}
