/** Why the process ended; `bystander`: it was reading another document. */
export type ChildFate = 'over-time' | 'over-memory' | 'crashed' | 'bystander'

/** The child process ended before it finished a document. */
export class ChildEndedError extends Error {
  readonly fate: ChildFate

  constructor(fate: ChildFate, message: string) {
    super(message)
    this.fate = fate
  }
}
