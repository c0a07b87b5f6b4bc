/** Names other than `localhost` are not resolved. */
export function isLoopback(host: string | undefined): boolean {
  return host !== undefined && /^(?:localhost|\[::1\]|::1|127(?:\.\d{1,3}){3})$/.test(host)
}

/** Without port and brackets. In DNS rebinding, a page whose name resolves to this machine sends that name. */
export function hostNameOf(header = ''): string | undefined {
  const found = /^(?:\[(?<six>[^\]]*)\]|(?<name>[^:]*))(?::\d+)?$/.exec(header.toLowerCase())
  return found?.groups?.six ?? found?.groups?.name
}
