/** A column that holds the id of another row, and the table it is in. */
export interface Reference {
  table: string;
  column: string;
  target: string;
  /** Narrows the rows to which it applies. */
  where?: string;
}
