/** Mirrors are added and their rules edited by calls of the dashboard, which write the configuration file. */
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { serveDashboard, signIn } from '../dashboard/dashboard-client.ts'
import { isIdle, startDaemon } from '../support/daemon.ts'
import { expectExit, type Home, homeWithPapers } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { mount } from '../support/mounted-disk.ts'

const PAPERS = {
  'a.md': 'A kestrel hovers.',
  'b.bak': 'An old one.',
  'drafts/c.md': 'A draft.',
  'drafts/deep/d.md': 'Another draft.',
  'kept/.shelfdignore': 'x.md\n',
  'kept/x.md': 'Left out by its directory.',
}

const CONFIG = `# Mine.
mirrors:
  - name: papers # the first
    path: ./Papers
    library: Papers
    ignore:
      # copies
      - "*.bak" # of the editor
      - \${HOME}/nothing
    settle: 0s
    # schedule: "0 2 * * *"

# Costs.
limits: { newPerRun: 100 } # few
`

function configured(config = CONFIG) {
  const home = homeWithPapers(PAPERS)
  home.write('.', { 'config/shelfd/config.yaml': config.replace('./Papers', join(home.path, 'Papers')) })
  const file = fileOf(home)
  return { home, file, before: readFileSync(file, 'utf8') }
}

const fileOf = (home: Home) => join(home.path, 'config', 'shelfd', 'config.yaml')

const PLAIN = { name: '', library: '' }

test('the rules of a mirror are previewed, and written with the comments kept [S-27]', async () => {
  const { home, file, before } = configured()
  chmodSync(file, 0o640)
  await home.sync([])
  const { call } = await serveDashboard(home)
  const { ignore, revision, ...target } = await call('rules', { mirror: 'papers' })
  expect([ignore, target]).toEqual([['*.bak', `${home.path}/nothing`], { file }])

  const wanted = ['/drafts/', `${home.path}/nothing`, '*.old']
  expect(await call('rulesEffect', { mirror: 'papers', ignore: wanted })).toEqual({
    files: 2,
    bytes: 28,
    leaving: { count: 2, first: ['drafts/c.md', 'drafts/deep/d.md'] },
    coming: { count: 1, first: ['b.bak'] },
    isWhole: true,
  })
  expect(readFileSync(file, 'utf8'), 'a preview writes nothing').toBe(before)
  const { message } = await call('saveRules', { mirror: 'papers', revision, ignore: wanted })
  expect(message).toBe(`Written to ${file}. No daemon runs, so it takes effect with the next sync.`)
  expect(readFileSync(file, 'utf8')).toBe(
    before
      .replace('- "*.bak" # of the editor', '- /drafts/')
      .replace(`- \${HOME}/nothing\n`, `- \${HOME}/nothing\n      - "*.old"\n`),
  )
  expect(statSync(file).mode & 0o777).toBe(0o640)

  await call('sync', { names: ['papers'] })
  const rows = { mirror: 'papers', classes: [], text: '', below: '', offset: 0 } as const
  const shown = async () => Object.fromEntries((await call('rows', rows)).rows.map((row) => [row.path, row.class]))
  await expect.poll(shown, { timeout: 30_000 }).toMatchObject({ 'a.md': 'in-sync', 'b.bak': 'in-sync' })
  const { fields } = await call('why', { mirror: 'papers', path: 'drafts/c.md' })
  expect(Object.fromEntries(fields)).toMatchObject({
    'on disk': expect.stringContaining('ignored by the rule "/drafts/"'),
  })
})

test('what was changed meanwhile is not overwritten', async () => {
  const { home, file, before } = configured()
  const { call } = await serveDashboard(home)
  const { revision } = await call('rules', { mirror: 'papers' })
  const change = { mirror: 'papers', revision, ignore: [] }
  writeFileSync(file, `${before}# by hand\n`)
  await expect(call('saveRules', change)).rejects.toThrow(`\\"${file}\\" was changed meanwhile, so nothing was written`)
  await expect(
    call('addMirror', { ...PLAIN, path: home.write('Notes', {}), revision, mayCreateLibrary: true }),
  ).rejects.toThrow('was changed meanwhile')
  expect(readFileSync(file, 'utf8')).toBe(`${before}# by hand\n`)
  writeFileSync(file, before.replace('limits:', 'limit:'))
  await expect(call('rules', { mirror: 'papers' })).rejects.toThrow(/config\.yaml:\d+: unknown key/)
  writeFileSync(file, before)
  await expect(call('rules', { mirror: 'other' })).rejects.toThrow('does not name the mirror')
})

