/** Files whose content looks like a secret, whatever their names. */
import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { configure } from '../support/daemon.ts'
import { startFaultyService } from '../support/faulty-service.ts'
import { homeWithPapers } from '../support/home.ts'

const KEY = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

test('a private key is not sent, whatever its name, unless a rule brings it back [S-31]', async () => {
  const home = homeWithPapers({ 'server.pem': KEY, 'notes/backup.txt': `kept:\n${KEY}`, 'a.md': 'tides' })
  const first = await home.run(['sync', 'Papers'])
  expect(first.exitCode).toBe(0)
  expect(first.stdout).toContain('2 look like secrets')
  const titles = async (directory: string) =>
    (await home.json(['ls', directory])).files.map(({ title }: { title: string }) => title)
  expect(await titles('Papers:/Papers')).toEqual(['a.md'])
  expect(await titles('Papers:/Papers/notes')).toEqual([])
  expect((await home.run(['why', 'Papers/server.pem'])).stdout).toContain(
    'left out: it holds a private key; a line "!/server.pem" in .shelfdignore sends it',
  )
  const ignored = await home.run(['report', '--only', 'ignored'])
  expect(ignored.stdout).toMatch(/notes\/backup\.txt.*it holds a private key/)

  home.write('Papers', { '.shelfdignore': '!/server.pem\n' })
  await home.sync(['Papers'])
  expect((await titles('Papers:/Papers')).toSorted()).toEqual(['a.md', 'server.pem'])
  rmSync(join(home.path, 'Papers', '.shelfdignore'))
})

test('a file that was sent and now holds a key is left out, and the new content is not sent [S-31]', async () => {
  const home = homeWithPapers({ 'a.md': 'tides' })
  await home.sync(['Papers'])
  home.write('Papers', { 'a.md': KEY })
  const { stdout, exitCode } = await home.run(['sync', 'Papers'])
  expect(exitCode).toBe(0)
  expect(stdout).toContain('looks like a secret')
  expect((await home.json(['search', 'BEGIN'])).results).toEqual([])
  expect((await home.json(['search', 'tides', '--all-versions'])).results).toHaveLength(1)
})

test('a file with a credential that the configuration names is not sent from within a mirror [S-31]', async () => {
  const service = await startFaultyService({ library: 'Research' })
  const home = homeWithPapers({ 'a.md': 'tides', 'x/pass.txt': 'plain words' })
  const files = { service: home.write('Papers/x', { 'my pass[1].txt': service.token }), key: 'x/pass.txt' }
  configure(home, {
    service: { url: service.url, tokenFile: join(files.service, 'my pass[1].txt') },
    embedder: { url: 'https://embedder.example', model: 'm', keyFile: join(home.path, 'Papers', files.key) },
    mirrors: [{ name: 'papers', path: join(home.path, 'Papers'), library: 'Research' }],
  })
  chmodSync(join(files.service, 'my pass[1].txt'), 0o600)
  // Other tests choose none.
  const env = { SHELFD_EMBEDDER: '' }
  const { stdout, exitCode } = await home.run(['sync'], env)
  expect(exitCode).toBe(0)
  expect(stdout).toContain('left out    2 (2 look like secrets)')
  expect(service.count('uploadFile')).toBe(1)
  expect((await home.run(['why', 'Papers/x/pass.txt'], env)).stdout).toContain('as it looks like a secret')
})
