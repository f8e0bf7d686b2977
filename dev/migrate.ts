import { readConfigOrExit } from '../config.ts';
import { prepareDatabase } from '../db/prepare.ts';
import { installSandboxGateway } from '../integrations/sandbox-gateway/store.ts';

/** Entry file of `npm run migrate`: prepares the database of DATABASE_URL with the role of DATABASE_OWNER_URL. */
const config = readConfigOrExit();
const application = new URL(config.databaseUrl);
if (config.databaseOwnerUrl === null) {
  console.error(
    'DATABASE_OWNER_URL is not set: give the URL of the role that owns the database, which creates tables and roles.',
  );
  process.exit(1);
}
try {
  const applicationName = decodeURIComponent(application.username);
  const { migrations, ownerUrl } = await prepareDatabase({
    ownerUrl: config.databaseOwnerUrl,
    databaseName: decodeURIComponent(application.pathname.slice(1)),
    applicationName,
    applicationPassword: decodeURIComponent(application.password),
  });
  await installSandboxGateway(ownerUrl, applicationName);
  console.log(migrations.length === 0 ? 'The schema is up to date.' : `Applied ${migrations.join(', ')}.`);
} catch (error) {
  console.error(`The database was not prepared: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
