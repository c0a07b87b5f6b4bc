import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { needs } from './needs.ts'
import { temporaryDirectory } from './temporary.ts'

/** A certificate and its key in PEM. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

interface CertificateRequest {
  /** Host names and addresses it is for. */
  readonly names: readonly string[]
  readonly validFrom?: Date
  readonly validTo?: Date
}

/** A certificate authority of one test. */
export interface Authority {
  /** Its own certificate, a PEM file. */
  readonly file: string
  issue(request: CertificateRequest): Certificate
}

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
const CONFIG = `[ca]
default_ca=it
[it]
database=index.txt
new_certs_dir=.
serial=serial
certificate=ca.pem
private_key=ca.key
default_md=sha256
policy=policy
copy_extensions=copy
unique_subject=no
[policy]
commonName=supplied
`

/** Creates an authority with the `openssl` program. */
export function makeAuthority(name = 'Office CA', directory = temporaryDirectory()): Authority {
  needs('openssl')
  const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { cwd: directory, stdio: 'pipe' })
  openssl('req', '-x509', ...KEY, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', `/CN=${name}`, '-days', '30')
  writeFileSync(join(directory, 'ca.cnf'), CONFIG)
  writeFileSync(join(directory, 'index.txt'), '')
  writeFileSync(join(directory, 'serial'), '01\n')
  const read = (file: string) => readFileSync(join(directory, file), 'utf8')
  return {
    file: join(directory, 'ca.pem'),
    issue({ names, validFrom = daysFromNow(-1), validTo = daysFromNow(30) }) {
      const alternatives = names.map((one) => `${isIP(one) === 0 ? 'DNS' : 'IP'}:${one}`).join(',')
      const subject = ['-subj', `/CN=${names[0]}`, '-addext', `subjectAltName=${alternatives}`]
      openssl('req', ...KEY, '-keyout', 'one.key', '-out', 'one.csr', ...subject)
      const validity = ['-startdate', timeOf(validFrom), '-enddate', timeOf(validTo)]
      openssl('ca', '-batch', '-config', 'ca.cnf', '-notext', '-in', 'one.csr', '-out', 'one.pem', ...validity)
      return { cert: read('one.pem'), key: read('one.key') }
    },
  }
}

/** A certificate that vouches for itself. */
export function makeSelfSigned(name: string): Certificate {
  needs('openssl')
  const directory = temporaryDirectory()
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`]
  const files = ['-keyout', 'one.key', '-out', 'one.pem']
  execFileSync('openssl', ['req', '-x509', ...KEY, ...files, ...subject, '-days', '30'], {
    cwd: directory,
    stdio: 'pipe',
  })
  const read = (file: string) => readFileSync(join(directory, file), 'utf8')
  return { cert: read('one.pem'), key: read('one.key') }
}

export function daysFromNow(days: number): Date {
  return new Date(Date.now() + days * 24 * 3_600_000)
}

/** 20301231235959Z */
function timeOf(date: Date): string {
  return `${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`
}
