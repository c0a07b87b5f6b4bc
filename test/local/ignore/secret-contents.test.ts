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

describe('what holds a secret', () => {
  test.each([
    ['a private key', PEM],
    ['a private key', OLD_PEM],
    ['a private key', `-----BEGIN CERTIFICATE-----\n${BASE64}\n-----END CERTIFICATE-----\n${PEM}`],
    ['a private key', PEM.replaceAll('\n', '\r\n')],
    [
      'a private key',
      `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A\n\n${BASE64}\n`,
    ],
    ['a private key', `-----BEGIN OPENSSH PRIVATE KEY-----\n${BASE64}\n-----END OPENSSH PRIVATE KEY-----\n`],
    ['a private key', `-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n${BASE64}\n`],
    ['a private key', JSON.stringify({ type: 'service_account', private_key: PEM })],
    ['a private key', `PuTTY-User-Key-File-3: ssh-ed25519\nPublic-Lines: 2\n${BASE64}\nPrivate-Lines: 1\n${BASE64}\n`],
    ['a key of AWS', `[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = ${AWS}\n`],
    ['a key of AWS', `export AWS_SECRET_ACCESS_KEY="${AWS}"\n`],
    ['a key of AWS', `{"aws_secret_access_key": "${AWS}"}`],
    ['a token of npm', '//registry.npmjs.org/:_authToken=npm_abcdefghijklmnopqrstuvwxyz0123456789\n'],
    ['a key of Kubernetes', `apiVersion: v1\nkind: Config\nusers:\n- user:\n    client-key-data: ${BASE64}\n`],
    ['a password of Docker', '{"auths": {"https://index.docker.io/v1/": {"auth": "dXNlcjpwYXNzd29yZA=="}}}'],
    ['a password of .netrc', 'machine example.org login ann password hunter2\n'],
    ['a password of .netrc', 'machine example.org\n  login ann\n  password hunter2\n'],
    ['a password of git', 'https://ann:hunter2@git.example.org\n'],
    ['a password of PostgreSQL', '# hosts\ndb.example.org:5432:*:ann:hunter2\n'],
  ])('%s (%#)', (kind, text) => {
    expect(find(text)).toBe(kind)
  })

  test('a secret that begins late in a large file is not looked for', () => {
    expect(find('x\n'.repeat(32_768) + PEM)).toBeUndefined()
    expect(find('x\n'.repeat(16_000) + PEM)).toBe('a private key')
  })
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
