import { X509Certificate } from 'node:crypto'
import { getCACertificates } from 'node:tls'
import { messageOf, UsageError } from '../../foundation/errors.ts'
import { assertTrusted, type ReadTextFile, readTextFile } from '../files/private-file.ts'

const BLOCK = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----[^-]+-----END (?:TRUSTED )?CERTIFICATE-----/g

/** Returns Node's default certificates and those of the PEM file `file`; throws UsageError('bad-configuration'). */
export function readAuthorities(file: string, readFile: ReadTextFile = readTextFile): string[] {
  const text = readText(file, readFile)
  const added = text.match(BLOCK) ?? []
  if (added.length === 0) throw unusable(file, 'it holds no certificate in PEM form')
  for (const one of added) check(file, one)
  return [...getCACertificates('default'), ...added]
}

function readText(file: string, readFile: ReadTextFile): string {
  try {
    const found = readFile(file)
    if (found) {
      assertTrusted(file, found)
      return found.text
    }
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw unusable(file, messageOf(error))
  }
  throw unusable(file, 'there is no such file')
}

function check(file: string, certificate: string): void {
  try {
    new X509Certificate(certificate)
  } catch {
    throw unusable(file, 'one of its certificates cannot be read')
  }
}

function unusable(file: string, why: string): UsageError {
  return new UsageError('bad-configuration', `Cannot use "${file}" as service.caFile: ${why}`)
}
