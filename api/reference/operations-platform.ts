/** What operations on settings, environments, people, keys, connections, tasks, clocks and alerts do, by operation id. */
export const platformOperations: Readonly<Record<string, string>> = {
  createAlertSettings:
    'From now on the value is watched, and an outbound event tells when it reaches a level or goes back. Of one object there is one setting.',
  getAlertSettings: 'The setting with its levels, archived or not.',
  updateAlertSettings: 'Levels that are left out are not watched any more. The value is judged again at once.',
  deleteAlertSettings: 'Nothing is told about what was in alarm.',
  queryAlertSettings: 'Filters, sorting and paging in the body.',
  queryAlertLog: 'Each change of level, with the value and the settings of that moment.',

  createApiKey:
    'The key belongs to the environment of the caller, with the roles of its user or service account. What is stored is a hash: a lost key is replaced, not shown again.',
  listApiKeys: 'Keys of the environment with when they were last used, never their text.',
  deleteApiKey: 'Requests with it are refused with 401 at once.',
  listRbacRoles: 'What each role may do, for users and service accounts.',
  getRbacRole: 'What the role may do.',
  getUserInfo: 'The user or service account of the credential, with roles and tenant.',
  updateUser: 'Name and notes of the own account; a note with an empty text is removed. Roles are given by others.',
  createUser: 'Service accounts hold keys of programs. Invitations of people answer 501 in this release.',
  queryUser: 'Filters, sorting and paging in the body.',
  updateServiceAccount: 'Name and metadata; its roles stay.',
  deleteServiceAccount: 'Refused while it has active keys, which the message names.',
  getTenantById: 'Only the own tenant is found.',
  updateTenant: 'Name and billing details stand on invoices made final from now on; those before keep what they had.',
  listEnvironments: 'Environments of the tenant. Each has customers, catalogue, invoices and settings of its own.',
  createEnvironment: 'How many there may be says the setting `tenant_config`.',
  getEnvironment: 'Name and kind of the environment.',
  updateEnvironment: 'The kind of an environment cannot be changed.',
  getEnvironmentClone:
    'The latest clone from this environment: what it copied, what it left out, and what failed and why.',
  getSettingByKey: 'What is stored over what is usual, so that every member is there.',
  updateSettingByKey:
    'Changes the members that are sent and keeps the others; what is not a member, or has no such value, is refused by name.',
  deleteSettingByKey: 'Every member is as usual again.',

  createWebhookEndpoint:
    'Events that come about from now on are sent there by POST, signed, in order for each object. The answer is the one that shows the secret without being asked for it.',
  listWebhookEndpoints: 'Endpoints of the environment, 20 at most; values of their headers are masked.',
  getWebhookEndpoint:
    'The endpoint, without its secret and with values of its headers masked, and how its delivery goes.',
  updateWebhookEndpoint:
    'Members that are left out stay. Other types hold for events that come about from now on, another address and other headers for the next attempt.',
  deleteWebhookEndpoint: 'Nothing more is sent there, and what waited for it is forgotten.',
  getWebhookEndpointSecret:
    'What the receiver checks signatures with, and former secrets that sign beside it until they expire. Needs the right to change webhooks.',
  rotateWebhookEndpointSecret:
    'The secret that signed until now signs beside the new one for 24 hours, or no more with `expire_old_now`. Every request that begins after the answer is signed with the secrets of the answer, which therefore takes up to a second. Three secrets sign at most.',
  testWebhookEndpoint:
    'An example of the type is sent within about a second, signed, with an id that begins with `test_` and without the headers of an object; also to a disabled endpoint. It is tried once, and changes nothing of what the endpoint gets.',
  listWebhookEvents:
    'All outbound events, the newest first, each with its standing at every endpoint. With `delivered=false` only those that an endpoint was due and has not got.',
  getWebhookEvent:
    'With `body`, the bytes that every receiver gets, and its standing at every endpoint: delivered, or why not, and when the next attempt is.',
  startWebhookReplay:
    'Beside what is sent by itself, in order for each object and with the header `webhook-replay: true`. Events need not have been due, unless `only_failed` is true; `count` is how many there are up to now. One at a time for each endpoint.',
  getWebhookReplay: 'With how many events were received, and how many were not after three attempts.',
  cancelWebhookReplay:
    'What was sent stays sent. After the answer no request of it begins; one that is under way may still arrive.',
  retryOutboundWebhook:
    'However old it is and however often it was tried. `message` names the endpoints; refused where no endpoint was due it and has not got it.',
  getDashboardURL: 'For programs that ask it: there is no dashboard of another service.',
  listWebhookDeliveries:
    'Attempts of the last 30 days, the first one first. Of an answer that was no receipt the beginning is kept, without your secrets.',

  createConnection:
    'Secrets are encrypted with the key of the installation. One of a kind may be connected in an environment.',
  listConnections: 'Connections without their secrets.',
  queryConnections: 'Filters, sorting and paging in the body.',
  getConnection: 'What is exchanged with the provider; its secrets are never shown.',
  updateConnection:
    'Members left out stay as they are. Secrets of another account are refused while money moves through the connection.',
  deleteConnection: 'Payments and mappings made with it stay.',
  getIntegrationConfig: 'For screens that let people switch exchanges on and off.',
  createOrUpdateIntegration: 'Older clients call it; new ones use `/v1/connections`.',
  getIntegration: 'Older clients call it; new ones use `/v1/connections`.',
  listLinkedIntegrations: 'Names of providers, such as `stripe`.',
  deleteIntegration: 'Older clients call it; new ones use `/v1/connections`.',
  createEntityIntegrationMapping:
    'Says that an object of Perennial is the one with this id at a provider. An object has one id at each.',
  deleteEntityIntegrationMapping: 'Perennial forgets the id; nothing is changed at the provider.',
  getEntityIntegrationMappings: 'Ids of objects at providers; filters go into the query.',
  linkIntegrationMapping:
    'The provider has to be connected. An id that belongs to another object is refused; `linked_via` and `linked_at` are added to the metadata. The same link again changes nothing.',
  delinkIntegrationMapping: 'The same as deleting the mapping, named by the object and the provider.',

  createTask:
    'The file is fetched and its events are ingested by a durable workflow. Only addresses outside of the own network are fetched.',
  listTasks: 'Tasks, newest first; filters go into the query.',
  updateTaskStatus: '`PENDING` begins it again, records that are there are not counted twice; `FAILED` stops it.',
  getTaskResult: 'Waits for nothing: how the workflow of the task stands now.',
  getTask: 'How many records were read, taken and refused, and the first refusals with their lines.',
  downloadTaskExport: 'The address needs no credential and holds for some minutes.',
  createTestClock:
    'Customers on it live by its time instead of real time: what takes a year is seen in seconds, by the same code.',
  listTestClocks: 'Clocks with the instant each shows.',
  getTestClock: 'With `wait` the answer comes once an advance has ended, or after that many seconds.',
  deleteTestClock: 'Refused while a customer on it has a subscription that is not cancelled.',
  advanceTestClock:
    'The clock is `advancing` until all that falls due until then was carried out; ask for it with `wait`. It never goes back, and while it moves another target is refused with 409.',
  listOutboundEvents:
    'What webhooks are made from, in the order in which it came about. Send `next` of an answer as `after` to read on; with `wait` the answer comes as soon as there is something new.',
  streamOutboundEvents:
    'Server-sent events: the feed, without asking for each page. A client that reconnects sends the `id` of the last event as `Last-Event-ID`, as browsers do by themselves, and misses nothing; where events may be missing it is sent the event `reset` first. The stream ends when the key may not read any more, and when its reader is too slow.',
  getBillingRun: 'For operators: what the workflows are about to do, wait for, did, and where they need a person.',
  retryParkedObject:
    'For operators, once the cause is mended: the workflow of the object tries its step again and goes on.',
};
