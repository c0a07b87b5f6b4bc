import { DatabaseError } from 'pg'
import {
  AccessError,
  messageOf,
  OperatorError,
  ShelfdError,
  systemCodeOf,
  TemporaryError,
} from '../../foundation/errors.ts'
import { LedgerError } from '../ledger.ts'
import type { LedgerAddress } from './address.ts'

/** Errors by the codes that the ledger's functions raise (migrations/). */
const ERROR_OF_CODE: Readonly<Record<string, (message: string) => Error>> = {
  SF001: (message) => new LedgerError('session-over', message),
  SF002: (message) => new LedgerError('host-in-use', message),
  SF003: (message) => new LedgerError('went-back', message),
  SF005: (message) => new LedgerError('host-elsewhere', message),
  SF006: (message) => new OperatorError('ledger-unusable', `The ledger takes no more: ${message}`),
  SF004: (message) => new OperatorError('ledger-unusable', `The ledger cannot be used: ${message}`),
}

/** Codes of faults that pass: a broken connection, too few resources, a shutdown, a failing disk, a standby, a deadlock, a timeout. */
const AWAY = /^(?:08|53|57|58|25006|40|55000|55P03|XX)/

/** Unknown role, wrong password, missing right, unknown database. */
const REFUSED = /^(?:28|42501|3D000|0P000)/

/** There is no schema, or it lacks functions. */
const NO_SCHEMA = /^(?:3F000|42883|42P01)$/

/**
 * Returns a LedgerError, TemporaryError `ledger-away`, AccessError `ledger-refused` or OperatorError `ledger-unusable` for an error of
 * PostgreSQL, its driver or the network. Any other error is returned unchanged, so that a fault of this program is not retried.
 */
export function explainFailure(error: unknown, address: LedgerAddress): unknown {
  if (error instanceof ShelfdError || error instanceof LedgerError) return error
  const where = describeAddress(address)
  const message = messageOf(error)
  const state = error instanceof DatabaseError ? (error.code ?? '') : ''
  const raised = ERROR_OF_CODE[state]
  if (raised) return raised(message)
  const cause = { cause: error }
  if (REFUSED.test(state)) {
    const text = `The ledger ${where} refuses role "${address.user}": ${message}${adviceOnRefusal(state)}`
    return new AccessError('ledger-refused', text, cause)
  }
  if (NO_SCHEMA.test(state)) {
    return missingLedger(address, cause)
  }
  if (AWAY.test(state)) {
    return new TemporaryError('ledger-away', `The ledger ${where} is away: ${message}`, {
      ...cause,
      wasConnected: true,
    })
  }
  if (error instanceof DatabaseError)
    return new OperatorError('ledger-unusable', `The ledger ${where} failed: ${message}`, cause)
  if (isRefusedTls(error)) {
    const advised = `${message.split('; if the root CA')[0]}${adviceOnTls(error)}`
    return new AccessError('ledger-refused', `No safe connection to the ledger ${where}: ${advised}`, cause)
  }
  if (!isOfConnection(error)) return error
  return new TemporaryError('ledger-away', `The ledger ${where} is away: ${message || systemCodeOf(error)}`, cause)
}

export function missingLedger(address: LedgerAddress, cause?: ErrorOptions): OperatorError {
  const text = `Database ${describeAddress(address)} holds no ledger: create it by "shelfd fleet init"`
  return new OperatorError('ledger-unusable', text, cause)
}

/** Returns the error for a server that may not be the right one; `what` says what it does. */
export function unsafeServer(address: LedgerAddress, what: string): AccessError {
  return new AccessError(
    'ledger-refused',
    `No safe connection to the ledger ${describeAddress(address)}: the server ${what}`,
  )
}

function describeAddress({ database, host, port }: LedgerAddress): string {
  return `"${database}" at ${host}:${port}`
}

/** Node and pg throw plain errors for a connection that fails, and an AggregateError if all addresses of a host do. */
function isOfConnection(error: unknown): boolean {
  return error instanceof Error && ['Error', 'AggregateError'].includes(error.name)
}

/** Node reports certificates by codes of OpenSSL; pg says in words that the server does not encrypt. */
function isRefusedTls(error: unknown): boolean {
  const code = systemCodeOf(error) ?? ''
  return /CERT|^ERR_(?:TLS|SSL)|^UNABLE_TO/.test(code) || /does not support SSL/.test(messageOf(error))
}

function adviceOnRefusal(state: string): string {
  if (state === '28P01')
    return '. Correct the password (fleet.passwordFile or fleet.passwordCommand), or the role in "fleet.database"'
  if (state === '3D000') return '. Create it there, or correct "fleet.database"'
  if (state === '42501') return '. Have an administrator run what "shelfd fleet init --sql" prints'
  return '. Correct the role in "fleet.database", or what pg_hba.conf of the server allows'
}

function adviceOnTls(error: unknown): string {
  const code = systemCodeOf(error) ?? ''
  if (/ALTNAME|HOSTNAME/.test(code))
    return '. Correct the host in "fleet.database", or have a certificate issued for it'
  const isUnknown = /SELF_SIGNED|^UNABLE_TO/.test(code)
  return isUnknown
    ? '. If the certificate is your organisation\'s, name the PEM file of its authority in "fleet.caFile"'
    : ''
}
