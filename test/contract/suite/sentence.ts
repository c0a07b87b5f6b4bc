import type { Examination } from './examination.ts'

/** One observation of a service. Throws an AssertionError when the service does otherwise, NotObserved when it cannot be made. */
export interface Assertion {
  readonly title: string
  check(it: Examination): Promise<void>
}

/** A sentence of the interface in this project's words, with its assertions or the reason why it has none. */
export interface Sentence {
  /** The section of the interface, such as `4.10`. */
  readonly section: string
  readonly says: string
  readonly assertions: readonly Assertion[]
  /** Undefined when there are assertions. */
  readonly unobservable: string | undefined
}

/** The observation cannot be made with this service, these credentials or these options. */
export class NotObserved extends Error {}

export function sentence(section: string, says: string, ...assertions: [Assertion, ...Assertion[]]): Sentence {
  return { section, says, assertions, unobservable: undefined }
}

export function unobservable(section: string, says: string, why: string): Sentence {
  return { section, says, assertions: [], unobservable: why }
}

export function assertion(title: string, check: Assertion['check']): Assertion {
  return { title, check }
}
