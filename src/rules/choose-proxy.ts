import { isLoopback } from '../foundation/network/loopback.ts'

/** Chooses the proxy for a service by the environment variables that other programs use too. */

export interface ProxyChoice {
  /** The variable that names the proxy, for messages. */
  readonly variable: string
  /** The variable's value, trimmed. */
  readonly address: string
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The proxy to `origin`; undefined: none. As in curl, lower case wins, `ALL_PROXY` is the fallback, and an empty variable
 * counts as unset. Neither plain HTTP nor a service on this computer uses a proxy, so `HTTP_PROXY` has no effect.
 */
export function chooseProxy(origin: string, env: Environment): ProxyChoice | undefined {
  const { protocol, hostname, port } = new URL(origin)
  if (protocol !== 'https:' || isLoopback(hostname)) return undefined
  const choice = firstOf(env, ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'])
  if (!choice) return undefined
  const exceptions = firstOf(env, ['no_proxy', 'NO_PROXY'])?.address ?? ''
  const names = exceptions.split(/[\s,]+/).filter((name) => name !== '')
  return names.some((name) => isMeant(name, hostname, port === '' ? '443' : port)) ? undefined : choice
}

function firstOf(env: Environment, variables: readonly string[]): ProxyChoice | undefined {
  for (const variable of variables) {
    const address = env[variable]?.trim()
    if (address) return { variable, address }
  }
  return undefined
}

/**
 * An exception is `*`, a host, a domain with its hosts (`example.com`, `.example.com`, `*.example.com`) or a block of addresses
 * (`10.0.0.0/8`, `fd00::/8`); a port may follow, after brackets if the address is of IPv6.
 */
function isMeant(exception: string, hostname: string, port: string): boolean {
  if (exception === '*') return true
  const { name, onlyPort } = splitPort(exception)
  if (onlyPort !== undefined && onlyPort !== port) return false
  const host = bare(hostname)
  const wanted = bare(name).replace(/^\*?\./, '')
  if (host === wanted) return true
  const address = parseAddress(host)
  if (address) return isInBlock(address, wanted)
  return wanted !== '' && host.endsWith(`.${wanted}`)
}

/** The colons of an IPv6 address without brackets separate no port. */
function splitPort(exception: string): { name: string; onlyPort: string | undefined } {
  const { name = exception, onlyPort } = /^(?<name>\[.*\]|[^:]*):(?<onlyPort>\d+)$/.exec(exception)?.groups ?? {}
  return { name, onlyPort }
}

/** In lower case, without the brackets of an IPv6 address and the trailing dot of a full name. */
function bare(name: string): string {
  return name.toLowerCase().replace(/^\[|\]$|\.$/g, '')
}

function isInBlock(address: Address, block: string): boolean {
  const [start = '', bits = String(address.bits)] = block.split('/')
  const first = parseAddress(start)
  if (first?.bits !== address.bits || !/^\d{1,3}$/.test(bits) || Number(bits) > address.bits) return false
  const shift = BigInt(address.bits - Number(bits))
  return address.value >> shift === first.value >> shift
}

interface Address {
  readonly value: bigint
  readonly bits: 32 | 128
}

/** An IPv4 or IPv6 address, the latter in any of its spellings. */
function parseAddress(text: string): Address | undefined {
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(text)) return { value: joinGroups(text.split('.'), 8), bits: 32 }
  const canonical = text.includes(':') ? URL.parse(`http://[${text}]`)?.hostname : undefined
  if (canonical === undefined) return undefined
  const [left = '', right] = canonical.slice(1, -1).split('::')
  const [before, after] = [hexGroups(left), hexGroups(right ?? '')]
  const zeros = Array<string>(8 - before.length - after.length).fill('0x0')
  return { value: joinGroups([...before, ...zeros, ...after], 16), bits: 128 }
}

function hexGroups(text: string): string[] {
  return text === '' ? [] : text.split(':').map((group) => `0x${group}`)
}

function joinGroups(groups: readonly string[], bitsOfGroup: number): bigint {
  return groups.reduce((value, group) => (value << BigInt(bitsOfGroup)) + BigInt(group), 0n)
}
