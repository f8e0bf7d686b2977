import type { UsageReader, UsageReadQuestion } from '../usage-reader.ts';

/**
 * A reader that asks each question once, however many names it is asked under: what several charges are computed from is the same
 * figure. Events that are folded while they are read are no figure, and are read for each.
 */
export function askingOnce(readUsage: UsageReader): UsageReader {
  return async (sql, scope, questions) => {
    const sameAs = Map.groupBy(questions, contentOf);
    const first = [...sameAs.values()].map(([question]) => question!);
    const answers = await readUsage(sql, scope, first);
    return new Map(
      [...sameAs.values()].flatMap((same) => {
        const answer = answers.get(same[0]!.key);
        return answer ? same.map(({ key }) => [key, answer] as const) : [];
      }),
    );
  };
}

function contentOf({ key, eachEvent, ...content }: UsageReadQuestion): string {
  return eachEvent ? `events of ${key}` : JSON.stringify(content);
}
