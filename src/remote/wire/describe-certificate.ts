import type { PeerCertificate } from 'node:tls'
import { escapeText, truncateText } from '../../foundation/text/safe-text.ts'
import { isoDate } from '../../foundation/text/times.ts'
import type { ClientCertificate } from './connector.ts'

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

interface Refusal {
  /** The alert of TLS, as OpenSSL names it. */
  readonly code: string
  readonly origin: string
  /** The client certificate that the service was shown; undefined: none. */
  readonly own: ClientCertificate | undefined
  readonly nowMs: number
}

/** Describes why the service refuses the client certificate or demands one, and how to fix it. */
export function describeClientRefusal({ code, origin, own, nowMs }: Refusal): string {
  if (!own) return `${origin} demands a client certificate, and none is configured: ${CLIENT}`
  const refused = `${origin} refuses the client certificate "${escapeText(own.file)}"`
  if (own.validToMs < nowMs || code.endsWith('CERTIFICATE_EXPIRED')) {
    return `${refused}: it was valid until ${isoDate(own.validToMs)}; have it renewed, and replace the file`
  }
  if (code.endsWith('UNKNOWN_CA')) {
    const issuer = own.issuer === undefined ? 'the authority' : `"${quotable(own.issuer)}"`
    return `${refused}: it does not know ${issuer} that issued it; ask whoever runs the service for a certificate that it accepts`
  }
  const why = code.endsWith('REVOKED')
    ? 'it was revoked'
    : code
        .replace(/^.*ALERT_/, '')
        .replaceAll('_', ' ')
        .toLowerCase()
  return `${refused}: ${why}; ask whoever runs the service for another one`
}

const CLIENT =
  'get one from whoever runs the service, and name its files in service.clientCertificate (certFile and keyFile)'

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
  const clock = `the clock of this computer is at ${isoDate(nowMs)}`
  return `the certificate of ${owner} expired${when ? ` on ${when}` : ''}: have it renewed there (${clock})`
}

function notYetValid({ owner, shown, nowMs }: Seen): string {
  const when = dayOf(shown?.valid_from) ?? 'later on'
  const today = isoDate(nowMs)
  return `the certificate of ${owner} is valid only from ${when}: check the clock of this computer, which is at ${today}`
}

function ofAnotherHost({ owner, shown, host }: Seen): string {
  const names = (shown?.subjectaltname ?? '').split(', ').map((name) => name.replace(/^(?:DNS|IP Address):/, ''))
  const own = names.filter((name) => name !== '').join(', ')
  const whose = own === '' ? 'names no host' : `is for ${quotable(own)}`
  return `the certificate of ${owner} ${whose} and not for ${host}: correct the address (service.url), or have it issued for this name too; in a guest network, sign in with a browser first`
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
  return Number.isNaN(ms) ? undefined : isoDate(ms)
}

function quotable(text: string): string {
  return escapeText(truncateText(text, 200))
}
