import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { needs } from './needs.ts'
import { temporaryDirectory } from './temporary.ts'

/** `service/` of the project. */
export const SERVICE_FILES = join(import.meta.dirname, '..', '..', 'service')

/** Keys that only newer versions know; older ones log that and continue. */
const SINCE_254 = /Unknown key (?:name )?'(?:RestartSteps|RestartMaxDelaySec)'/

/** The output of `systemd-analyze verify` on a unit, which is empty when all is well. Rejects when systemd would not start it. */
export async function verifyUnit(file: string, isUser: boolean): Promise<string[]> {
  needs('systemd-analyze')
  const args = ['verify', '--man=no', ...(isUser ? ['--user'] : []), file]
  const env = { ...process.env, XDG_RUNTIME_DIR: temporaryDirectory() }
  const { stderr } = await promisify(execFile)('systemd-analyze', args, { env })
  return stderr.split('\n').filter((line) => line !== '' && !SINCE_254.test(line))
}

/** Returns how much of the machine a unit of the system can reach, from 0 to 10, by `systemd-analyze security`. */
export async function exposureOf(file: string): Promise<number> {
  needs('systemd-analyze')
  const { stdout } = await promisify(execFile)('systemd-analyze', ['security', '--offline=true', '--no-pager', file])
  return Number(/Overall exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1])
}
