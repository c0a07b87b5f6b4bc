import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { chooseEmbedder } from '../../../src/app/service-client/choose-embedder.ts'
import { readSettingsWith, settingsProblem } from '../settings/read-settings-with.ts'

const ENDPOINT = { kind: 'endpoint', url: 'http://localhost:11434/v1', model: 'nomic' } as const

function keyFileWith(text: string, mode: number): string {
  const directory = mkdtempSync(join(tmpdir(), 'key-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'key')
  writeFileSync(file, text)
  chmodSync(file, mode)
  return file
}

it('an endpoint may be named with or without its last part', () => {
  const expected = { kind: 'endpoint', url: 'http://localhost:11434/v1/embeddings', model: 'nomic', key: undefined }
  for (const url of [ENDPOINT.url, `${ENDPOINT.url}/embeddings`]) {
    expect(chooseEmbedder({ ...ENDPOINT, url, keyFile: undefined }, { add() {} })).toEqual(expected)
  }
})

it('the key is read from its file, and hidden from every message', () => {
  const hidden: string[] = []
  const keyFile = keyFileWith('sk-canary\n', 0o600)
  const choice = chooseEmbedder({ ...ENDPOINT, keyFile }, { add: (secret) => void hidden.push(secret) })
  expect(choice).toMatchObject({ key: 'sk-canary' })
  expect(hidden).toEqual(['sk-canary'])
})

it.each([
  ['others can read', () => keyFileWith('sk-canary', 0o644), 'insecure-file'],
  ['is empty', () => keyFileWith('\n', 0o600), 'bad-configuration'],
  ['is missing', () => join(tmpdir(), 'no-such-key'), 'bad-configuration'],
])('a key file that %s is refused by its path', (_, make, code) => {
  const keyFile = make()
  const choose = () => chooseEmbedder({ ...ENDPOINT, keyFile }, { add() {} })
  expect(choose).toThrow(expect.objectContaining({ code, message: expect.stringContaining(keyFile) }))
})

it('the offline embedder is the default, and another one is named in the configuration', () => {
  expect(readSettingsWith({}).embedder).toEqual({ kind: 'offline' })
  expect(readSettingsWith({ yaml: 'embedder: none' }).embedder).toEqual({ kind: 'none' })
  const yaml = 'embedder: {url: "http://localhost:11434/v1/", model: nomic, keyFile: key}'
  expect(readSettingsWith({ yaml }).embedder).toEqual({ ...ENDPOINT, keyFile: '/home/ada/.config/shelfd/key' })
})

it.each([
  'http://models.example.com/v1',
  'https://ada:secret@models.example.com/v1',
  'https://models.example.com/?key=1',
])('the texts of all documents are not sent to %s', (url) => {
  expect(settingsProblem({ yaml: `embedder: {url: "${url}", model: nomic}` })).toContain('embedder')
})
