import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { attachDaemon, configure, type RunningDaemon } from '../../support/daemon.ts'
import { type Home, homeIn } from '../../support/home.ts'
import { runShelfd } from '../../support/run-shelfd.ts'
import type { Tree } from '../../support/temporary.ts'
import { openWindow } from './browser.ts'

interface MirrorOfTest {
  readonly name: string
  readonly files: Tree
}

/** One daemon for the tests of a file. */
export interface DashboardDaemon {
  readonly home: Home
  readonly daemon: RunningDaemon
  /** A new one-time address, by `shelfd dashboard`. */
  address(): Promise<string>
}

/** Starts a real daemon with these mirrors for all tests of the file that calls this, and waits until everything is sent. */
export function useDashboardDaemon(mirrors: readonly MirrorOfTest[]): () => DashboardDaemon {
  let running: DashboardDaemon | undefined
  let path = ''
  beforeAll(async () => {
    path = realpathSync(mkdtempSync(join(tmpdir(), 'shelfd-test-')))
    const home = homeIn(path)
    const settings = mirrors.map(({ name, files }) => {
      return { name, path: home.write(name, files), library: name, settle: '100ms' }
    })
    configure(home, { mirrors: settings, ingestion: { firstPoll: '20ms' } })
    const daemon = attachDaemon(runShelfd(['daemon'], { env: home.env, cwd: path }), home.stateDir)
    running = { home, daemon, address: () => addressOf(home) }
    await daemon.until('all sent', ({ mirrors: all, uploading, inIngestion }) => {
      return uploading + inIngestion === 0 && all.length > 0 && all.every(({ lastSuccessAt }) => lastSuccessAt !== null)
    })
  })
  afterAll(async () => {
    running?.daemon.child.kill('SIGTERM')
    if (running?.daemon.child.exitCode === null) await once(running.daemon.child, 'exit')
    rmSync(path, { recursive: true, force: true })
  })
  return () => {
    if (!running) throw new Error('There is no daemon')
    return running
  }
}

async function addressOf(home: Home): Promise<string> {
  const { stdout, stderr } = await home.shelfd(['dashboard', '--json'])
  if (stdout === '') throw new Error(`No address: ${stderr}`)
  return JSON.parse(stdout).url
}

/** A window that is signed in to the dashboard, and shows the mirrors. */
export async function openDashboard({ address }: DashboardDaemon, options: BrowserContextOptions = {}) {
  const url = await address()
  const { page } = await openWindow(url, options)
  await page.getByRole('heading', { name: 'Mirrors', level: 1 }).waitFor()
  return { page, origin: new URL(url).origin }
}
