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

/** `text` begins with the section: `4.10 The immediate children of a path are listed.` */
export function sentence(text: string, ...assertions: [Assertion, ...Assertion[]]): Sentence {
  return { ...splitText(text), assertions, unobservable: undefined }
}

export function unobservable(text: string, why: string): Sentence {
  return { ...splitText(text), assertions: [], unobservable: why }
}

function splitText(text: string): Pick<Sentence, 'section' | 'says'> {
  const end = text.indexOf(' ')
  return { section: text.slice(0, end), says: text.slice(end + 1) }
}

export function assertion(title: string, check: Assertion['check']): Assertion {
  return { title, check }
}