test('a file that cannot be written is named before anything is typed, and no library is made', async () => {
  const { home, file } = configured()
  home.write('Notes', { 'n.md': 'A note.' })
  const { call } = await serveDashboard(home)
  const { revision } = await call('newMirror', {})
  using _disk = mount(['-o', 'bind,ro', dirname(file)], dirname(file))
  const why = `Cannot write \\"${file}\\": its directory is not writable for shelfd (EROFS); edit the file yourself`
  await expect(call('rules', { mirror: 'papers' })).rejects.toThrow(why)
  await expect(call('newMirror', {})).rejects.toThrow(why)
  const chosen = { ...PLAIN, path: '~/Notes', revision, mayCreateLibrary: true }
  await expect(call('addMirror', chosen)).rejects.toThrow(why)
  expect((await home.shelfd(['libraries', 'list', '--json'])).stdout).not.toContain('Notes')
})

test('a change that would reach more than its mirror is refused [S-27]', async () => {
  const { home, file, before } = configured()
  const shared = before
    .replace(/ignore:[\s\S]*nothing/, 'ignore: &all ["*.bak"]')
    .replace(
      '\n# Costs',
      `  - { name: notes, path: ${home.write('Notes', {})}, library: Notes, ignore: *all }\n# Costs`,
    )
  writeFileSync(file, shared)
  const { call } = await serveDashboard(home)
  const { revision, ignore } = await call('rules', { mirror: 'notes' })
  expect(ignore).toEqual(['*.bak'])
  const change = { mirror: 'papers', revision, ignore: ['*.old'] }
  await expect(call('saveRules', change)).rejects.toThrow('more than this mirror would change')
  expect(readFileSync(file, 'utf8')).toBe(shared)
  await call('saveRules', { ...change, mirror: 'notes' })
  expect(readFileSync(file, 'utf8')).toBe(shared.replace('*all', '[ "*.old" ]'))
  const injected = `*.x"]\nservice: { tokenCommand: [evil] } # \${SHELFD_TOKEN}`
  const again = await call('rules', { mirror: 'papers' })
  const save = (pattern: string) => call('saveRules', { ...again, mirror: 'papers', ignore: [pattern] })
  await expect(save(injected)).rejects.toThrow('one line')
  await save(injected.replace('\n', ' '))
  expect((await call('rules', { mirror: 'papers' })).ignore).toEqual([injected.replace('\n', ' ')])
  const { settings } = await call('settings', {})
  expect(settings.filter(({ key }) => key.startsWith('service'))).toEqual([])
})

test('a directory is checked field by field, and a running daemon takes the mirror over [S-27]', async () => {
  const { home, file, before } = configured()
  const daemon = await startDaemon(home)
  await daemon.until('sent', (status) => isIdle(status) && status.mirrors[0]?.lastSuccessAt !== null)
  const { call, live } = await signIn(JSON.parse((await home.shelfd(['dashboard', '--json'])).stdout).url)
  const notes = home.write('Notes', { 'n.md': 'A note.', 'm.md': 'More.', '.env': 'TOKEN=1' })
  home.write('.ssh/old', {})
  home.write('.aws', {})
  const { revision, libraries } = await call('newMirror', {})
  expect(libraries).toEqual(['Papers'])
  const check = async (chosen: object) => call('checkMirror', { ...PLAIN, path: '~/Notes', ...chosen })
  for (const [chosen, field, said] of [
    [{ path: 'Notes' }, 'path', 'Give the full path'],
    [{ path: '~/Note' }, 'path', `does not exist (did you mean \\"${home.path}/Notes\\"?)`],
    [{ path: '~/Notes/n.md' }, 'path', 'is not a directory'],
    [{ path: '~' }, 'path', 'holds the whole home directory'],
    [{ path: '/usr' }, 'path', 'holds a part of the system'],
    [{ path: '/var/lib' }, 'path', 'holds a part of the system'],
    [{ path: '~/.ssh/old' }, 'path', 'holds secrets'],
    [{ path: '~/.aws' }, 'path', 'holds secrets'],
    [{ path: '~/Papers' }, 'path', 'mirrors this directory already'],
    [{ path: '~/Papers/drafts' }, 'path', 'lies in the mirror \\"papers\\"'],
    [{ path: home.stateDir }, 'path', 'it holds the data of shelfd itself'],
    [{ name: 'papers' }, 'name', 'There is a mirror'],
    [{ name: 'a/b' }, 'name', 'must not contain "/"'],
  ] as const) {
    const { problem, mirror } = await check(chosen)
    expect([chosen, problem, mirror]).toEqual([
      chosen,
      { field, message: expect.stringContaining(said.replaceAll('\\', '')) },
      null,
    ])
  }
  expect(await check({ path: ' ~/Notes/ ' })).toEqual({
    problem: null,
    mirror: {
      ...{ name: 'Notes', path: notes, library: 'Notes', remotePath: '/Notes', isNewLibrary: true },
      found: expect.objectContaining({ files: 2, bytes: 12, isWhole: true }),
    },
  })
  const chosen = { ...PLAIN, path: '~/Notes/', library: 'Research', revision }
  await expect(call('addMirror', { ...chosen, mayCreateLibrary: false })).rejects.toThrow('There is no library')
  expect(readFileSync(file, 'utf8')).toBe(before)
  const { message } = await call('addMirror', { ...chosen, mayCreateLibrary: true })
  expect(message).toBe(`Written to ${file}. The running daemon has read it and keeps papers, Notes up to date.`)
  const added = `  - name: Notes\n    path: ${notes}\n    library: Research\n    remotePath: /Notes\n`
  expect(readFileSync(file, 'utf8')).toBe(before.replace('\n\n# Costs', `\n${added}\n# Costs`))
  const filesOf = async () => {
    const event = await live()
    const mirrors = event.kind === 'overview' ? event.overview.mirrors : []
    return mirrors.map(({ name, library, files }) => [name, library?.name, files.searchable])
  }
  await expect.poll(filesOf, { timeout: 30_000 }).toEqual([
    ['papers', 'Papers', 3],
    ['Notes', 'Research', 2],
  ])
  await daemon.stop()
})

