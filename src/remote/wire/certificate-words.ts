import type { PeerCertificate } from 'node:tls'
import { escapeText, truncateText } from '../../foundation/text/safe-text.ts'

interface Seen {
  /** The fault's code in OpenSSL or Node. */
  readonly code: string
  readonly shown: PeerCertificate | undefined
  /** The host that the client meant to reach. */
  readonly host: string
  /** The service's origin, or the proxy with its variable. */
  readonly owner: string
  readonly nowMs: number
}

const TRUST = 'name a PEM file with it in service.caFile (SHELFD_CA_FILE); NODE_EXTRA_CA_CERTS works as well'

/** Describes what is wrong with a certificate, and how to fix it. */
export function describeCertificateFault(seen: Seen): string {
  const { code, owner } = seen
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return expired(seen)
    case 'CERT_NOT_YET_VALID':
      return notYetValid(seen)
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
    case 'HOSTNAME_MISMATCH':
      return ofAnotherHost(seen)
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
      return `the certificate of ${owner} is signed by itself, so no authority confirms it. If it is the right one, ${TRUST}`
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return ofUnknownAuthority(seen)
    default:
      return `the certificate of ${owner} is not trusted (${code})`
  }
}

function expired({ owner, shown, nowMs }: Seen): string {
  const when = dayOf(shown?.valid_to)
  const clock = `the clock of this computer is at ${new Date(nowMs).toISOString().slice(0, 10)}`
  return `the certificate of ${owner} expired${when ? ` on ${when}` : ''}: have it renewed there (${clock})`
}

function notYetValid({ owner, shown, nowMs }: Seen): string {
  const when = dayOf(shown?.valid_from) ?? 'later on'
  const today = new Date(nowMs).toISOString().slice(0, 10)
  return `the certificate of ${owner} is valid only from ${when}: check the clock of this computer, which is at ${today}`
}

function ofAnotherHost({ owner, shown, host }: Seen): string {
  const names = (shown?.subjectaltname ?? '').split(', ').map((name) => name.replace(/^(?:DNS|IP Address):/, ''))
  const own = names.filter((name) => name !== '').join(', ')
  const whose = own === '' ? 'names no host' : `is for ${quotable(own)}`
  return `the certificate of ${owner} ${whose} and not for ${host}: correct the address (service.url), or have it issued for this name too`
}

function ofUnknownAuthority({ owner, shown }: Seen): string {
  const issuer = nameOf(shown)
  const who = issuer === undefined ? 'an authority' : `"${quotable(issuer)}"`
  return `the certificate of ${owner} was issued by ${who}, which this computer does not trust. If it is your organisation's, ${TRUST}`
}

function nameOf(shown: PeerCertificate | undefined): string | undefined {
  const issuer = shown?.issuer
  const name = issuer?.CN ?? issuer?.O
  return Array.isArray(name) ? name[0] : name
}

/** The day of a time such as `Jan  1 00:00:00 2021 GMT`. */
function dayOf(time: string | undefined): string | undefined {
  const ms = Date.parse(time ?? '')
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString().slice(0, 10)
}

function quotable(text: string): string {
  return escapeText(truncateText(text, 200))
}
