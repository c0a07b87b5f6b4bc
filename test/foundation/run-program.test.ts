import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  lchownSync,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { describeFailure, type ProgramCall, runProgram } from '../../src/foundation/run-program.ts'
import { needs } from '../support/needs.ts'
import { isRunning } from '../support/reader-processes.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const onUnix = test.skipIf(process.platform === 'win32')
const env = { PATH: process.env.PATH, SHELFD_TOKEN: 'canary' }

/** Runs a script of the shell; `$1` is a directory for what it leaves. */
function shell(script: string, { directory = '/', ...more }: Partial<ProgramCall> & { directory?: string } = {}) {
  return runProgram({ program: 'sh', args: ['-c', script, 'sh', directory], env, ...more })
}

async function failureOf(call: Partial<ProgramCall> & { program: string }): Promise<string | undefined> {
  const whole = { args: [], env, ...call }
  const { failure } = await runProgram(whole)
  return failure && describeFailure(whole, failure)
}

/** A program and a child of it that both go on for ever, and both ignore SIGTERM when `ignores` says so. */
const endless = (ignores: boolean) =>
  `${ignores ? "trap '' TERM; " : ''}(echo "$(exec sh -c 'echo $PPID')" > "$1/child.part"; mv "$1/child.part" "$1/child"; while :; do sleep 60; done) & wait; while :; do sleep 60; done`

describe('what a program did', () => {
  onUnix('its output and exit code come back, and it gets no token', async () => {
    expect(await shell('cat; printf "%s" "$SHELFD_TOKEN"', { input: 'abc', maxStdoutBytes: 3 })).toMatchObject({
      failure: undefined,
      stdout: Buffer.from('abc'),
    })
    const { failure, printed } = await shell('echo one; echo two >&2; exit 3')
    expect(failure).toEqual({ kind: 'exited', exitCode: 3 })
    expect(printed.split('\n').sort()).toEqual(['', 'one', 'two'])
    expect((await shell('kill -9 $$')).failure).toEqual({ kind: 'killed', signal: 'SIGKILL' })
  })

  onUnix('output beyond its bound ends the program, and without one only the end is kept', async () => {
    expect((await shell('yes', { maxStdoutBytes: 1_000 })).failure).toEqual({ kind: 'output' })
    const { failure, printed } = await shell('yes | head -c 3000000; echo end')
    expect({ failure, length: printed.length, end: printed.endsWith('y\nend\n') }).toEqual({
      failure: undefined,
      length: 2_000,
      end: true,
    })
  })

  onUnix('lines are shown as they come, the last one without its end as well', async () => {
    const lines: string[] = []
    await shell('printf "a\\nb"', { onLine: (line) => lines.push(line) })
    expect(lines).toEqual(['a', 'b'])
  })

  onUnix('a program that ended well leaves what it started alone, and is not waited for', async () => {
    const directory = temporaryDirectory()
    const { failure, stdout } = await shell('(sleep 600 & echo $! > "$1/child"); echo done', {
      directory,
      maxStdoutBytes: 100,
    })
    expect({ failure, text: stdout.toString() }).toEqual({ failure: undefined, text: 'done\n' })
    expect(isRunning(readFileSync(join(directory, 'child'), 'utf8').trim())).toBe(true)
    process.kill(Number(readFileSync(join(directory, 'child'), 'utf8')))
  })
})

describe('a program that does not end', () => {
  onUnix.each([
    ['SIGTERM', false],
    ['SIGKILL where that is ignored', true],
  ])('it and what it started end by %s [F-PR-21]', async (_, ignores) => {
    const directory = temporaryDirectory()
    const stop = new AbortController()
    const running = shell(endless(ignores), { directory, signal: stop.signal })
    await expect.poll(() => existsSync(join(directory, 'child')), { timeout: 30_000 }).toBe(true)
    expect(isRunning(readFileSync(join(directory, 'child'), 'utf8').trim())).toBe(true)
    stop.abort()
    expect((await running).failure).toEqual({ kind: 'stopped' })
    const child = readFileSync(join(directory, 'child'), 'utf8').trim()
    await expect.poll(() => isRunning(child), { timeout: 30_000 }).toBe(false)
  })

  onUnix('it has failed at its deadline', async () => {
    expect(await failureOf({ program: 'sleep', args: ['600'], timeoutMs: 100 })).toBe(
      '"sleep" did not end within 100 ms',
    )
    expect((await shell('sleep 600', { signal: AbortSignal.abort() })).failure).toEqual({ kind: 'stopped' })
  })
})

