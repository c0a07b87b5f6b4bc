import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { getCACertificates } from 'node:tls'
import { UsageError } from '../../foundation/errors.ts'
import type { Redactor } from '../../foundation/text/redaction.ts'
import type { ClientCertificate } from '../../remote/wire/connector.ts'
import {
  assertPrivate,
  assertTrusted,
  type ReadTextFile,
  readPemFile,
  readRequired,
  readTextFile,
  type TextFile,
} from '../files/private-files.ts'
import type { ClientCertificateFiles } from '../settings/settings.ts'

const CERTIFICATE = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----[^-]+-----END (?:TRUSTED )?CERTIFICATE-----/g
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]+(?:-[^-]+)*-----END [A-Z ]*PRIVATE KEY-----/

interface NamedFile {
  readonly file: string
  readonly setting: string
}

/** Returns Node's own authorities and those in the PEM file; throws UsageError('bad-configuration'). */
export function readAuthorities(file: string, setting: string): string[] {
  const namedFile = { file, setting }
  const text = readText(namedFile, assertTrusted)
  return [...getCACertificates('default'), ...parseCertificates(namedFile, text).map(({ pem }) => pem)]
}

/** Reads the client certificate and its key. The service judges its validity, because the clock here may be wrong. Throws UsageError. */
export function readClientCertificate(
  { certFile, keyFile, passphraseFile }: ClientCertificateFiles,
  section: 'service' | 'fleet',
  redactor: Pick<Redactor, 'add'>,
): ClientCertificate {
  const fileOf = (file: string, key: string): NamedFile => ({ file, setting: `${section}.clientCertificate.${key}` })
  const ofCertificate = fileOf(certFile, 'certFile')
  const ofKey = fileOf(keyFile, 'keyFile')
  const chain = parseCertificates(ofCertificate, readText(ofCertificate, assertTrusted))
  const passphrase = passphraseFile === undefined ? undefined : readPassphrase(fileOf(passphraseFile, 'passphraseFile'))
  if (passphrase !== undefined) redactor.add(passphrase)
  const key = parseKey(ofKey, readText(ofKey, assertPrivate), passphrase)
  // The first certificate is the client's, as in TLS; the others lead from it to an authority.
  const [own] = chain
  if (!own?.parsed.checkPrivateKey(key)) throw unusable(ofKey, `it is not the key of the certificate in "${certFile}"`)
  return {
    file: certFile,
    chain: chain.map(({ pem }) => pem).join('\n'),
    key: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
    validToMs: Date.parse(own.parsed.validTo),
    issuer: /^(?:CN|O)=(?<name>.*)$/m.exec(own.parsed.issuer)?.groups?.name,
  }
}

function readText(
  from: NamedFile,
  assertSafe: (file: string, found: TextFile) => void,
  readFile: ReadTextFile = readPemFile,
): string {
  const found = readRequired(from.file, (why) => unusable(from, why), readFile)
  assertSafe(from.file, found)
  return found.text
}

function parseCertificates(from: NamedFile, text: string): { pem: string; parsed: X509Certificate }[] {
  const found = text.match(CERTIFICATE) ?? []
  if (found.length === 0) throw unusable(from, 'it holds no certificate in PEM form')
  return found.map((pem) => {
    try {
      return { pem, parsed: new X509Certificate(pem) }
    } catch {
      throw unusable(from, 'one of its certificates cannot be read')
    }
  })
}

function readPassphrase(from: NamedFile): string {
  const passphrase = readText(from, assertPrivate, readTextFile).replace(/\r?\n$/, '')
  if (passphrase === '') throw unusable(from, 'it is empty; it must hold the passphrase of the key')
  return passphrase
}

/** Returns the private key. Its errors do not quote OpenSSL, whose messages name no setting. */
function parseKey(from: NamedFile, text: string, passphrase: string | undefined): KeyObject {
  const pem = PRIVATE_KEY.exec(text)?.[0]
  if (pem === undefined) throw unusable(from, 'it holds no private key in PEM form')
  const isEncrypted = pem.includes('ENCRYPTED')
  if (isEncrypted && passphrase === undefined) {
    const setting = from.setting.replace('keyFile', 'passphraseFile')
    const variable = setting.startsWith('service.') ? ' (SHELFD_CLIENT_PASSPHRASE_FILE)' : ''
    throw unusable(from, `its key is encrypted; name a file with its passphrase in ${setting}${variable}`)
  }
  try {
    return createPrivateKey({ key: pem, ...(passphrase !== undefined && { passphrase }) })
  } catch {
    throw unusable(from, isEncrypted ? 'the passphrase does not open its key' : 'its key cannot be read')
  }
}

function unusable({ file, setting }: NamedFile, why: string): UsageError {
  return new UsageError('bad-configuration', `Cannot use "${file}" as ${setting}: ${why}`)
}
