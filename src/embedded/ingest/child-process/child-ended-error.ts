/** `bystander`: another document was being read when the process ended. */
export type ChildFate = 'over-time' | 'over-memory' | 'crashed' | 'bystander'

/** The child process ended before it had done with a document. */
export class ChildEndedError extends Error {
  readonly fate: ChildFate

  constructor(fate: ChildFate, message: string) {
    super(message)
    this.fate = fate
  }
}
