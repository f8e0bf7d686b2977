import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll } from 'vitest';

/** What STS was asked. */
export interface StsRequest {
  action: string;
  roleArn: string;
  externalId: string;
  /** The region the request is signed for. */
  region: string;
  accessKeyId: string;
}

export interface StsServer {
  url: string;
  requests: StsRequest[];
  /** The server answers so from now on; `silence` is no answer at all. */
  answerWith(answer: 'credentials' | 'nothing' | 'silence' | AwsFailure): void;
  /** Runs while a request is being answered. */
  whileAsked(work: (() => Promise<void>) | null): void;
}

export interface AwsFailure {
  status: number;
  code: string;
  message: string;
}

const namespace = 'xmlns="https://sts.amazonaws.com/doc/2011-06-15/"';

/** Speaks AssumeRole as AWS's Security Token Service does, until the test file ends. */
export async function testStsServer(): Promise<StsServer> {
  const requests: StsRequest[] = [];
  let answer: Parameters<StsServer['answerWith']>[0] = 'credentials';
  let work: (() => Promise<void>) | null = null;
  const server = createServer(async (request, response) => {
    const form = new URLSearchParams(await text(request));
    const [, accessKeyId = '', region = ''] =
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/\d{8}\/([^/]+)\/sts\/aws4_request, /.exec(
        request.headers.authorization ?? '',
      ) ?? [];
    requests.push({
      action: form.get('Action') ?? '',
      roleArn: form.get('RoleArn') ?? '',
      externalId: form.get('ExternalId') ?? '',
      region,
      accessKeyId,
    });
    await work?.();
    reply(response, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answerWith: (next) => {
      answer = next;
    },
    whileAsked: (next) => {
      work = next;
    },
  };
}

function reply(response: ServerResponse, answer: Parameters<StsServer['answerWith']>[0]): void {
  if (answer === 'silence') return;
  response.setHeader('content-type', 'text/xml');
  if (typeof answer === 'object') {
    const { status, code, message } = answer;
    response.statusCode = status;
    response.end(
      `<ErrorResponse ${namespace}><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>r-1</RequestId></ErrorResponse>`,
    );
    return;
  }
  const given =
    '<Credentials><AccessKeyId>ASIAGIVEN</AccessKeyId><SecretAccessKey>given_secret</SecretAccessKey><SessionToken>given_token</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration></Credentials>';
  response.end(
    `<AssumeRoleResponse ${namespace}><AssumeRoleResult>${answer === 'credentials' ? given : ''}</AssumeRoleResult><ResponseMetadata><RequestId>r-1</RequestId></ResponseMetadata></AssumeRoleResponse>`,
  );
}
