import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startFaultyService } from '../support/faulty-service.ts'
import { variablesOf } from '../support/home.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { createHome, type RunOptions } from './run-with.ts'

const SYNC = 'sync Papers --to Research --state-dir state'

function papers() {
  const { home, shelfd } = createHome()
  mkdirSync(join(home, 'Papers'))
  writeFileSync(join(home, 'Papers', 'a.md'), 'A')
  return (line: string, options: RunOptions = {}) => shelfd(line, { uid: 0, ...options })
}

test('root sends nothing to a service without a flag [S-14]', async () => {
  await using service = await startFaultyService({ library: 'Research' })
  const asRoot = papers()
  const env = variablesOf(service)
  for (const line of [SYNC, `${SYNC} --dry-run`, 'daemon']) {
    const { exitCode, stdout, stderr } = await asRoot(line, { env })
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(/as root: .*--allow-root or SHELFD_ALLOW_ROOT=1/)
  }
  expect(service.requests).toEqual([])
  expect(await asRoot('whoami', { env })).toMatchObject({ exitCode: 0 })
})

test('root may send by flag, variable or system service [S-14]', async () => {
  await using service = await startFaultyService({ library: 'Research' })
  const asRoot = papers()
  const env = variablesOf(service)
  expect((await asRoot(`${SYNC} --allow-root`, { env })).exitCode).toBe(0)
  expect((await asRoot(SYNC, { env: { ...env, SHELFD_ALLOW_ROOT: '1' } })).exitCode).toBe(0)
  const unit = { INVOCATION_ID: 'f'.repeat(32), STATE_DIRECTORY: temporaryDirectory() }
  expect((await asRoot(SYNC, { env: { ...env, ...unit } })).exitCode).toBe(0)
  for (const half of [{ ...unit, INVOCATION_ID: '' }, { ...unit, STATE_DIRECTORY: '' }, { SHELFD_ALLOW_ROOT: '0' }])
    expect((await asRoot(SYNC, { env: { ...env, ...half } })).exitCode).toBe(2)
})

test('root is only warned where nothing leaves the machine [S-14]', async () => {
  const asRoot = papers()
  const warned = await asRoot('sync Papers')
  expect(warned).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/^[\d:]+ warn +running as root/m) })
  expect((await asRoot('sync Papers --allow-root', {})).stderr).not.toContain('root')
  expect((await asRoot('sync Papers', { uid: 1_000 })).stderr).not.toContain('root')
})