test('without a configuration file one is made, which names what "sync DIR" mirrors too', async () => {
  const home = homeWithPapers(PAPERS)
  await home.sync(['Papers'])
  home.write('Notes', { 'n.md': 'A note.' })
  const { call, live } = await serveDashboard(home)
  const { file, revision } = await call('newMirror', {})
  expect([file, existsSync(file)]).toEqual([fileOf(home), false])
  await call('addMirror', { ...PLAIN, path: '~/Notes', revision, mayCreateLibrary: true })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const mirrorsNow = async () => {
    const event = await live()
    return event.kind === 'overview' ? event.overview.mirrors.map(({ name, state }) => [name, state.sign]) : []
  }
  expect(await mirrorsNow()).toEqual([
    ['Papers', '✓'],
    ['Notes', '!'],
  ])
  const { mirrors } = (await home.sync([])).summary
  expect(mirrors.map(({ name }) => name)).toEqual(['Papers', 'Notes'])
  const rules = await call('rules', { mirror: 'Papers' })
  await call('saveRules', { mirror: 'Papers', revision: rules.revision, ignore: ['/drafts/'] })
  expect((await call('rules', { mirror: 'Papers' })).ignore).toEqual(['/drafts/'])
})

test('with a service, a directory goes to a library of it that is named', async () => {
  const { home, service } = await homeOnService(PAPERS)
  home.write('Other/Papers', { 'o.md': 'Another one.' })
  const { call } = await serveDashboard(home)
  const { revision, libraries } = await call('newMirror', {})
  expect(libraries).toEqual(['Research'])
  const chosen = { ...PLAIN, path: '~/Papers' }
  expect((await call('checkMirror', chosen)).problem).toMatchObject({ field: 'library' })
  const research = { ...chosen, library: 'Research' }
  expect((await call('checkMirror', research)).mirror).toMatchObject({ isNewLibrary: false, remotePath: '/Papers' })
  await call('addMirror', { ...research, revision, mayCreateLibrary: false })
  const other = { ...research, path: '~/Other/Papers' }
  expect((await call('checkMirror', other)).mirror).toMatchObject({ name: 'Papers-2', remotePath: '/Papers-2' })
  expect(readFileSync(fileOf(home), 'utf8')).not.toMatch(/service|token/i)
  service.answer = ({ route }) => (route === 'listLibraries' ? { status: 422, body: { detail: 'no' } } : undefined)
  expect((await call('checkMirror', { ...other, library: 'New' })).problem).toEqual({
    field: 'library',
    message: 'Cannot list the libraries: the service answered 422 (validation error): no',
  })
  expect((await home.sync([])).exitCode).toBe(0)
})

