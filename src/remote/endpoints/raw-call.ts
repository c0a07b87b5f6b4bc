import type { ServiceClient } from '../service-client.ts'
import type { Send } from '../wire/request.ts'

/** Any request below `/api` that the user spells out; every answer except a redirect is a result. */
export function rawEndpoints(send: Send): Pick<ServiceClient, 'callRaw'> {
  return {
    callRaw: (method, path, json, signal) =>
      send({
        target: { kind: 'raw', method, path },
        verb: `call ${method.toUpperCase()}`,
        subject: path,
        retry: 'if-without-effect',
        ...(json === undefined ? {} : { body: { kind: 'json', value: json } as const }),
        read: (response) => ({ status: response.status, headers: plainHeaders(response.headers), body: response.body }),
        signal,
      }),
  }
}

function plainHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')])
  return Object.fromEntries(entries)
}
