import { Migration } from '@mikro-orm/migrations';

/**
 * The counts of requests that the processes of the API share, in the shape that `rate-limiter-flexible` asks for. They belong to no
 * environment, because an address is counted before anybody knows whose it is, and last seconds: a crash may lose them.
 * spec: platform §1.9
 */
export class Migration20261125_01_rate_limit extends Migration {
  override up(): void {
    this.addSql('create schema rate_limit');
    this.addSql(`create unlogged table rate_limit.request_count (
      key text primary key, points int not null default 0, expire bigint) with (fillfactor = 50)`);
  }
}
