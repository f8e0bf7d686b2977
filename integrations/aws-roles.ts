/** A role of a customer of ours at AWS, which trusts this installation's own account. */
export interface AwsRole {
  roleArn: string;
  externalId: string;
  region: string;
}

/** Assuming roles at AWS. */
export interface AwsRoles {
  /** Proves that a role can be assumed; what AWS hands out for it is thrown away. Throws `RoleNotAssumed`. */
  check(role: AwsRole): Promise<void>;
}

/** Why a role could not be assumed, in words for the caller: nothing of what AWS answered is in it. */
export class RoleNotAssumed extends Error {}

export interface AwsRolesOptions {
  /** The installation's own credentials; none are looked for anywhere else. */
  accessKeyId: string;
  secretAccessKey: string;
  /** Instead of the region's endpoint of STS. */
  endpoint?: string | null;
  timeoutMs?: number;
}

const defaultTimeoutMs = 15_000;
const sessionName = 'perennial-connection-check';
const shortestSessionSeconds = 900;

/** What AWS calls its refusals, and what they mean to whoever made the connection. */
const meanings: Readonly<Record<string, string>> = {
  AccessDenied: 'AWS denies it: let the role trust this installation, with this external id',
  ValidationError: 'AWS takes role_arn or external_id for malformed',
  RegionDisabledException: 'AWS has STS switched off in this region',
  InvalidClientTokenId: "AWS does not know this installation's own credentials: tell its operator",
  SignatureDoesNotMatch: "AWS does not accept this installation's own credentials: tell its operator",
  ExpiredToken: "this installation's own credentials have expired: tell its operator",
};

/** Roles at AWS, through its own client. spec: platform §13 `aws_marketplace` */
export function connectAwsRoles(options: AwsRolesOptions): AwsRoles {
  const { accessKeyId, secretAccessKey, endpoint, timeoutMs = defaultTimeoutMs } = options;
  return {
    async check({ roleArn, externalId, region }) {
      // Loaded with the first role: an installation without a marketplace starts without it.
      const { AssumeRoleCommand, STSClient } = await import('@aws-sdk/client-sts');
      const client = new STSClient({
        region,
        credentials: { accessKeyId, secretAccessKey },
        ...(endpoint ? { endpoint } : {}),
      });
      const limit = AbortSignal.timeout(timeoutMs);
      try {
        const command = new AssumeRoleCommand({
          RoleArn: roleArn,
          ExternalId: externalId,
          RoleSessionName: sessionName,
          DurationSeconds: shortestSessionSeconds,
        });
        const { Credentials: given } = await client.send(command, { abortSignal: limit });
        if (!given?.AccessKeyId) throw new RoleNotAssumed('AWS gave no credentials for it');
      } catch (error) {
        if (error instanceof RoleNotAssumed) throw error;
        if (limit.aborted) throw new RoleNotAssumed(`AWS did not answer within ${timeoutMs / 1000} s`);
        throw new RoleNotAssumed(meanings[(error as Error).name] ?? 'AWS could not be asked; check the region');
      } finally {
        client.destroy();
      }
    },
  };
}