describe('a program that cannot be started', () => {
  onUnix('what the system answers is a failure of that program [F-PR-21]', async () => {
    const directory = temporaryDirectory({ text: 'no program', script: '#!/no/such/interpreter\n', file: '' })
    const at = (name: string) => join(directory, name)
    symlinkSync('loop', at('loop'))
    chmodSync(at('script'), 0o755)
    copyFileSync('/bin/true', at('busy'))
    chmodSync(at('busy'), 0o755)
    const held = openSync(at('busy'), 'r+')
    const failures = await Promise.all([
      failureOf({ program: at('busy') }),
      failureOf({ program: at('loop') }),
      failureOf({ program: at('text') }),
      failureOf({ program: at('script') }),
      failureOf({ program: directory }),
      failureOf({ program: 'true', args: ['x'.repeat(3_000_000)] }),
      failureOf({ program: 'true', args: ['a\0b'] }),
    ])
    closeSync(held)
    expect(failures.map((failure) => failure?.replaceAll(directory, ''))).toEqual([
      '"/busy" cannot be run (ETXTBSY)',
      '"/loop" cannot be run (ELOOP)',
      '"/text" cannot be run (EACCES)',
      '"/script" cannot be run (its interpreter is missing)',
      '"" cannot be run (EACCES)',
      '"true" cannot be run (E2BIG)',
      '"true" cannot be run (ERR_INVALID_ARG_VALUE)',
    ])
  })

  onUnix('a missing program is missing, also where the PATH holds what cannot be searched', async () => {
    const directory = temporaryDirectory({ file: '', 'bin/held': '' })
    mkdirSync(join(directory, 'shut'))
    const PATH = ['', '.', join(directory, 'file'), join(directory, 'shut'), '/proc/1/root/nowhere', '/nowhere'].join(
      ':',
    )
    writeFileSync(join(directory, 'shut', 'other'), '')
    chmodSync(join(directory, 'shut'), 0)
    onTestFinished(() => chmodSync(join(directory, 'shut'), 0o700))
    expect(await failureOf({ program: 'no-such-program', env: { PATH } })).toBe('there is no program "no-such-program"')
    expect(await failureOf({ program: '/nowhere/x' })).toBe('there is no program "/nowhere/x"')
    expect(await failureOf({ program: join(directory, 'file', 'x') })).toMatch(/^there is no program/)
    const bin = { PATH: `${PATH}:${join(directory, 'bin')}` }
    expect(await failureOf({ program: 'held', env: bin })).toBe('"held" cannot be run (EACCES)')
  })
})

describe('a program that others could exchange', () => {
  onUnix('it is not run, by its path, by a link or by the PATH [S-06]', async () => {
    const directory = temporaryDirectory({ 'shared/bin/tool': '#!/bin/sh\n', 'own/tool': '#!/bin/sh\n' })
    const at = (name: string) => join(directory, name)
    for (const name of ['shared/bin/tool', 'own/tool']) chmodSync(at(name), 0o755)
    symlinkSync(at('shared/bin/tool'), at('link'))
    const tries = () =>
      Promise.all([
        failureOf({ program: at('shared/bin/tool') }),
        failureOf({ program: at('link') }),
        failureOf({ program: 'tool', env: { PATH: `${at('shared/bin')}:/bin:/usr/bin` } }),
        failureOf({ program: at('own/tool') }),
      ])
    const refused = (file: string, place: string) =>
      `Cannot run "${at(file)}": it is reached through "${at(place)}", and others can write it (mode 0777); run: chmod go-w "${at(place)}"`
    for (const place of ['shared/bin', 'shared']) {
      chmodSync(at(place), 0o777)
      expect(await tries()).toEqual([
        refused('shared/bin/tool', place),
        refused('link', place),
        refused('shared/bin/tool', place),
        undefined,
      ])
      chmodSync(at(place), 0o1777)
      expect(await tries(), 'nobody can exchange what another user has there').toEqual([
        undefined,
        undefined,
        undefined,
        undefined,
      ])
    }
    chmodSync(at('own/tool'), 0o775)
    if (process.getuid?.() === 0) expect((await tries())[3]).toContain(': others can write it (mode 0775)')
  })

  onUnix('it is not run over a link of another user [S-06]', async () => {
    needs('root')
    const directory = temporaryDirectory()
    symlinkSync('/bin/true', join(directory, 'link'))
    lchownSync(join(directory, 'link'), 65534, 65534)
    expect(await failureOf({ program: join(directory, 'link') })).toContain(': it belongs to user 65534')
  })
})
