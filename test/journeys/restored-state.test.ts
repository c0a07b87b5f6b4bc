import { chmodSync, cpSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startFaultyService } from '../support/faulty-service.ts'
import { expectExit, homeWithPapers } from '../support/home.ts'

const TO = ['Papers', '--to', 'Research']
const NOTICE = /The state is new, restored or copied/

test('a state restored from a backup is reported until the next sync [P24]', async () => {
  const service = await startFaultyService({ library: 'Research', hasNoDuplicateRule: true })
  const home = homeWithPapers({ 'a.md': 'A' }, service)
  expect((await home.sync(TO)).exitCode).toBe(0)
  expect((await home.shelfd(['status'])).stdout).not.toMatch(NOTICE)
  const backup = join(home.path, 'backup')
  cpSync(home.stateDir, backup, { recursive: true })
  home.write('Papers', { 'b.md': 'B' })
  expect((await home.sync(TO)).exitCode).toBe(0)
  rmSync(home.stateDir, { recursive: true })
  renameSync(backup, home.stateDir)

  expect(await home.shelfd(['status'])).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(NOTICE) })
  expectExit(await home.shelfd(['status', '--json']), 0, NOTICE)
  expectExit(await home.shelfd(['report']), 0, NOTICE)
  service.forget()
  const { mirror } = expectExit(await home.sync(TO), 0, /shelfd looks for earlier uploads/)
  expect(mirror.uploads).toMatchObject({ created: 0, duplicates: 1 })
  expect(service.count('uploadFile')).toBe(0)
  expect((await home.shelfd(['status'])).stdout).not.toMatch(NOTICE)
  const report = await home.shelfd(['report', '--check'])
  expect(report).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/2 in-sync/) })
  expect(report.stderr).not.toMatch(NOTICE)
})

test('a sync that sends nothing looks as well, and the report of a copied state ends [P24]', async () => {
  const service = await startFaultyService({ library: 'Research', hasNoDuplicateRule: true })
  const home = homeWithPapers({ 'a.md': 'A' }, service)
  expect((await home.sync(TO)).exitCode).toBe(0)
  // As somebody does who corrects the owner of all files of a home directory.
  chmodSync(join(home.stateDir, 'store.db'), 0o600)
  expect((await home.shelfd(['status'])).stdout).toMatch(NOTICE)
  expect((await home.sync(TO)).exitCode).toBe(0)
  expect((await home.shelfd(['status'])).stdout).not.toMatch(NOTICE)
  expect(service.count('uploadFile')).toBe(1)
})

test('every command refuses an older store until its generation is removed [P24]', async () => {
  const service = await startFaultyService({ library: 'Research', hasNoDuplicateRule: true })
  const home = homeWithPapers({ 'a.md': 'A' }, service)
  expect((await home.sync(TO)).exitCode).toBe(0)
  const file = join(home.stateDir, 'store.db')
  cpSync(file, `${file}.old`)
  home.write('Papers', { 'b.md': 'B' })
  expect((await home.sync(TO)).exitCode).toBe(0)
  renameSync(`${file}.old`, file)
  for (const command of [['status'], ['report'], ['why', 'Papers/a.md'], ['sync', ...TO]])
    expect(await home.shelfd(command), command.join(' ')).toMatchObject({ exitCode: 78 })
  rmSync(join(home.stateDir, 'generation'))
  service.forget()
  expect((await home.sync(TO)).exitCode).toBe(0)
  expect(service.count('uploadFile')).toBe(0)
})
