import type { DoctorContext } from '../../../app/doctor/doctor-context.ts'
import type { CommandContext } from '../../context.ts'

/** How long one check may take. */
const LIMIT_MS = 5_000

/** What the checks of the doctor look at; the modules are loaded here, since only two commands need them. */
export async function openDoctor(context: CommandContext): Promise<DoctorContext> {
  const { openDoctorContext } = await import('../../../app/doctor/doctor-context.ts')
  const { thisMachine } = await import('../../../app/doctor/doctor-context.ts')
  const { io, config, settingFlags, redactor, signal, readSettings } = context
  const { env, cwd, home } = io
  const flags = { ...settingFlags, config }
  return openDoctorContext({
    env,
    cwd,
    home,
    flags,
    redactor,
    signal,
    readSettings,
    machine: thisMachine,
    limitMs: LIMIT_MS,
  })
}
