import type { UsageReader, UsageReadQuestion } from '../usage-reader.ts';

/** A reader that asks equal questions once, however many keys they have. */
export function askedOnce(readUsage: UsageReader): UsageReader {
  return async (sql, scope, questions) => {
    const asked = new Map(questions.map((question) => [contentOf(question), question]));
    const answers = await readUsage(sql, scope, [...asked.values()]);
    return new Map(
      questions.flatMap((question) => {
        const answer = answers.get(asked.get(contentOf(question))!.key);
        return answer ? [[question.key, answer] as const] : [];
      }),
    );
  };
}

function contentOf({ key: _, ...content }: UsageReadQuestion): string {
  return JSON.stringify(content);
}
