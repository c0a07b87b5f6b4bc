import type { DoctorContext } from '../../../../app/doctor/doctor-context.ts'
import { CHECKS, type Checked, runChecks } from '../../../../app/doctor/run-checks.ts'
import { rebuildError } from '../../../../foundation/errors.ts'
import { renderFinding, SYMBOLS, WORDS } from '../../../render/findings.ts'
import { showsSymbols } from '../../../terminal/cli-io.ts'
import type { Wizard } from './wizard.ts'

/** Runs these checks of the doctor on a draft, prints what they find, and returns the first failure. */
export async function checkDraft(
  { context }: Wizard,
  doctor: DoctorContext,
  names: readonly string[],
): Promise<Checked | undefined> {
  const layout = {
    marks: showsSymbols(context.io) ? SYMBOLS : WORDS,
    nameWidth: Math.max(...names.map((name) => name.length)),
    columns: context.columns,
  }
  let failure: Checked | undefined
  for await (const finding of runChecks(
    CHECKS.filter(({ name }) => names.includes(name)),
    doctor,
  )) {
    // The configuration is not written yet, so that only what is wrong with it is of interest.
    if (finding.check !== 'configuration' || finding.level !== 'ok')
      context.printMessage(renderFinding(finding, layout))
    if (finding.level === 'failed') failure ??= finding
  }
  return failure
}

/** The error for a failure that nobody can be asked about. */
export function errorOfFailure({ code, message }: Checked): Error {
  return rebuildError(code ?? 'unexpected', message)
}
