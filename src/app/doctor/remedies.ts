import type { ErrorCode } from '../../foundation/errors.ts'

const NEW_TOKEN = 'create a token on the Access Tokens page of the service, and put it into service.tokenFile'

/** What fixes an error, for those whose messages do not contain it. */
export const REMEDIES: Partial<Record<ErrorCode, string>> = {
  'bad-configuration': 'correct it; "shelfd config schema" shows what it may hold',
  'root-missing': 'mount or restore it, or take the mirror out of the configuration',
  'root-unreadable': 'give this user the right to read it, or mount it again',
  'service-unreachable': 'correct service.url, see to the network, or ask who runs the service',
  'service-unavailable': 'wait, or ask who runs the service',
  'service-error': 'ask who runs the service',
  'service-throttling': 'wait, or lower limits.requestsPerSecond',
  'answer-malformed':
    'open the address in a browser: sign in if this network asks for it, otherwise correct service.url',
  'credential-missing': NEW_TOKEN,
  'credential-refused': NEW_TOKEN,
  'library-damaged': 'shelfd serve check',
}
