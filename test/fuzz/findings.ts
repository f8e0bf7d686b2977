/** Operations of an OpenAPI document, by path and method. */
export type Operations = Record<string, Record<string, { responses: Record<string, unknown> }>>;

/** Report of Schemathesis on the requests at one operation. */
export interface ScenarioEvent {
  recorder: {
    label: string;
    interactions: Record<
      string,
      {
        request: { method: string; uri: string; body?: { $base64: string } | null };
        response?: { status_code: number } | null;
      }
    >;
  };
}

/** An answer that may not be. */
export interface Finding {
  operation: string;
  /** 0 when there was no answer. */
  status: number;
  request: string;
}

/**
 * Answers that the document does not have: a 5xx other than a documented 501, any other undocumented status, and none at all. Requests by
 * a method that the operation does not have are another operation's, or nobody's, and are looked at for 5xx alone.
 */
export function findingsOf({ recorder }: ScenarioEvent, operations: Operations): Finding[] {
  const [method = '', path = ''] = recorder.label.split(' ');
  const documented = Object.keys(operations[path]?.[method.toLowerCase()]?.responses ?? {});
  return Object.values(recorder.interactions).flatMap(({ request, response }) => {
    const status = response?.status_code ?? 0;
    const isOwn = request.method === method;
    if (status !== 0 && !isOwn && (status < 500 || status === 501)) return [];
    if (status !== 0 && isOwn && isDocumented(status, documented)) return [];
    const body = request.body ? Buffer.from(request.body.$base64, 'base64').toString() : '';
    return [{ operation: recorder.label, status, request: `${request.method} ${request.uri} ${body}`.slice(0, 2_000) }];
  });
}

/** `4XX` stands for all refusals; of faults only 501 is an answer that a caller can bring about. */
function isDocumented(status: number, documented: readonly string[]): boolean {
  if (status >= 500 && status !== 501) return false;
  return documented.includes(String(status)) || documented.includes(`${Math.floor(status / 100)}XX`);
}
