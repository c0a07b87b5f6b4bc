import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { findSecret } from '../../../src/local/ignore/secret-contents.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const OLD_PEM = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
const BASE64 = Buffer.alloc(60, 'key').toString('base64')
const AWS = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'

function find(text: string): string | undefined {
  return findSecret(Buffer.from(text))?.pattern
}

const SECRETS = [
  ['a private key', PEM],
  ['a private key', OLD_PEM],
  ['a private key', `-----BEGIN CERTIFICATE-----\n${BASE64}\n-----END CERTIFICATE-----\n${PEM}`],
  ['a private key', PEM.replaceAll('\n', '\r\n')],
  ['a private key', `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A\n\n${BASE64}\n`],
  ['a private key', `-----BEGIN OPENSSH PRIVATE KEY-----\n${BASE64}\n-----END OPENSSH PRIVATE KEY-----\n`],
  ['a private key', `-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n${BASE64}\n`],
  ['a private key', JSON.stringify({ type: 'service_account', private_key: PEM })],
  ['a private key', `PuTTY-User-Key-File-3: ssh-ed25519\nPublic-Lines: 2\n${BASE64}\nPrivate-Lines: 1\n${BASE64}\n`],
  ['a private key', `-----BEGIN PRIVATE KEY-----\r\nA: b \r\nC: d\r\n\r\n${BASE64}\r\n`],
  ['an AWS key', `[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = ${AWS}\n`],
  ['an AWS key', `export AWS_SECRET_ACCESS_KEY="${AWS}"\n`],
  ['an AWS key', `{"aws_secret_access_key": "${AWS}"}`],
  ['an AWS key', `Aws_Secret_Access_Key: ${AWS}\n`],
  ['an npm token', 'audit=false\n//registry.npmjs.org/:_authToken=npm_abcdefghijklmnopqrstuvwxyz0123456789\n'],
  ['an npm token', '//registry.npmjs.org/:_authToken=npm_abcdefghijklmnopqrstuvwxyz0123456789\n'],
  ['a Kubernetes key', `apiVersion: v1\nkind: Config\nusers:\n- user:\n    client-key-data: ${BASE64}\n`],
  ['a Docker password', '{"auths": {"https://index.docker.io/v1/": {"auth": "dXNlcjpwYXNzd29yZA=="}}}'],
  ['a .netrc password', 'machine example.org login ann password hunter2\n'],
  ['a .netrc password', '# hosts\nmachine example.org login ann password hunter2\n'],
  ['a .netrc password', 'machine example.org\n  login ann\n  password hunter2\n'],
  ['a git password', 'https://ann:hunter2@git.example.org\n'],
  ['a Kubernetes key', `# of the lab\napiVersion: v1\nkind: Config\nusers:\n- user:\n    client-key-data: ${BASE64}\n`],
  ['a git password', 'https://ann:hunter2@git.example.org\nhttps://bob:hunter2@git.example.org\n'],
  ['a PostgreSQL password', 'a:5432:*:ann:hunter2\n# port of the lab\nb:5555:*:ann:hunter2\n'],
  ['a PostgreSQL password', '# hosts\ndb.example.org:5432:*:ann:hunter2\n'],
] as const

describe('what holds a secret', () => {
  test.each(SECRETS)('%s (%#)', (kind, text) => {
    expect(find(text)).toBe(kind)
  })

  test.each(SECRETS)('%s in a file of a Windows editor (%#)', (kind, text) => {
    expect(find(`\ufeff${text.trimEnd().replace(/\r?\n/g, '\r\n')}`)).toBe(kind)
  })

  test('a secret that begins late in a large file is not looked for', () => {
    expect(find('x\n'.repeat(32_768) + PEM)).toBeUndefined()
    expect(find('x\n'.repeat(16_000) + PEM)).toBe('a private key')
  })
})

test.each([
  `-----BEGIN PRIVATE KEY-----\r\n${'a: b \r\n'.repeat(5_000)}!`,
  `-----BEGIN PRIVATE KEY-----\n${'a: b\\n\n'.repeat(5_000)}!`,
  `-----BEGIN PRIVATE KEY-----\n${'a: b '.repeat(10_000)}!`,
  '-----BEGIN PRIVATE KEY-----\na: '.repeat(2_000),
  `apiVersion: v1${'\n'.repeat(65_000)}`,
  `a:5432:b:c:d\n${'#a:1:b:c:d\n'.repeat(5_000)}!`,
  '#a:5432:b:c:d\n'.repeat(4_000),
  `apiVersion: v1${'\r\n\r'.repeat(21_000)}`,
  `https://a:b@c${'\r\n'.repeat(32_000)}!`,
  `machine a${' \r\n'.repeat(21_000)}!`,
  `# a\r\n${'#\r\n'.repeat(21_000)}!`,
])('a file that was made to be searched for long is searched at once (%#)', (text) => {
  expect(find(text)).toBeUndefined()
})

test.each([
  publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  'A key begins with -----BEGIN RSA PRIVATE KEY----- and ends with -----END RSA PRIVATE KEY-----.\n',
  '-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n',
  "if (text.includes('-----BEGIN PRIVATE KEY-----')) throw new Error('a private key')\n",
  'aws_secret_access_key = YOUR_SECRET_KEY\nAWS_SECRET_ACCESS_KEY=$' + '{SECRET}\n',
  '//registry.npmjs.org/:_authToken=$' + '{NPM_TOKEN}\n',
  'See https://user:password@example.org for the form of such addresses.\n',
  'a.c:5432: in function: main: error\nmore text\n',
  'The machine has a login and a password.\n',
  `\0${PEM}`,
  '',
])('no secret (%#)', (text) => {
  expect(find(text)).toBeUndefined()
})
