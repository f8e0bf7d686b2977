import { Migration } from '@mikro-orm/migrations';

/** The key by which a session is found that a provider names by its own id alone. spec: platform §16; design: money-in-checkout §A13 */
export class Migration20261127_50_sessions_by_provider extends Migration {
  override up(): void {
    this.addSql(
      `create index "checkout_session_provider_session_index" on "checkout_session" (environment_id, payment_provider, provider_session_id) where provider_session_id is not null;`,
    );
  }
}
