import { expect } from 'vitest'
import { configure } from './daemon.ts'
import { type FaultyService, startFaultyService } from './faulty-service.ts'
import { type Home, temporaryHome, type Variables } from './home.ts'

interface Found {
  readonly level: 'ok' | 'unchecked' | 'warning' | 'failed'
  readonly message: string
  readonly remedy: string | null
  readonly code: string | null
}

interface Examined {
  readonly exitCode: number | null
  readonly stdout: string
  readonly verdict: string
  /** Names of the checks that failed. */
  readonly failed: readonly string[]
  /** The first finding of a check. */
  of(check: string): Found
}

/** Runs `shelfd doctor --json` in this process. */
export async function examine(home: Home, env: Variables = {}): Promise<Examined> {
  const { exitCode, stdout, stderr } = await home.shelfd(['doctor', '--json'], env)
  expect(stderr).toBe('')
  const { verdict, checks }: { verdict: string; checks: (Found & { check: string })[] } = JSON.parse(stdout)
  const of = (name: string) => {
    const found = checks.find(({ check }) => check === name)
    if (!found) throw new Error(`No finding of ${name}: ${stdout}`)
    return found
  }
  const failed = checks.filter(({ level }) => level === 'failed').map(({ check }) => check)
  return { exitCode, stdout, verdict, failed, of }
}

/** A home with one mirror of a library that a configured service has. */
export async function withService(more: object = {}): Promise<{ home: Home; service: FaultyService; root: string }> {
  const service = await startFaultyService({ library: 'Research' })
  const home = temporaryHome(service)
  const root = home.write('Papers', { 'a.md': 'A' })
  configure(home, { mirrors: [{ name: 'papers', path: root, library: 'Research', ...more }] })
  return { home, service, root }
}
