import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { attachDaemon, type RunningDaemon } from './daemon-process.ts'
import type { Home, Variables } from './home.ts'
import { runShelfd } from './run-shelfd.ts'

/** Writes the configuration file of a home; its environment adds further settings. */
export function configure(home: Home, config: Readonly<Record<string, unknown>>): void {
  home.write('config/shelfd', { 'config.yaml': stringify(config) })
}

/** Starts `shelfd daemon`, which lives no longer than the test, and waits until it answers; `launcher` is a program that becomes it. */
export async function startDaemon(
  home: Home,
  env: Variables = {},
  launcher: readonly string[] = [],
): Promise<RunningDaemon> {
  const running = runShelfd(['daemon'], { env: { ...home.env, ...env }, cwd: home.path, launcher })
  const { child } = running
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const daemon = attachDaemon(running, home.stateDir)
  await daemon.until('answering', () => true)
  return daemon
}
