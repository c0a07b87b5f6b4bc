/** The reasons why a service gives no usable response. */
export const serviceFailureCodes = [
  'service-unreachable',
  'service-unavailable',
  'service-full',
  'service-error',
  'service-throttling',
  'answer-malformed',
  'answer-late',
] as const

/** Codes by kind of error. Each has its own class, so that callers never look at messages. Codes are stable; docs/errors.md lists them. */
const CODES = {
  usage: [
    'bad-usage',
    'bad-configuration',
    'unknown-mirror',
    'unknown-library',
    'mirrors-overlap',
    'insecure-file',
    'running-as-root',
    'old-node',
  ],
  root: ['root-missing', 'root-unreadable', 'hook-failed'],
  temporary: [...serviceFailureCodes, 'connection-closed', 'disk-full', 'ledger-away'],
  access: [
    'credential-missing',
    'credential-refused',
    'right-missing',
    'origin-mismatch',
    'tenant-mismatch',
    'library-mismatch',
    'root-mismatch',
    'redirect-refused',
    'certificate-refused',
    'client-certificate-refused',
    'proxy-refused',
    'ledger-refused',
  ],
  heldBack: ['limit-reached', 'root-emptied', 'confirmation-needed'],
  locked: ['store-locked', 'library-locked'],
  operator: [
    'store-newer',
    'store-damaged',
    'store-unusable',
    'too-many-open-files',
    'library-damaged',
    'ledger-unusable',
    'ledger-newer',
    'host-in-use',
  ],
  interrupted: ['interrupted'],
  request: ['not-found', 'conflict', 'too-large', 'invalid', 'request-rejected'],
  doubt: ['upload-in-doubt'],
  file: [
    'busy',
    'vanished',
    'unreadable',
    'outside-root',
    'unsupported',
    'over-max-size',
    'name-not-utf8',
    'not-recorded',
    'io-error',
  ],
  internal: ['unexpected'],
} as const satisfies Record<string, readonly string[]>

export type ErrorKind = keyof typeof CODES
export type CodeOf<K extends ErrorKind> = (typeof CODES)[K][number]
export type ErrorCode = CodeOf<ErrorKind>
export type ServiceFailureCode = (typeof serviceFailureCodes)[number]

export const fileErrorCodes: ReadonlySet<string> = new Set(CODES.file)

export const errorCodes: readonly ErrorCode[] = Object.values(CODES).flat()

export abstract class ShelfdError<K extends ErrorKind = ErrorKind> extends Error {
  abstract readonly kind: K
  readonly code: CodeOf<K>

  constructor(code: CodeOf<K>, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.name = new.target.name
  }
}

/** The command line or the configuration is wrong: exit 2. */
export class UsageError extends ShelfdError<'usage'> {
  readonly kind = 'usage'
}

/** A mirror's directory is missing or unreadable, or the command that prepares it failed: exit 3. */
export class RootError extends ShelfdError<'root'> {
  readonly kind = 'root'
}

/** The same command can succeed later: exit 5. */
export class TemporaryError extends ShelfdError<'temporary'> {
  readonly kind = 'temporary'
  /** True if a connection to the service existed, so that the request itself may have caused the failure. */
  readonly wasConnected: boolean

  constructor(
    code: CodeOf<'temporary'>,
    message: string,
    options: ErrorOptions & { readonly wasConnected?: boolean } = {},
  ) {
    super(code, message, options)
    this.wasConnected = options.wasConnected ?? false
  }
}

/** The credential, a right, a certificate or a pinned identity forbids access to the service: exit 7. */
export class AccessError extends ShelfdError<'access'> {
  readonly kind = 'access'
}

/** A limit or a guard holds the operation back: exit 8. */
export class HeldBackError extends ShelfdError<'heldBack'> {
  readonly kind = 'heldBack'
}

/** Another instance holds the store: exit 11. */
export class LockedError extends ShelfdError<'locked'> {
  readonly kind = 'locked'
}

