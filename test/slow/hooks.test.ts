/** Commands before and after a run: here they bring the directory of a mirror into its place, and take it away again. */
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { configure, isIdle, startDaemon } from '../support/daemon.ts'
import { expectExit, type Home, temporaryHome } from '../support/home.ts'

const BRING = 'mv "$HOME/away" "$SHELFD_MIRROR_PATH"'
const TAKE = 'env | grep ^SHELFD_ | sort > "$HOME/variables"; mv "$SHELFD_MIRROR_PATH" "$HOME/away"'

interface Scripts {
  readonly before?: string
  readonly after?: string
  readonly timeout?: string
}

/** A home whose mirror lies in `away` but for the time between the two commands, beside a mirror without any. */
function homeWithHooks({ before = BRING, after = TAKE, timeout = '1m' }: Scripts = {}) {
  const home = temporaryHome()
  home.write('away', { 'a.md': 'A heron waits.' })
  setScripts(home, { before, after })
  const other = home.write('Other', { 'b.md': 'b' })
  const hooks = { before: [join(home.path, 'before'), 'x y'], after: [join(home.path, 'after')], timeout }
  configure(home, {
    mirrors: [
      // A command moves the file, so that it seems to have just changed; the next run would come a minute later.
      { name: 'papers', path: join(home.path, 'Papers'), library: 'Papers', watch: false, settle: '0s', hooks },
      { name: 'other', path: other, library: 'Other' },
    ],
  })
  return home
}

function setScripts(home: Home, scripts: Scripts): void {
  for (const [name, script] of Object.entries(scripts)) {
    const file = join(home.path, name)
    writeFileSync(file, `#!/bin/sh\n${script}\n`)
    chmodSync(file, 0o755)
  }
}

const variablesOf = (home: Home) => readFileSync(join(home.path, 'variables'), 'utf8')

