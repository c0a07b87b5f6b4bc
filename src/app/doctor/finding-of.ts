import { messageOf, ShelfdError } from '../../foundation/errors.ts'
import { type Finding, failed } from '../../rules/doctor/finding.ts'
import { REMEDIES } from './remedies.ts'
import { Unchecked } from './unchecked.ts'

/** The finding of what a check threw. */
export function findingOf(error: unknown): Finding {
  if (error instanceof Unchecked) return { level: 'unchecked', message: error.message }
  if (!(error instanceof ShelfdError)) return failed(messageOf(error), { code: 'unexpected' })
  const { code }: Pick<Finding, 'code'> = error
  return failed(error.message, { code, remedy: code && REMEDIES[code] })
}
