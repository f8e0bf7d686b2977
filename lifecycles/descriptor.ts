/**
 * Description of one kind of object whose life a workflow leads. Everything that tells kinds apart reads it: the start of workflows,
 * reconcile, the billing run, checks, test clocks, the workers and the API. It is plain data, because the sandbox of workflows reads
 * it too. design: architecture §3
 */
export interface LifecycleDescriptor {
  /** Name in the summaries that operators read. */
  readonly noun: string;
  /** Rooms of its workflow, activities and services. */
  readonly area: string;
  /** Table that holds it. */
  readonly entity: string;
  /** File of the workflow, which exports a function that is called like the workflow type. */
  readonly workflow: string;
  readonly workflowType: string;
  /** Id of the workflow of the object `id`. */
  readonly workflowId: (id: string) => string;
  /** File of the activities. */
  readonly activities: string;
  /** Function of that file that makes the activities. */
  readonly createActivities: string;
  /** True where activities of it ask a gateway or a provider: they also run on the task queue of calls to the outside. */
  readonly asksGateways: boolean;
  /** Activity that reads the object for its workflow. */
  readonly load: string;
  /** Kinds of its agenda entries, in the order in which those of one instant are performed. */
  readonly agenda: readonly string[];
  /**
   * Column of the table that moves with every change of its agenda. On a test clock that stands still an entry that is due is taken for
   * late from then on; without such a column on real time alone.
   */
  readonly changedColumn: string | null;
  /** Column of the table that its workflow has to agree with; null where the agenda says it all. */
  readonly statusColumn: string | null;
  /** True where steps that many take at one instant share transactions, so that a test clock tells very many at once. */
  readonly sharesSteps: boolean;
  /** True where it acts behind everything else of its instant on a test clock. */
  readonly actsLast: boolean;
  /**
   * True where its workflow is given to no worker before its first instant, and is not told of entries that go: very many of them wait,
   * and few ever act. It may wake too early and never too late.
   */
  readonly sleeps: boolean;
}