describe('commands before and after a run', () => {
  test('a directory that only the commands bring is mirrored, run after run', async () => {
    const home = homeWithHooks()
    const { exitCode, mirror } = await home.sync(['papers'], { SHELFD_TOKEN: 'canary' })
    expect({ exitCode, created: mirror.uploads.created }).toEqual({ exitCode: 0, created: 1 })
    expect([existsSync(join(home.path, 'Papers')), existsSync(join(home.path, 'away'))]).toEqual([false, true])
    const variables = variablesOf(home)
    expect(variables).toContain('SHELFD_HOOK=after\n')
    expect(variables).toContain('SHELFD_SENT=1\n')
    expect(variables).toContain('SHELFD_VERDICT=ok\n')
    expect(variables).not.toContain('canary')
    expect((await home.sync([])).exitCode).toBe(0)
    expect((await home.shelfd(['sync', '-n', 'papers'])).exitCode).toBe(0)
    expect(variablesOf(home)).toContain('SHELFD_DRY_RUN=1\n')
  })

  test('a failed command before a run keeps its mirror from being scanned, and no other [P11]', async () => {
    const home = homeWithHooks()
    expect((await home.sync([])).exitCode).toBe(0)
    setScripts(home, { before: 'mkdir "$SHELFD_MIRROR_PATH"; echo "no such disk" >&2; exit 4', after: TAKE })
    home.write('Other', { 'c.md': 'c' })
    const { exitCode, summary } = await home.sync([])
    expect(exitCode).toBe(3)
    const [papers, other] = summary.mirrors
    const message = `Cannot begin with the mirror "papers": the command "${home.path}/before" exited with 4: no such disk`
    expect(papers).toMatchObject({ files: { removed: 0 }, problems: [{ path: '', code: 'hook-failed', message }] })
    expect(other?.uploads.created).toBe(1)
    expect(variablesOf(home)).toContain('SHELFD_VERDICT=failed\n')
    expect((await home.json(['status'])).mirrors[1].files.known).toBe(1)
  })

  test('commands that cannot be started fail their mirror alone, before and after its run [F-PR-21]', async () => {
    const home = homeWithHooks()
    const busy = join(home.path, 'busy')
    copyFileSync('/bin/true', busy)
    const held = openSync(busy, 'r+')
    const [first = '', second = '', third = ''] = ['One', 'Two', 'Three'].map((name) =>
      home.write(name, { [`${name}.md`]: name }),
    )
    symlinkSync('loop', join(home.path, 'loop'))
    configure(home, {
      mirrors: [
        { path: first, library: 'One', hooks: { before: [busy] } },
        { path: second, library: 'Two', hooks: { before: [join(home.path, 'loop')] } },
        { path: third, library: 'Three', hooks: { after: ['/etc/passwd/x'] } },
        { path: join(home.path, 'Other'), library: 'Other' },
      ],
    })
    const { exitCode, summary } = await home.sync([])
    closeSync(held)
    const messages = summary.mirrors.map(({ problems }) => problems.map(({ message }) => message))
    expect(messages).toEqual([
      [`Cannot begin with the mirror "One": the command "${busy}" cannot be run (ETXTBSY)`],
      [`Cannot begin with the mirror "Two": the command "${home.path}/loop" cannot be run (ELOOP)`],
      ['after the run of the mirror "Three": the command "/etc/passwd/x" does not exist'],
      [],
    ])
    expect({ exitCode, created: summary.mirrors.map(({ uploads }) => uploads.created) }).toEqual({
      exitCode: 3,
      created: [0, 0, 1, 1],
    })
  })

  test('a failed command after a run is named, and the run exits 1', async () => {
    const home = homeWithHooks({ after: `${TAKE}; echo busy; exit 32` })
    const ended = await home.shelfd(['sync', 'papers'])
    expect(ended.exitCode).toBe(1)
    expect(`${ended.stdout}${ended.stderr}`).toContain(`the command "${home.path}/after" exited with 32: busy`)
    setScripts(home, { before: 'exit 5' })
    expect((await home.sync(['papers'])).exitCode).toBe(3)
    expect((await home.json(['status'])).mirrors[0].lastRun.failure.message, 'what stopped the run').toMatch(/before/)
  })

  test.each([
    ['does not end in time', { before: 'sleep 60 & wait', timeout: '300ms' }, 'did not end within 300 ms'],
    ['prints without end', { before: 'yes | head -c 3000000; exit 1' }, 'exited with 1: y'],
  ])('a command that %s is stopped and named', async (_, scripts, message) => {
    const home = homeWithHooks(scripts)
    expectExit(await home.shelfd(['sync', 'papers']), 3, message)
  })

  test('a command that others can change is not begun with [S-06]', async () => {
    const home = homeWithHooks()
    chmodSync(join(home.path, 'before'), 0o777)
    expectExit(await home.shelfd(['sync', 'papers']), 3, 'Cannot run')
    expect(existsSync(join(home.path, 'away'))).toBe(true)
  })

  test('config check names programs that cannot be run here, by their keys', async () => {
    const home = homeWithHooks({ before: 'true', after: 'true' })
    const check = async () => (await home.shelfd(['config', 'check'])).stdout
    expect(await check()).toMatch(/: in order; 2 mirrors into the library on this computer\n$/)
    const papers = join(home.path, 'Other')
    const own = { before: [join(home.path, 'gone')], after: ['nosuch-program', 'x y'] }
    configure(home, {
      hooks: { before: ['sh', '-c', 'exit 1'], after: [papers] },
      mirrors: [{ path: papers, hooks: own }],
    })
    const { exitCode, stdout } = await home.shelfd(['config', 'check'])
    expect(exitCode).toBe(0)
    expect(stdout.split('\n').slice(1)).toEqual([
      `  ! hooks.after: the command "${papers}" is not a program that this user may run`,
      `  ! mirrors.Other.hooks.before: the command "${home.path}/gone" does not exist`,
      '  ! mirrors.Other.hooks.after: the command "nosuch-program" is in no directory of the PATH here',
      '',
    ])
    expect((await home.json(['config', 'check'])).warnings[1].key).toBe('mirrors.Other.hooks.before')
    chmodSync(join(home.path, 'before'), 0o777)
    configure(home, { hooks: { before: [join(home.path, 'before')] } })
    expect(await check()).toMatch(/^ {2}! hooks.before: .*Cannot run/m)
  })

  test('the arguments of commands are shown nowhere', async () => {
    const { stdout } = await homeWithHooks().shelfd(['config', 'show'])
    expect(stdout).toContain('/before …, not shown in full')
    expect(stdout).not.toContain('x y')
  })

  test('the daemon runs them around each scan, and halts the mirror when one fails', async () => {
    const home = homeWithHooks()
    const daemon = await startDaemon(home)
    // The last command writes the variables first, and takes the directory away then.
    const isAfter = () => ['variables', 'away'].every((name) => existsSync(join(home.path, name)))
    await daemon.until('sent', (status) => isIdle(status) && isAfter())
    expect((await home.json(['status'])).mirrors[1].files).toMatchObject({ known: 1, searchable: 1 })
    expect(variablesOf(home)).toContain('SHELFD_SENT=1\n')
    setScripts(home, { before: 'exit 1' })
    await daemon.stop()
    const again = await startDaemon(home)
    const status = await again.until('halted', ({ mirrors }) => mirrors.some(({ state }) => state === 'halted'))
    expect(status.mirrors.find(({ name }) => name === 'papers')?.reason?.code).toBe('hook-failed')
    expect((await home.json(['status'])).mirrors[1].files.known).toBe(1)
  })
})
