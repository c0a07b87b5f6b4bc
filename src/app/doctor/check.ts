import type { Finding } from '../../rules/doctor/finding.ts'
import type { DoctorContext } from './doctor-context.ts'

/** One check of the doctor. What it throws becomes its finding. */
export interface Check {
  /** One or two words, as shown. */
  readonly name: string
  /** Returns at least one finding, or none where there is nothing to check. */
  run(context: DoctorContext): Promise<readonly Finding[]>
}
