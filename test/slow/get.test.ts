import { execFileSync } from 'node:child_process'
import {
  chownSync,
  existsSync,
  lchownSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { configure } from '../support/daemon.ts'
import { expectExit, homeWithPapers, temporaryHome } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { needs } from '../support/needs.ts'

const tree = { 'a.md': 'one', 'sub/b.md': 'two', 'sub/deep/copy.md': 'one' }

/** All files below a directory with their text. */
function readBack(directory: string): Record<string, string> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = files.map(({ parentPath, name }) => join(parentPath, name))
  return Object.fromEntries(paths.sort().map((path) => [path.slice(directory.length + 1), readFileSync(path, 'utf8')]))
}

describe('get', () => {
  test('a mirror whose directory is lost is written back', async () => {
    const home = homeWithPapers(tree)
    await home.sync(['Papers'])
    rmSync(join(home.path, 'Papers'), { recursive: true })
    const { stdout } = expectExit(await home.shelfd(['get', 'Papers', '--to', 'back']), 0, '')
    expect(stdout).toContain('3 files, 9 B, written to')
    expect(readBack(join(home.path, 'back'))).toEqual({
      'Papers/a.md': 'one',
      'Papers/sub/b.md': 'two',
      'Papers/sub/deep/copy.md': 'one',
    })
  })

  test('a link to a mirror, or to a directory in it, stands for that in get, search and why', async () => {
    const home = homeWithPapers(tree)
    await home.sync(['Papers'])
    symlinkSync('Papers', join(home.path, 'link'))
    symlinkSync('Papers/sub', join(home.path, 'below'))
    symlinkSync('a.md', join(home.path, 'Papers', 'inner.md'))
    expectExit(await home.shelfd(['get', 'link', '--to', 'all']), 0, '')
    expectExit(await home.shelfd(['get', 'below', '--to', 'some']), 0, '')
    expect(Object.keys(readBack(join(home.path, 'all')))).toHaveLength(3)
    expect(Object.keys(readBack(join(home.path, 'some')))).toEqual(['sub/b.md', 'sub/deep/copy.md'])
    const found = await home.json(['search', 'two', '--in', 'link'])
    expect(found.results).toHaveLength(1)
    expectExit(await home.shelfd(['search', 'one', '--in', 'below']), 0, '')
    expect((await home.shelfd(['why', 'below'])).stdout).toContain('sub')
    // A link in the mirror is an entry of it.
    expect((await home.shelfd(['why', 'Papers/inner.md'])).stdout).toMatch(/inner\.md[\s\S]*symbolic link/)
  })

  test('a file that exists is never replaced, and one with the same bytes is left', async () => {
    const home = homeWithPapers(tree)
    await home.sync(['Papers'])
    home.write('back', { 'Papers/a.md': 'mine', 'Papers/sub/b.md': 'two' })
    const got = await home.json(['get', 'Papers', '--to', 'back'])
    expect(got).toMatchObject({ files: 1, bytes: 3, present: 1 })
    expect(got.problems).toEqual([{ path: 'Papers/a.md', message: expect.stringContaining('another file is at') }])
    expect(readBack(join(home.path, 'back', 'Papers'))).toMatchObject({ 'a.md': 'mine', 'sub/deep/copy.md': 'one' })
    expect(expectExit(await home.shelfd(['get', 'Papers', '--to', 'back']), 1, '').stdout).toMatch(/never replaced/)
  })

  test('a directory of another user is named where it is given, and takes nothing where it lies deeper [S-18]', async () => {
    needs('root')
    const home = homeWithPapers(tree)
    await home.sync(['Papers'])
    const shared = home.write('shared', { 'Papers/': '' })
    const elsewhere = home.write('elsewhere', {})
    symlinkSync(elsewhere, join(shared, 'Papers', 'sub'))
    lchownSync(join(shared, 'Papers', 'sub'), 65534, 65534)
    const { problems, files } = await home.json(['get', 'Papers', '--to', 'shared'])
    expect({ files, paths: problems.map(({ path }: { path: string }) => path).sort() }).toEqual({
      files: 1,
      paths: ['Papers/sub/b.md', 'Papers/sub/deep/copy.md'],
    })
    expect(readdirSync(elsewhere)).toEqual([])
    chownSync(shared, 65534, 65534)
    const said = 'Another user can change what is written to'
    expect((await home.shelfd(['get', 'Papers', '--to', 'shared'])).stderr).toContain(said)
    expectExit(await home.shelfd(['report', '--output', 'shared/report.txt']), 0, said)
  })

  test('a file is found by its name alone where no other file has it', async () => {
    const home = homeWithPapers({ ...tree, 'sub/deep/b.md': 'another' })
    await home.sync(['Papers'])
    expectExit(await home.shelfd(['get', 'copy.md', 'deep/b.md']), 0, '')
    expect(readFileSync(join(home.path, 'copy.md'), 'utf8')).toBe('one')
    expect(readFileSync(join(home.path, 'b.md'), 'utf8')).toBe('another')
    const several = /2 paths have that name; give one of these paths: \S+Papers\/sub\/b\.md \S+Papers\/sub\/deep\/b\.md/
    expectExit(await home.shelfd(['get', 'b.md']), 2, several)
    rmSync(join(home.path, 'b.md'))
    expectExit(await home.shelfd(['get', 'y.md']), 2, /nor a path in one.*shelfd search.*shelfd resource download ID/)
    rmSync(join(home.path, 'Papers', 'sub'), { recursive: true })
    await home.sync(['Papers', '--accept-removals'])
    expectExit(await home.shelfd(['get', 'sub/b.md', 'copy.md', '--to', 'back']), 0, '')
  })

  test('a file is found by each name that shelfd prints for it', async () => {
    const home = temporaryHome()
    const path = home.write('far/Papers', { 'notes.md': 'near', 'My notes.md': 'spaced', 'sub/notes.md': 'deep' })
    configure(home, { mirrors: [{ name: 'Papers', path, library: 'Papers', remotePath: '/shelf' }] })
    await home.sync([])
    const [near, spaced] = [{ 'notes.md': 'near' }, { 'My notes.md': 'spaced' }]
    for (const [word, found] of [
      ...['notes.md', 'Papers/notes.md', 'Papers:/shelf/notes.md'].map((name) => [name, near] as const),
      ...['/shelf/My notes.md', '/shelf/my-notes.md'].map((name) => [name, spaced] as const),
    ]) {
      expectExit(await home.shelfd(['get', word, '--to', 'back']), 0, '', word)
      expect(readBack(join(home.path, 'back')), word).toEqual(found)
      rmSync(join(home.path, 'back'), { recursive: true })
    }
  })

  test('a name that several mirrors have is refused with their paths', async () => {
    const home = temporaryHome()
    home.write('far', { 'Papers/notes.md': 'one', 'Letters/notes.md': 'two' })
    await home.sync(['far/Papers', 'far/Letters'])
    expectExit(await home.shelfd(['get', 'notes.md']), 2, /2 paths .*far\/Letters\/notes\.md \S+far\/Papers\/notes\.md/)
    expectExit(await home.shelfd(['get', '/Papers/notes.md']), 0, '')
    expect(readFileSync(join(home.path, 'notes.md'), 'utf8')).toBe('one')
  })

  test('what is gone from the disk is written back by its path, an earlier version by its resource', async () => {
    const home = homeWithPapers({ ...tree, 'a.md': 'first', 'sub/copy.md': 'two' })
    await home.sync(['Papers'])
    rmSync(join(home.path, 'Papers', 'sub'), { recursive: true })
    writeFileSync(join(home.path, 'Papers', 'a.md'), 'changed')
    await home.sync(['Papers', '--accept-removals'])
    expectExit(await home.shelfd(['get', 'Papers/sub', '--to', 'back']), 0, '')
    expect(readBack(join(home.path, 'back'))).toEqual({
      'sub/b.md': 'two',
      'sub/copy.md': 'two',
      'sub/deep/copy.md': 'one',
    })
    expectExit(await home.shelfd(['get', 'Papers/sub/copy.md', 'Papers/a.md']), 0, '')
    expect(readFileSync(join(home.path, 'copy.md'), 'utf8')).toBe('two')
    expect(readFileSync(join(home.path, 'a.md'), 'utf8')).toBe('changed')
    const { earlierVersions } = await home.json(['why', 'Papers/a.md'])
    expectExit(await home.shelfd(['get', earlierVersions[0].resourceId, '--to', 'earlier']), 0, '')
    expect(readFileSync(join(home.path, 'earlier', 'a.md'), 'utf8')).toBe('first')
  })

  test('other bytes than were sent are not written, and one bad file stops no good one', async () => {
    const { service, home } = await homeOnService({ 'a.md': 'one', 'b.md': 'two', 'c.md': 'three' })
    await home.sync(['Papers', '--to', 'Research'])
    service.answer = ({ route }) =>
      route === 'downloadResource'
        ? { status: 200, body: 'two', headers: { 'content-type': 'text/markdown' } }
        : undefined
    const outcome = expectExit(await home.shelfd(['get', 'Papers', '--to', 'back']), 1, '')
    expect(outcome.stdout.match(/other bytes than were sent/g)).toHaveLength(2)
    expect(readBack(join(home.path, 'back'))).toEqual({ 'Papers/b.md': 'two' })
  })

  test('two files of one place are refused before anything is written, and what is named twice is written once', async () => {
    const home = homeWithPapers({ 'a/notes.md': 'one', 'b/notes.md': 'two' })
    await home.sync(['Papers'])
    expectExit(
      await home.shelfd(['get', 'Papers/a/notes.md', 'Papers/b/notes.md', '--to', 'back']),
      2,
      /two directories/,
    )
    expect(existsSync(join(home.path, 'back'))).toBe(false)
    expect(await home.json(['get', 'Papers/a/notes.md', 'Papers/a/notes.md', '--to', 'back'])).toMatchObject({
      files: 1,
    })
  })

  test('files with the longest names are written back', async () => {
    const [longest, almost] = [`${'n'.repeat(252)}.md`, `${'m'.repeat(241)}.md`]
    const home = homeWithPapers({ [longest]: 'one', [almost]: 'two', 'c.md': 'three' })
    await home.sync(['Papers'])
    expectExit(await home.shelfd(['get', 'Papers', '--to', 'back']), 0, '')
    expect(readBack(join(home.path, 'back', 'Papers'))).toEqual({ [longest]: 'one', [almost]: 'two', 'c.md': 'three' })
    expectExit(await home.shelfd(['report', '--output', longest]), 0, '')
    expect(readFileSync(join(home.path, longest), 'utf8')).toContain('in-sync')
  })

  test('a target that can be no directory is refused in one line', async () => {
    const { service, home } = await homeOnService({ 'a.md': 'one', 'b.md': 'two' })
    await home.sync(['Papers', '--to', 'Research'])
    const says = /^shelfd: Cannot write to "\/[^\n]+\n\s*shelfd get --help[^\n]+\n$/
    for (const target of ['/dev/null', '/dev/null/x', '/proc/x/y'])
      expect(expectExit(await home.shelfd(['get', 'Papers', '--to', target]), 2, says, target).stdout).toBe('')
    expect(service.count('downloadResource')).toBe(0)
  })

  test('what cannot be created below the target is a problem of its file', async () => {
    const home = homeWithPapers(tree)
    await home.sync(['Papers'])
    home.write('back', { 'Papers/sub/deep': 'a file', 'Papers/a.md/x': 'a directory' })
    execFileSync('mkfifo', [join(home.path, 'back/Papers/sub/b.md')])
    const { problems } = await home.json(['get', 'Papers', '--to', 'back'])
    expect(problems.map(({ message }: { message: string }) => message).sort()).toEqual([
      expect.stringMatching(/^Cannot write ".*\/Papers\/a\.md": EISDIR/),
      expect.stringMatching(/^Cannot write ".*\/Papers\/sub\/b\.md": a device, a pipe or a socket is there/),
      expect.stringMatching(/^Cannot write ".*\/Papers\/sub\/deep\/copy\.md": there is no directory/),
    ])
  })

  test('words that name nothing are explained', async () => {
    const home = homeWithPapers(tree)
    expectExit(await home.shelfd(['get', 'Papers']), 2, /Nothing was mirrored yet/)
    await home.sync(['Papers'])
    expectExit(await home.shelfd(['get', 'Papers/none.md']), 2, /the state has no file there/)
    expectExit(await home.shelfd(['get', '12ab']), 2, /neither a mirror, nor a path in one, nor a resource/)
    expect(existsSync(join(home.path, 'none.md'))).toBe(false)
  })
})
