import { z } from 'zod'
import { isLoopback } from '../../src/foundation/network/loopback.ts'
import { flag } from '../instruments/instrument.ts'
import { ROLES } from './suite/target.ts'

const tokenFile = (role: keyof typeof ROLES) =>
  z.string().optional().describe(`file with a credential of ${ROLES[role]}`)

/** The command line of `npm run contract`. */
export const OPTIONS = z.object({
  url: z
    .string()
    .default('')
    .refine(isOrigin, 'must be an origin such as https://library.example.com, https unless it is this machine')
    .describe('origin of the service, such as https://library.example.com'),
  tokenFile: z.string().default('').refine(Boolean, 'must name a file').describe('file with a credential'),
  readerTokenFile: tokenFile('reader'),
  stewardTokenFile: tokenFile('steward'),
  agentTokenFile: tokenFile('agent'),
  write: flag().describe(
    'make libraries and directories whose names begin with "shelfd contract", upload some 20 small files, and delete those libraries in the end; the service may charge for processing',
  ),
  library: z
    .string()
    .optional()
    .describe('with --write: use the library with this id where the credential has no rights on what it makes'),
  patient: flag().describe('wait a minute to see a signed URL expire'),
})

/** Credentials are sent to this origin: it is https, unless the host is this machine. */
function isOrigin(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))
  return url !== undefined && isSafe && [url.origin, `${url.origin}/`].includes(text)
}
