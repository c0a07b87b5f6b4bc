import { messageOf, ShelfdError } from '../../foundation/errors.ts'
import { type Finding, failed } from '../../rules/doctor-findings.ts'
import { remedyFor } from '../hints-and-remedies.ts'

/** Thrown by a check that depends on another one that failed. */
export class Unchecked extends Error {
  constructor(otherCheck: string) {
    super(`not checked, see "${otherCheck}"`)
  }
}

/** Waits for a value whose failure another check reports; throws Unchecked if it failed. */
export async function valueOrSkip<T>(value: Promise<T>, otherCheck: string): Promise<T> {
  try {
    return await value
  } catch (error) {
    throw error instanceof Unchecked ? error : new Unchecked(otherCheck)
  }
}

export function findingOf(error: unknown): Finding {
  if (error instanceof Unchecked) return { level: 'unchecked', message: error.message }
  if (!(error instanceof ShelfdError)) return failed(messageOf(error), { code: 'unexpected' })
  return failed(error.message, { code: error.code, remedy: remedyFor(error.code) })
}
