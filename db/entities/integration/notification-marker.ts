/** An object of ours as it was named to a provider. */
export interface NotificationMarker {
  environment: string;
  kind: string;
  id: string;
}
