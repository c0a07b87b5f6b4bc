/** `shelfd init` on a terminal, answered as a person does. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { startFaultyService } from '../support/faulty-service.ts'
import { homeWithPapers, temporaryHome } from '../support/home.ts'
import { CTRL_C, openTerminal } from '../support/terminal.ts'

const ENTER = '\r'
const DOWN = '\x1b[B'
const SPACE = ' '
const PATIENT = { timeout: 120_000 }

/** Returns what stands on the screen, without colours and line breaks. */
const plain = (output: string) => stripVTControlCharacters(output).replaceAll(/\s+/g, ' ')

test('the wizard leads from an address to a configuration that works', PATIENT, async () => {
  const service = await startFaultyService({ library: 'Research' })
  const home = homeWithPapers({ 'a.md': 'A', 'b.pdf': 'B' })
  home.write('Music', { 'c.ogg': 'C' })
  const env = { ...home.env, SHELL: '/bin/bash', LANG: 'C.UTF-8', TERM: 'xterm' }
  const terminal = openTerminal(['init'], { env, path: home.path })
  await terminal.shows('Where do the files go?')
  terminal.type(ENTER)
  await terminal.shows('Address of the service')
  terminal.type(`${service.url}${ENTER}`)
  await terminal.shows('Access token')
  terminal.type(`a-token-of-nobody${ENTER}`)
  await terminal.shows(/✗ credential/)
  await terminal.shows(/✗ credential.*Access token/s)
  expect(plain(terminal.output())).toMatch(/✗ credential .*the token comes from what you typed/)
  terminal.type(`two words${ENTER}`)
  await terminal.shows(/✗ credential.*Access token.*✗ credential.*Access token/s)
  expect(plain(terminal.output())).toMatch(/✗ credential .*what you typed.*without spaces/)
  terminal.type(`${service.token}${ENTER}`)
  await terminal.shows(/✓ credential/)
  expect(plain(terminal.output())).not.toContain('shelfd/token')
  await terminal.shows('Which directories?')
  expect(terminal.output()).not.toContain('Music')
  terminal.type(`${SPACE}${ENTER}`)
  await terminal.shows('Which library?')
  terminal.type(ENTER)
  await terminal.shows(/would send {2}2 files/)
  await terminal.shows('Write ~/config/shelfd/config.yaml?')
  expect(existsSync(join(home.path, 'config'))).toBe(false)
  terminal.type(ENTER)
  await terminal.shows('Keep it running?')
  terminal.type(ENTER)
  await terminal.shows('Complete commands with TAB in bash?')
  terminal.type(`n`)
  const { exitCode, output } = await terminal.ended
  expect(exitCode).toBe(0)
  expect(output).not.toContain(service.token)
  const token = join(home.path, 'config', 'shelfd', 'token')
  expect([readFileSync(token, 'utf8'), statSync(token).mode & 0o777]).toEqual([`${service.token}\n`, 0o600])
  expect(service.count('uploadFile')).toBe(0)
  expect(await home.shelfd(['sync', '--dry-run'])).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^Papers → Research:\/Papers\n.*2 files/),
  })
})

test('the wizard asks again for a directory that does not exist', PATIENT, async () => {
  const home = temporaryHome()
  home.write('data-of-mine', { 'a.bin': 'A', 'b.log': 'B', '.gitignore': '*.log\n' })
  const terminal = openTerminal(['init', '--install-service', 'no', '--install-completion', 'no'], home)
  await terminal.shows('Where do the files go?')
  terminal.type(`${DOWN}${ENTER}`)
  await terminal.shows('Directory to mirror')
  terminal.type(`nowhere${ENTER}`)
  await terminal.shows('it does not exist')
  terminal.type(`${'\x7f'.repeat(7)}data-of-mine${ENTER}`)
  await terminal.shows('Leave out what .gitignore names in ~/data-of-mine, as well?')
  terminal.type('y')
  await terminal.shows(/would send {2}2 files/)
  await terminal.shows('Write ~/config/shelfd/config.yaml?')
  terminal.type(ENTER)
  expect((await terminal.ended).exitCode).toBe(0)
  const { stdout } = await home.shelfd(['config', 'show'])
  for (const line of [join(home.path, 'data-of-mine'), 'gitignore: true']) expect(stdout).toContain(line)
})

test('the wizard shows what each library lacks, and asks again for a library or a token', PATIENT, async () => {
  const service = await startFaultyService({ library: 'Research' })
  const home = homeWithPapers({ 'a.md': 'A' })
  let rights = ['read', 'resource.create']
  service.rewrite = ({ route }, body) => {
    if (route !== 'checkAccess') return body
    return { ...body, abilities: [], libraries: [{ id: 'r', name: 'Research', access: rights }] }
  }
  const args = ['init', 'Papers', '--service-url', service.url, '--install-service', 'no', '--install-completion', 'no']
  const terminal = openTerminal(args, home)
  await terminal.shows('Access token')
  terminal.type(`${service.token}${ENTER}`)
  await terminal.shows('Which library?')
  await terminal.shows('the access token lacks update')
  terminal.type(ENTER)
  await terminal.shows(/The access token lacks update in the library "Research".*Which library\?/s)
  terminal.type(`${DOWN}${ENTER}`)
  await terminal.shows(/lacks update in the library.*Access token \(from/s)
  rights = ['read', 'resource.create', 'update']
  terminal.type(`${service.token}${ENTER}`)
  await terminal.shows('Research (read, resource.create, update)')
  terminal.type(ENTER)
  await terminal.shows('Write ~/config/shelfd/config.yaml?')
  terminal.type(ENTER)
  expect((await terminal.ended).exitCode).toBe(0)
  expect((await home.shelfd(['config', 'show'])).stdout).toContain('Research')
})

test('Ctrl-C ends the wizard and writes nothing', PATIENT, async () => {
  const home = homeWithPapers({ 'a.md': 'A' })
  const terminal = openTerminal(['init', '--embedded', 'Papers'], home)
  await terminal.shows('Write ~/config/shelfd/config.yaml?')
  terminal.type(CTRL_C)
  expect((await terminal.ended).exitCode).toBe(130)
  expect(existsSync(join(home.path, 'config'))).toBe(false)
})
