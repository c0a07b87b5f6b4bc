import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { SharedMount } from '../../../src/local/read/shared-mount.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const LIMIT_MS = 200

/** A mount whose thread opens a pipe that nobody writes to: that call does not return before `release`. */
async function stuckMount() {
  const directory = temporaryDirectory()
  const pipe = join(directory, 'pipe')
  execFileSync('mkfifo', [pipe])
  const mount = new SharedMount(directory, LIMIT_MS)
  onTestFinished(() => mount.end())
  await mount.answers()
  const opening = () => mount.call('openSync', pipe, constants.O_RDONLY)
  let writer: number | undefined
  const release = () => {
    writer ??= openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)
  }
  onTestFinished(() => {
    release()
    if (writer !== undefined) closeSync(writer)
  })
  return { mount, directory, pipe, opening, release }
}

function countOpen(path: string): number {
  return readdirSync('/proc/self/fd').filter((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`) === path
    } catch {
      return false
    }
  }).length
}

test('a call that is not answered fails when its time is over, and every other at once [F-FS-31]', async () => {
  const { mount, directory, opening } = await stuckMount()
  const startMs = performance.now()
  expect(opening).toThrow(expect.objectContaining({ code: 'ETIMEDOUT' }))
  const waitedMs = performance.now() - startMs
  expect(waitedMs).toBeGreaterThanOrEqual(LIMIT_MS - 1)
  expect(() => mount.call('lstatSync', directory)).toThrow(expect.objectContaining({ code: 'ETIMEDOUT' }))
  expect(mount.hasAnswered).toBe(false)
})

test.runIf(process.platform === 'linux')(
  'a mount that answers again is used again, and what a late call opened is closed [F-FS-31]',
  async () => {
    const { mount, directory, pipe, opening, release } = await stuckMount()
    expect(opening).toThrow('ETIMEDOUT')
    release()
    await mount.answers()
    expect(mount.call<string[]>('readdirSync', directory)).toEqual(['pipe'])
    // The thread closes before it answers this.
    mount.call('lstatSync', directory)
    expect(countOpen(pipe)).toBe(1)
  },
)

test('a mount is asked once at a time, and a second question fails at once [F-FS-31]', async () => {
  const { mount, opening, release } = await stuckMount()
  expect(opening).toThrow('ETIMEDOUT')
  await expect(mount.assertAnswers()).rejects.toMatchObject({ code: 'ETIMEDOUT' })
  await expect(mount.answers()).rejects.toMatchObject({ code: 'ETIMEDOUT' })
  release()
  await expect
    .poll(() =>
      mount.answers().then(
        () => 'answers',
        () => 'silent',
      ),
    )
    .toBe('answers')
})

test('errors of the system come as they are', () => {
  const directory = temporaryDirectory()
  const mount = new SharedMount(directory)
  onTestFinished(() => mount.end())
  const gone = join(directory, 'gone')
  expect(() => mount.call('statSync', gone)).toThrow(expect.objectContaining({ code: 'ENOENT', path: gone }))
})

test('a file is read by descriptors that the thread has opened', async () => {
  const directory = temporaryDirectory()
  const mount = new SharedMount(directory)
  onTestFinished(() => mount.end())
  writeFileSync(join(directory, 'a'), 'potoroo')
  const descriptor: number = mount.call('openSync', join(directory, 'a'), constants.O_RDONLY)
  const bytes = await mount.read(descriptor, 100, 3)
  expect(Buffer.from(bytes).toString()).toBe('oroo')
  mount.close(descriptor)
})

test('a thread that fails ends nothing but its calls, and another one takes its place [F-FS-31]', async () => {
  const directory = temporaryDirectory()
  writeFileSync(join(directory, 'a'), 'potoroo')
  const mount = new SharedMount(directory, 5 * LIMIT_MS)
  onTestFinished(() => mount.end())
  await expect.poll(() => mount.answers()).toBeUndefined()
  const descriptor: number = mount.call('openSync', join(directory, 'a'), constants.O_RDONLY)
  // A watcher cannot be passed to another thread, which ends its thread by an error, as too little memory does.
  expect(() => mount.call('watch' as 'openSync', directory)).toThrow('ETIMEDOUT')
  await expect.poll(() => mount.answers().then(() => mount.call('readdirSync', directory))).toEqual(['a'])
  expect(Buffer.from(await mount.read(descriptor, 100, 0)).toString()).toBe('potoroo')
  mount.close(descriptor)
})