/** An operator must act before anything may be written: exit 78. */
export class OperatorError extends ShelfdError<'operator'> {
  readonly kind = 'operator'
}

/** The user or the system asked to stop: exit 130. */
export class InterruptedError extends ShelfdError<'interrupted'> {
  readonly kind = 'interrupted'

  constructor(message = 'Interrupted', options?: ErrorOptions) {
    super('interrupted', message, options)
  }
}

/** The service rejects one request for good (404, 409, 413, 422 …), because of its item; other requests continue. */
export class RequestError extends ShelfdError<'request'> {
  readonly kind = 'request'
  readonly status: number

  constructor(code: CodeOf<'request'>, message: string, status: number, options?: ErrorOptions) {
    super(code, message, options)
    this.status = status
  }
}

/** Why an upload is in doubt: the code of the failure that stopped it, or `interrupted`. */
export type DoubtCause = ServiceFailureCode | 'redirect-refused' | 'client-certificate-refused' | 'interrupted'

/** It is unknown whether the service stored an upload: check before uploading again. */
export class DoubtError extends ShelfdError<'doubt'> {
  readonly kind = 'doubt'
  readonly doubtCause: DoubtCause

  constructor(message: string, doubtCause: DoubtCause, options?: ErrorOptions) {
    super('upload-in-doubt', message, options)
    this.doubtCause = doubtCause
  }
}

/** A problem of one local file; the run continues without that file. */
export class FileError extends ShelfdError<'file'> {
  readonly kind = 'file'
}

/** Returns whether the service does not have what was asked for (404, 410). */
export function isNotFound(error: unknown): error is RequestError {
  return error instanceof RequestError && error.code === 'not-found'
}

type Rebuild = (code: string, message: string, status: number) => ShelfdError | undefined

const REBUILDS: readonly Rebuild[] = [
  rebuildBy(CODES.usage, (code, message) => new UsageError(code, message)),
  rebuildBy(CODES.root, (code, message) => new RootError(code, message)),
  rebuildBy(CODES.temporary, (code, message) => new TemporaryError(code, message)),
  rebuildBy(CODES.access, (code, message) => new AccessError(code, message)),
  rebuildBy(CODES.heldBack, (code, message) => new HeldBackError(code, message)),
  rebuildBy(CODES.locked, (code, message) => new LockedError(code, message)),
  rebuildBy(CODES.operator, (code, message) => new OperatorError(code, message)),
  rebuildBy(CODES.interrupted, (_, message) => new InterruptedError(message)),
  rebuildBy(CODES.request, (code, message, status) => new RequestError(code, message, status)),
  rebuildBy(CODES.doubt, (_, message) => new DoubtError(message, 'interrupted')),
  rebuildBy(CODES.file, (code, message) => new FileError(code, message)),
]

/** Restores the class of an error from another process; an unknown code gives a plain Error. `status` is that of a RequestError. */
export function rebuildError(code: string, message: string, status = 400): Error {
  for (const rebuild of REBUILDS) {
    const error = rebuild(code, message, status)
    if (error) return error
  }
  return new Error(message)
}

function rebuildBy<C extends string>(
  codes: readonly C[],
  build: (code: C, message: string, status: number) => ShelfdError,
): Rebuild {
  return (code, message, status) => {
    const knownCode = codes.find((one) => one === code)
    return knownCode && build(knownCode, message, status)
  }
}

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

const OUT_OF_RESOURCES = new Set<string | undefined>(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'ENOSPC', 'EDQUOT'])

/** Returns whether the machine is out of descriptors, memory, processes or disk space, which says nothing about a file and may pass. */
export function isOutOfResources(thrown: unknown): boolean {
  return OUT_OF_RESOURCES.has(systemCodeOf(thrown))
}

/** Returns the code of an error, such as `ENOENT`; undefined if it has none. */
export function systemCodeOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown)) return undefined
  return typeof thrown.code === 'string' ? thrown.code : undefined
}
