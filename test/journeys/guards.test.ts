import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { dumpStore } from '../support/dump-store.ts'
import { startFaultyService } from '../support/faulty-service.ts'
import { temporaryHome } from '../support/home.ts'
import { manyFiles } from '../support/temporary.ts'

const TO = ['Papers', '--to', 'Research']

async function mirroredHome(files: number) {
  const service = await startFaultyService({ library: 'Research' })
  const home = temporaryHome(service)
  const root = home.write('Papers', manyFiles(files, files))
  expect((await home.sync(TO)).exitCode).toBe(0)
  service.forget()
  return { service, home, root }
}

describe('a root that lost its files (P12)', () => {
  test('altogether halts, and records nothing', async () => {
    const { home, root } = await mirroredHome(30)
    const before = dumpStore(home.stateDir)
    for (let index = 0; index < 7; index += 1) rmSync(join(root, `d${index}`), { recursive: true })
    const { exitCode, stderr } = await home.shelfd(['sync', ...TO])
    expect({ exitCode, stderr }).toEqual({ exitCode: 8, stderr: expect.stringMatching(/Papers/) })
    expect(dumpStore(home.stateDir).file).toEqual(before.file)
  })

  test('altogether goes on when told so', async () => {
    const { service, home, root } = await mirroredHome(30)
    for (let index = 0; index < 7; index += 1) rmSync(join(root, `d${index}`), { recursive: true })
    const { exitCode, mirror } = await home.sync([...TO, '--accept-removals'])
    expect({ exitCode, removed: mirror.files.removed }).toEqual({ exitCode: 0, removed: 30 })
    expect(service.count('uploadFile')).toBe(0)
    expect((await home.sync(TO)).exitCode).toBe(0)
  })

  test('by more than half halts as well', async () => {
    const { home, root } = await mirroredHome(70)
    const before = dumpStore(home.stateDir)
    for (let index = 0; index < 4; index += 1) rmSync(join(root, `d${index}`), { recursive: true })
    expect((await home.shelfd(['sync', ...TO])).exitCode).toBe(8)
    expect(dumpStore(home.stateDir).file).toEqual(before.file)
  })

  test('by a few goes on', async () => {
    const { home, root } = await mirroredHome(70)
    rmSync(join(root, 'd0'), { recursive: true })
    const { exitCode, mirror } = await home.sync(TO)
    expect(exitCode).toBe(0)
    expect(mirror.files.removed).toBe(10)
  })
})

describe('a new store beside a full library (P14)', () => {
  test('stops and asks instead of sending', async () => {
    const { service, home } = await mirroredHome(10)
    rmSync(home.stateDir, { recursive: true })
    mkdirSync(home.stateDir, { recursive: true })
    const { exitCode, stderr } = await home.shelfd(['sync', ...TO])
    expect(service.count('uploadFile')).toBe(0)
    expect({ exitCode, stderr }).toEqual({ exitCode: 8, stderr: expect.stringMatching(/Papers.*--adopt/) })
  })

  test('sends each content once when told so', async () => {
    const { service, home } = await mirroredHome(10)
    rmSync(home.stateDir, { recursive: true })
    const { exitCode, mirror } = await home.sync([...TO, '--adopt'])
    expect({ exitCode, uploads: mirror.uploads }).toMatchObject({ exitCode: 0, uploads: { created: 0 } })
    expect(service.count('uploadFile')).toBe(mirror.uploads.duplicates)
    service.forget()
    expect((await home.sync(TO)).exitCode).toBe(0)
    expect(service.count('uploadFile')).toBe(0)
  })
})
