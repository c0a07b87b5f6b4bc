import { parseArgs } from 'node:util'
import { isLoopback } from '../../src/foundation/network/loopback.ts'
import { ROLES, type Role } from './suite/target.ts'

export interface ContractOptions {
  /** Scheme and host only. */
  readonly url: string
  readonly tokenFiles: Readonly<Partial<Record<Role, string>>> & { readonly owner: string }
  readonly mayWrite: boolean
  readonly library: string | undefined
  readonly isPatient: boolean
}

export const USAGE = `npm run contract -- --url URL --token-file FILE [options]

Asks a Knowledge Library Service whether it keeps to its interface. Without --write it only reads.

  --url URL                  origin of the service, such as https://library.example.com
  --token-file FILE          file with a credential
  --write                    make libraries and directories whose names begin with "shelfd contract", upload some 20 small
                             files, and delete those libraries in the end; the service may charge for processing
  --library ID               with --write: use this library where the credential has no rights on what it makes; files
                             and directories stay there
  --reader-token-file FILE   a credential with ${ROLES.reader}
  --steward-token-file FILE  a credential with ${ROLES.steward}
  --agent-token-file FILE    a credential for ${ROLES.agent}
  --patient                  wait a minute to see a signed URL expire

Exits with 0 if nothing failed, 1 if something did, 2 if the options are wrong.
`

/** Reads the command line; throws an Error that explains what is wrong. */
export function readOptions(argv: readonly string[]): ContractOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      url: { type: 'string' },
      'token-file': { type: 'string' },
      'reader-token-file': { type: 'string' },
      'steward-token-file': { type: 'string' },
      'agent-token-file': { type: 'string' },
      write: { type: 'boolean', default: false },
      library: { type: 'string' },
      patient: { type: 'boolean', default: false },
    },
  })
  const { url, 'token-file': owner, library, write: mayWrite, patient: isPatient } = values
  if (url === undefined || owner === undefined) throw new Error('--url and --token-file are needed')
  const others = Object.entries({
    reader: values['reader-token-file'],
    steward: values['steward-token-file'],
    agent: values['agent-token-file'],
  })
  const given = Object.fromEntries(others.flatMap(([role, file]) => (file === undefined ? [] : [[role, file]])))
  return { url: readOrigin(url), tokenFiles: { ...given, owner }, mayWrite, library, isPatient }
}

/** Credentials are sent to this origin: it is https, unless the host is this machine. */
function readOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))
  if (url && isSafe && [url.origin, `${url.origin}/`].includes(text)) return url.origin
  throw new Error(
    `--url "${text}" must be an origin such as https://library.example.com, https unless it is this machine`,
  )
}
