interface Row {
  readonly id: string
  /** The part that no test shows yet; the row counts as open. */
  readonly open?: string
}

/** A promise that holds at every moment. */
export interface PromiseRow extends Row {
  /** The end of a sentence that begins with "At every moment". */
  readonly holds: string
  /** The exceptions, a sentence each. */
  readonly except?: readonly string[]
}

/** The reaction to a fault. `accepted`: the fault is no failure and needs no reaction. */
export type FaultClass = 'retry' | 'operator' | 'doubt' | 'next scan' | 'halt' | 'accepted'

export interface FaultRow extends Row {
  readonly happens: string
  readonly answer: string
  readonly class: FaultClass
}

export interface SecurityRow extends Row {
  readonly holds: string
}
