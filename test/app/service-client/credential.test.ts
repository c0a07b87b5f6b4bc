import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { type FoundToken, readPassword, readToken } from '../../../src/app/service-client/credential.ts'
import type { TokenSources } from '../../../src/app/settings/settings.ts'

const NONE: TokenSources = { token: undefined, tokenFile: undefined, tokenCommand: undefined }
let dir: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'shelfd-credential-'))
})

function file(name: string, text: string | Uint8Array, mode = 0o600): string {
  const path = join(dir, name)
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

function find(sources: Partial<TokenSources>, env: Record<string, string> = {}): Promise<FoundToken> {
  return readToken({ ...NONE, ...sources }, { env: { PATH: process.env.PATH, ...env }, cwd: dir, home: dir })
}

async function read(...given: Parameters<typeof find>): Promise<string> {
  return (await find(...given)).token
}

describe('sources of the token', () => {
  test('the environment comes before the configuration, and systemd last', async () => {
    const CREDENTIALS_DIRECTORY = dir
    file('token', 'of-systemd\n', 0o440)
    const sources = { tokenFile: file('mine', 'of-config\n') }
    const SHELFD_TOKEN_FILE = file('theirs', 'of-variable-file\n')
    expect(await read({}, { CREDENTIALS_DIRECTORY })).toBe('of-systemd')
    expect(await read(sources, { CREDENTIALS_DIRECTORY })).toBe('of-config')
    expect(await read(sources, { CREDENTIALS_DIRECTORY, SHELFD_TOKEN_FILE })).toBe('of-variable-file')
    expect(await read(sources, { SHELFD_TOKEN_FILE, SHELFD_TOKEN: 'of-variable' })).toBe('of-variable')
  })

  test('a token command prints the token', async () => {
    expect(await read({ tokenCommand: ['printf', '  abc  \\n'] })).toBe('abc')
  })
})

test('the source of a token is named: file, variable or command', async () => {
  const tokenFile = file('mine', 'secret\n')
  const sourceOf = async (...given: Parameters<typeof find>) => (await find(...given)).source
  expect(await sourceOf({ tokenFile })).toBe(`"${tokenFile}"`)
  expect(await sourceOf({ tokenFile }, { SHELFD_TOKEN: 'secret' })).toBe('SHELFD_TOKEN')
  expect(await sourceOf({ token: 'secret' })).toBe('service.token')
  expect(await sourceOf({ tokenCommand: ['printf', 'secret'] })).toBe('the output of "printf"')
})

describe('the encoding of a secret', () => {
  test('a token is read as Windows writes it, in UTF-16 with its mark [F-FS-30]', async () => {
    expect(await read({ tokenFile: file('mine', Buffer.from('\ufeffabc\r\n', 'utf16le')) })).toBe('abc')
  })

  test('a token or password in another encoding is refused, not changed [F-FS-30]', async () => {
    const latin = Buffer.from('pass\u00e9', 'latin1')
    await expect(read({ tokenFile: file('mine', latin) })).rejects.toThrow(/mine".*save it as UTF-8/)
    const input = { env: { PATH: process.env.PATH }, cwd: dir, home: dir }
    const passwordOf = (sources: { passwordFile?: string; passwordCommand?: string[] }) =>
      readPassword({ passwordFile: undefined, passwordCommand: undefined, ...sources }, input)
    await expect(passwordOf({ passwordFile: file('other', latin) })).rejects.toThrow(/other".*save it as UTF-8/)
    await expect(passwordOf({ passwordCommand: ['printf', 'pass\\351'] })).rejects.toThrow(/not text in UTF-8/)
  })
})

describe('refused tokens', () => {
  test('a missing token is refused with the ways to give one', async () => {
    await expect(read({})).rejects.toMatchObject({ code: 'credential-missing', kind: 'access' })
    await expect(read({})).rejects.toThrow(/tokenFile.*tokenCommand.*SHELFD_TOKEN_FILE.*SHELFD_TOKEN.*systemd/)
  })

  test.each([0o640, 0o604, 0o660])('a token file of mode %o is refused [S-06]', async (mode) => {
    const tokenFile = file('open', 'abc', mode)
    await expect(read({ tokenFile })).rejects.toMatchObject({ code: 'insecure-file' })
    await expect(read({ tokenFile })).rejects.toThrow(`chmod 600 "${tokenFile}"`)
  })

  test('a token file that is missing or empty is refused', async () => {
    await expect(read({ tokenFile: join(dir, 'none') })).rejects.toThrow('there is no such file')
    await expect(read({ tokenFile: file('empty', ' \n') })).rejects.toThrow('is empty')
  })

  test('a token of several lines is refused without repeating it', async () => {
    const problem = await read({ tokenFile: file('two', 'canary-1\ncanary-2') }).catch(String)
    expect(problem).toContain('one line without spaces')
    expect(problem).not.toContain('canary')
  })

  test('a failing or missing token command is refused without its output', async () => {
    const failing = await read({ tokenCommand: ['sh', '-c', 'echo canary; echo canary >&2; exit 3'] }).catch(String)
    expect(failing).toContain('"sh" exited with 3')
    expect(failing).not.toContain('canary')
    await expect(read({ tokenCommand: ['no-such-program'] })).rejects.toThrow('there is no program "no-such-program"')
  })
})