test('a mirror is removed from the file, whose comments stay, and what was made by "sync DIR" is listed', async () => {
  const { home, file } = configured(
    CONFIG.replace('\n# Costs', '  # the second\n  - { name: notes, path: ./Notes } # short\n\n# Costs'),
  )
  const notes = home.write('Notes', { 'n.md': 'A note.' })
  writeFileSync(file, readFileSync(file, 'utf8').replace('./Notes', notes))
  await home.sync([])
  await home.sync([home.write('Other', { 'o.md': 'x' })])
  const { call } = await serveDashboard(home)
  expect((await call('settings', {})).mirrors).toEqual([
    { name: 'papers', path: join(home.path, 'Papers'), origin: 'the configuration', isConfigured: true },
    { name: 'notes', path: notes, origin: 'the configuration', isConfigured: true },
    {
      name: 'Other',
      path: join(home.path, 'Other'),
      origin: '"shelfd sync DIR"; synced only when it is named',
      isConfigured: false,
    },
  ])
  const { revision } = await call('rules', { mirror: 'notes' })
  await expect(call('removeMirror', { mirror: 'Other', revision })).rejects.toThrow('does not name the mirror')
  const { message } = await call('removeMirror', { mirror: 'notes', revision })
  expect(message).toContain(`Removed from ${file}.`)
  expect(message).toContain(`"${notes}" and what was sent to "Notes" stay as they are`)
  const text = readFileSync(file, 'utf8')
  expect(text).not.toContain('notes')
  for (const comment of ['# Mine.', '# the first', '# copies', '# of the editor', '# schedule:', '# Costs.', '# few'])
    expect(text).toContain(comment)
  const forgotten = await home.shelfd(['mirrors', 'forget', 'papers', '--yes'])
  expect(forgotten.stderr).toContain('It comes back with the next sync: it is still configured')
  const removed = await home.shelfd(['mirrors', 'remove', 'papers'])
  expect(removed.stderr).toContain('stay as they are; the state keeps the mirror until "shelfd mirrors forget papers"')
  expect(removed.stderr).toContain(
    '. No daemon runs. The configuration names no mirror now, so only directories of earlier "shelfd sync DIR" are synced; ',
  )
  expect(await home.shelfd(['mirrors', 'remove', 'papers'])).toMatchObject({ exitCode: 2 })
  expect((await home.sync([])).summary.mirrors.map(({ name }) => name)).toEqual(['Other'])
})

test('after the last mirror was removed, it is said that nothing is synced and what to do', async () => {
  const { home } = configured(CONFIG.replace('- "*.bak"', '- "*.baz"'))
  await home.sync([])
  const { exitCode, stderr } = await home.shelfd(['mirrors', 'remove', 'papers'])
  expect(exitCode).toBe(0)
  expect(stderr).toContain('are synced; "shelfd mirrors add DIR" adds one.')
  expect(stderr).not.toContain('the next sync')
  expectExit(await home.shelfd(['sync']), 2, 'Nothing to mirror')
  expect((await home.shelfd(['mirrors', 'add', 'Papers', '--name', 'papers'])).exitCode).toBe(0)
  expect((await home.sync([])).mirror.uploads).toMatchObject({ created: 0, duplicates: 0 })
})

test('a mirror that is added again goes on where it was', async () => {
  const home = homeWithPapers(PAPERS)
  await home.shelfd(['mirrors', 'add', 'Papers', '--name', 'old'])
  await home.sync([])
  await home.shelfd(['mirrors', 'remove', 'old'])
  expect((await home.shelfd(['mirrors', 'add', 'Papers'])).stderr).toContain('Papers → old:/Papers (')
  const { mirror } = await home.sync([])
  expect([mirror.name, mirror.uploads.created + mirror.uploads.duplicates]).toEqual(['old', 0])
})

test('a mirror is added by the command line as by the dashboard', async () => {
  const { home, file, before } = configured()
  const path = home.write('Notes', { 'n.md': 'A note.' })
  const { stderr, exitCode } = await home.shelfd(['mirrors', 'add', 'Notes'])
  expect({ exitCode, stderr }).toEqual({
    exitCode: 0,
    stderr: expect.stringContaining(`Notes: ${path} → Notes:/Notes (1 file, 7 B)\nWritten to ${file}. No daemon runs`),
  })
  const added = `  - name: Notes\n    path: ${path}\n    library: Notes\n    remotePath: /Notes\n`
  expect(readFileSync(file, 'utf8')).toBe(before.replace('\n\n# Costs', `\n${added}\n# Costs`))
  expectExit(await home.shelfd(['mirrors', 'add', 'Notes']), 2, 'The mirror "Notes" mirrors this directory already')
  expectExit(await home.shelfd(['mirrors', 'add', '.']), 2, 'the whole home directory')
  const onService = await homeOnService()
  onService.home.write('Notes', {})
  const args = ['mirrors', 'add', 'Notes', '--library', 'Nope']
  expectExit(await onService.home.shelfd(args), 2, '"shelfd libraries create Nope" makes it')
})
