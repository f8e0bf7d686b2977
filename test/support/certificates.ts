import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import forge from 'node-forge';

const dayMs = 86_400_000;
const dnsName = 2;
const ipAddress = 7;

/** A certificate and its key as files in PEM. */
export interface CertificateFiles {
  certificate: string;
  key: string;
}

/** A certificate authority of one test. */
export interface TestAuthority {
  /** Its own certificate: what clients and servers trust. */
  file: string;
  /** A certificate for a server of these names, or for a client called `name`. */
  issue(name: string, hosts?: readonly string[]): CertificateFiles;
}

interface KeyPair {
  publicKey: forge.pki.rsa.PublicKey;
  privateKey: forge.pki.rsa.PrivateKey;
}

/** Makes a certificate authority whose files lie in a directory of its own. */
export function testAuthority(name: string): TestAuthority {
  const directory = mkdtempSync(join(tmpdir(), 'perennial-certificates-'));
  const keys = newKeys();
  const issuer = [{ name: 'commonName', value: name }];
  let serial = 0;
  const signed = (subject: string, key: KeyPair['publicKey'], extensions: object[]): string => {
    const certificate = forge.pki.createCertificate();
    serial += 1;
    certificate.serialNumber = serial.toString(16).padStart(2, '0');
    certificate.publicKey = key;
    certificate.validity.notBefore = new Date(Date.now() - dayMs);
    certificate.validity.notAfter = new Date(Date.now() + dayMs);
    certificate.setSubject([{ name: 'commonName', value: subject }]);
    certificate.setIssuer(issuer);
    certificate.setExtensions(extensions);
    certificate.sign(keys.privateKey, forge.md.sha256.create());
    return forge.pki.certificateToPem(certificate);
  };
  const file = join(directory, 'authority.pem');
  writeFileSync(file, signed(name, keys.publicKey, [{ name: 'basicConstraints', cA: true, critical: true }]));
  return {
    file,
    issue(subject, hosts = []) {
      const own = newKeys();
      const altNames = hosts.map((host) =>
        /^[\d.]+$/.test(host) ? { type: ipAddress, ip: host } : { type: dnsName, value: host },
      );
      const files = { certificate: join(directory, `${subject}.pem`), key: join(directory, `${subject}.key`) };
      const extensions = altNames.length > 0 ? [{ name: 'subjectAltName', altNames }] : [];
      writeFileSync(files.certificate, signed(subject, own.publicKey, extensions));
      writeFileSync(files.key, forge.pki.privateKeyToPem(own.privateKey), { mode: 0o600 });
      return files;
    },
  };
}

/** Node makes the keys, which forge alone would take seconds for. */
function newKeys(): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { publicKey: forge.pki.publicKeyFromPem(publicKey), privateKey: forge.pki.privateKeyFromPem(privateKey) };
}
