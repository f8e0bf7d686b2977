import { Migration } from '@mikro-orm/migrations';

/** Which members an override of a plan's entitlement sets: the others stay the plan's, also when the plan changes. */
export class Migration20261122_10_entitlement_parts extends Migration {
  override up(): void {
    this.addSql('alter table "entitlement" add column "overridden_members" text[] null');
    this.addSql(
      'create index "entitlement_environment_id_entity_id_index" on "entitlement" ("environment_id", "entity_id")',
    );
  }
}
