/** What surrounds a process and may be broken: its output, its directory, its locale, its limit of open files. */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { expectExit, type Home, homeWithPapers } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { mount } from '../support/mounted-disk.ts'
import { needs } from '../support/needs.ts'
import { runShelfd } from '../support/run-shelfd.ts'

const STACK = /\n\s+at /
const SHELL = ['sh', '-c']

/** Runs it under a shell that first does `before`, such as a redirection. */
function runAfter(home: Home, before: string, args: readonly string[]) {
  return runShelfd(args, { env: home.env, cwd: home.path, launcher: [...SHELL, `${before}; exec "$@"`, 'sh'] }).ended
}

async function mirroredHome(): Promise<Home> {
  const home = homeWithPapers({ 'a.md': 'A' })
  expect((await home.shelfd(['sync', 'Papers'])).exitCode).toBe(0)
  return home
}

describe.runIf(existsSync('/dev/full'))('a full output', () => {
  test('a full standard output is one line and exit 1 [F-PR-17]', async () => {
    const home = await mirroredHome()
    for (const args of [
      ['status'],
      ['report'],
      ['report', '--format', 'json'],
      ['sync', '--json', 'Papers'],
      ['--help'],
    ]) {
      const { stderr } = expectExit(
        await runAfter(home, 'exec >/dev/full', args),
        1,
        /^shelfd: Cannot write to standard output: ENOSPC: .*$/m,
        String(args),
      )
      expect(stderr).not.toMatch(STACK)
    }
  })

  test('messages that nobody can read end no run', async () => {
    const home = await mirroredHome()
    home.write('Papers', { 'b.md': 'B' })
    const { exitCode, stdout } = await runAfter(home, 'exec 2>/dev/full', ['sync', '-v', '--json', 'Papers'])
    expect({ exitCode, ...JSON.parse(stdout) }).toMatchObject({ exitCode: 0, verdict: 'ok' })
  })
})

describe('the file of a report', () => {
  test('a report on a full disk is one line and leaves nothing', async () => {
    const home = await mirroredHome()
    const disk = join(home.path, 'disk')
    mount(['-t', 'tmpfs', '-o', 'size=4k,mode=0700', 'tmpfs'], disk)
    home.write('disk', { filler: 'x'.repeat(4_096) })
    expectExit(
      await home.run(['report', '--output', join(disk, 'report.txt')]),
      1,
      /^shelfd: Cannot write .*ENOSPC.*\n$/,
    )
    expect(readdirSync(disk)).toEqual(['filler'])
  })

  test('a report goes into a pipe or a device, and does not replace it', async () => {
    const home = await mirroredHome()
    const pipe = join(home.path, 'pipe')
    execFileSync('mkfifo', [pipe])
    const reader = spawn('cat', [pipe], { stdio: ['ignore', 'pipe', 'ignore'] })
    const [{ exitCode }, written] = await Promise.all([home.run(['report', '--output', pipe]), text(reader.stdout)])
    expect(exitCode).toBe(0)
    expect(written).toContain('1 in-sync')
    expect(lstatSync(pipe).isFIFO()).toBe(true)
  })

  test('a report on a full device says so', async () => {
    needs('devices')
    const home = await mirroredHome()
    const device = join(home.path, 'full')
    execFileSync('mknod', [device, 'c', '1', '7'])
    expectExit(await home.run(['report', '--output', device]), 1, /^shelfd: Cannot write .*ENOSPC.*\n$/)
    expect(lstatSync(device).isCharacterDevice()).toBe(true)
  })
})

test('a working directory that is gone is named without a stack [F-PR-17]', async () => {
  const home = await mirroredHome()
  const before = 'mkdir gone && cd gone && rmdir ../gone'
  for (const args of [['status'], ['sync', 'Papers'], ['daemon']]) {
    const { stderr } = expectExit(
      await runAfter(home, before, args),
      2,
      /^shelfd: Cannot find the working directory, which was removed/,
      String(args),
    )
    expect(stderr).not.toMatch(STACK)
  }
  expect(await runAfter(home, before, ['--help'])).toMatchObject({ exitCode: 0 })
})

test('a locale that no system knows changes nothing [F-PR-17]', async () => {
  // Processes that open no library of their own start in a third of the time.
  const { home } = await homeOnService({ 'a.md': 'A' })
  expect((await home.shelfd(['sync', 'Papers', '--to', 'Research'])).exitCode).toBe(0)
  const locales = ['nonsense', 'xx_YY.UTF-8@@', 'en_'.repeat(30)]
  const commands = [['status'], ['search', 'A'], ['report'], ['why', 'Papers/a.md'], ['sync', 'Papers'], ['history']]
  for (const [index, args] of commands.entries()) {
    const locale = locales[index % locales.length] ?? ''
    const { exitCode, stdout, stderr } = await home.run(args, { LC_ALL: locale, LANG: locale })
    expect({ locale, args, exitCode, stderr }).toMatchObject({ locale, args, exitCode: 0 })
    expect(stdout + stderr).not.toMatch(/icu error/i)
  }
})

test('a lack of descriptors at start is exit 78 without a stack [F-PR-17]', async () => {
  const home = await mirroredHome()
  const seen = new Set<number | null>()
  // With fewer, Node itself does not start; how many it needs differs.
  for (let limit = 40; limit > 12; limit -= 2) {
    const { exitCode, stderr } = await runAfter(home, `ulimit -n ${limit}`, ['status'])
    if (!/shelfd: /.test(stderr) && exitCode !== 0) break
    seen.add(exitCode)
    expect({ limit, stderr }).toEqual({ limit, stderr: expect.not.stringMatching(STACK) })
  }
  expect([...seen]).toEqual([0, 78])
})
